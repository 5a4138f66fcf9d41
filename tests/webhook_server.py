"""A webhook server on loopback: answers as a test tells it, and remembers what it was asked."""

import json
import ssl
import tempfile
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

from tests.certificates import Authority

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a webhook answers, when it is no review; ``hangs``: it never does."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    hangs_up: bool = False


# From the review to what stands in its response, or to something else altogether.
Script: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedReview:
    """One review, and where it was sent."""

    path: str
    query: str
    review: Any


def allow(_: Any) -> Any:
    """Have no objection."""
    return {"allowed": True}


def deny(message: str = "", **status: Any) -> Script:
    """Object."""
    shown = {**status, **({"message": message} if message else {})}
    return lambda _: {"allowed": False, **({"status": shown} if shown else {})}


def patch(*operations: Any, **more: Any) -> Script:
    """Change the object by a JSON patch."""
    encoded = b64encode(json.dumps(operations).encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded, **more}


class WebhookServer:
    """Where webhooks are: each at a path of its own, doing what its script says."""

    def __init__(self, port: int, ca_bundle: bytes) -> None:
        self.port = port
        self.authority = ca_bundle
        self.ca_bundle = b64encode(ca_bundle).decode()
        self.connections = 0
        self.scripts: dict[str, Script] = {}
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._received: list[ReceivedReview] = []

    def url(self, path: str) -> str:
        """Where the webhook with that path is reached."""
        return f"https://{LOOPBACK}:{self.port}/{path}"

    def client_config(self, path: str) -> dict[str, Any]:
        """How a configuration names the webhook with that path."""
        return {"url": self.url(path), "caBundle": self.ca_bundle}

    def forget(self) -> None:
        """Start again."""
        with self._lock:
            self._received.clear()

    @property
    def received(self) -> list[ReceivedReview]:
        """Every review so far."""
        with self._lock:
            return list(self._received)

    def answer(self, path: str, query: str, review: Any) -> Said:
        """What to say to a review."""
        with self._lock:
            self._received.append(ReceivedReview(path=path, query=query, review=review))
        said = self.scripts.get(path, allow)(review)
        if isinstance(said, Said):
            return said
        response = {"uid": review["request"]["uid"], **said}
        document = {
            "kind": "AdmissionReview",
            "apiVersion": review["apiVersion"],
            "response": response,
        }
        return Said(
            body=json.dumps(document).encode(), headers={"content-type": "application/json"}
        )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one piece, at once: otherwise each answer waits for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    webhooks: WebhookServer

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers["content-length"]))
        said = self.webhooks.answer(path.removeprefix("/"), query, json.loads(body))
        if said.hangs:
            self.webhooks.released.wait(30)
        if said.hangs or said.hangs_up:
            self.close_connection = True
            return
        self.send_response(said.status)
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(said.body)))
        self.end_headers()
        self.wfile.write(said.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read what was received."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    webhooks: WebhookServer

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count, and answer in a thread."""
        self.webhooks.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust us says so itself."""


@contextmanager
def webhook_server(*names: str) -> Iterator[WebhookServer]:
    """A webhook server that can be reached as loopback, and claims to have ``names`` too."""
    authority = Authority()
    pair = authority.server(LOOPBACK, "localhost", *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = Path(directory, "crt"), Path(directory, "key")
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)
        context.load_cert_chain(certificate, key)

    class Handler(_Handler):
        """The one of this server."""

    server = _Server((LOOPBACK, 0), Handler)
    # Shaken hands in the thread of the connection, so that a bad one delays no other.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    webhooks = WebhookServer(server.server_address[1], authority.certificate)
    Handler.webhooks = server.webhooks = webhooks
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield webhooks
    finally:
        webhooks.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
