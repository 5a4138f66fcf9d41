"""A webhook server on loopback that responds as a test says, and records the reviews."""

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
class RawReply:
    """A raw response of a webhook; with ``hangs`` it never responds."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    hangs_up: bool = False


# From the review to the fields of its response, or to a raw response.
Script: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedReview:
    """A review, and the path of its request."""

    path: str
    query: str
    review: Any


def allow(_: Any) -> Any:
    """Allow the request."""
    return {"allowed": True}


def deny(message: str = "", **status: Any) -> Script:
    """Deny the request."""
    shown = {**status, **({"message": message} if message else {})}
    return lambda _: {"allowed": False, **({"status": shown} if shown else {})}


def patch(*operations: Any, **more: Any) -> Script:
    """Change the object with a JSON patch."""
    encoded = b64encode(json.dumps(operations).encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded, **more}


class WebhookServer:
    """Webhooks, each with its own path and script."""

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
        """The URL of the webhook with that path."""
        return f"https://{LOOPBACK}:{self.port}/{path}"

    def client_config(self, path: str) -> dict[str, Any]:
        """The client configuration of the webhook with that path."""
        return {"url": self.url(path), "caBundle": self.ca_bundle}

    def forget(self) -> None:
        """Forget all received reviews."""
        with self._lock:
            self._received.clear()

    @property
    def received(self) -> list[ReceivedReview]:
        """All reviews so far."""
        with self._lock:
            return list(self._received)

    def answer(self, path: str, query: str, review: Any) -> RawReply:
        """The response to a review."""
        with self._lock:
            self._received.append(ReceivedReview(path=path, query=query, review=review))
        said = self.scripts.get(path, allow)(review)
        if isinstance(said, RawReply):
            return said
        response = {"uid": review["request"]["uid"], **said}
        document = {
            "kind": "AdmissionReview",
            "apiVersion": review["apiVersion"],
            "response": response,
        }
        return RawReply(
            body=json.dumps(document).encode(), headers={"content-type": "application/json"}
        )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one write: otherwise each response waits for an acknowledgement.
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
        """Tests read the received reviews instead."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    webhooks: WebhookServer

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count the connection, and handle it in a thread."""
        self.webhooks.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust the server reports that itself."""


@contextmanager
def webhook_server(*names: str) -> Iterator[WebhookServer]:
    """A webhook server on loopback, with a certificate for ``names`` too."""
    authority = Authority()
    pair = authority.server(LOOPBACK, "localhost", *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = Path(directory, "crt"), Path(directory, "key")
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)
        context.load_cert_chain(certificate, key)

    class Handler(_Handler):
        """The handler of this server."""

    server = _Server((LOOPBACK, 0), Handler)
    # The handshake runs in the thread of the connection, so that none delays another.
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
