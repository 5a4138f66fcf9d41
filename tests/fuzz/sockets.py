"""``python -m tests.fuzz.sockets``: invalid bytes for a server on a socket.

The server must survive them all, answer nothing with a 500, and log nothing about them.
"""

import argparse
import contextlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time  # noqa: TID251 - minutes of a person's time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import yaml

# Longer than any response takes.
PATIENCE_SECONDS = 2.0
STARTING_SECONDS = 30.0

# What a failing server logs.
_LOST = re.compile(r"Traceback|Unhandled|Exception|never retrieved|Error handling")

_HEADERS = (
    b"Content-Length: -1",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: 5, 6",
    b"Content-Length: 4\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked, gzip",
    b"Content-Encoding: gzip",
    b"Content-Encoding: deflate\r\nContent-Length: 3",
    b"Expect: 100-continue",
    b"Expect: nothing",
    b"Upgrade: websocket\r\nConnection: Upgrade",
    b"Connection: close, keep-alive",
    b"X: " + b"x" * 9000,
    b"X" * 9000 + b": x",
    b"X\0: y",
    b"X: \xff\xfe",
    b"Accept: \xff",
    b"Authorization: Bearer \xff\xfe",
    b"Impersonate-User: \xff",
    b"Impersonate-Extra-%FF: x",
    b"Impersonate-Group: \xc3\x28",
    b"User-Agent: \xff\x80",
    b"Content-Type: \xff",
    b" folded: x",
    b": empty",
    b"no colon",
    b"Cookie: \x01",
    b"Host: a\r\nHost: b",
)
_TARGETS = (
    b"/api/v1/namespaces",
    b"/api/v1/configmaps?limit=1",
    b"/api/v1/namespaces/%ff%fe/pods",
    b"/api/v1/namespaces/\xff/pods",
    b"/api/v1/namespaces?labelSelector=%ff",
    b"/api/v1/namespaces?labelSelector=\xff",
    b"/api/v1/namespaces?%ff=%ff",
    b"/api/v1/namespaces/%00",
    b"/api/v1/namespaces/%2e%2e/%2e",
    b"/api/v1/namespaces/a%2fb",
    b"/../../etc/passwd",
    b"//api//v1",
    b"*",
    b"http://[::1/x",
    b"http://example.com:99999/api",
    b"api",
    b"",
    b"/" + b"a" * 9000,
    b"/api/v1/pods?watch=1&timeoutSeconds=1",
    b"/api/v1/pods?" + b"a=b&" * 2000,
    b"/%",
    b"/?#fragment",
    b"/api/v1/namespaces/default/configmaps",
)
_METHODS = (b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"CONNECT", b"TRACE")
_ODD_METHODS = (b"", b"get", b"G\0T", b"\xff", b"A" * 100, b"PRI")
_VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.1 ", b"", b"ICY")
_BODIES = (
    b"",
    b"{}",
    b'{"metadata":{"name":"a"}}',
    b"5\r\nhello\r\n0\r\n\r\n",
    b"ffffffffffffffff1\r\nx",
    b"-1\r\n\r\n",
    b"zz\r\n\r\n",
    b"5;x=\xff\r\nhello\r\n0\r\nTrailer: \xff\r\n\r\n",
    b"\0" * 100,
    b"[" * 100_000,
    b"x" * 4_000_000,
)


class Attack:
    """Connections to one server, most of which it should close."""

    def __init__(self, url: str, token: str, rng: Random) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "127.0.0.1", parts.port or 443)
        self._token = token.encode()
        self._rng = rng
        self._tls = ssl.create_default_context()
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE
        self._held: list[socket.socket] = []
        self.statuses = Counter[str]()
        self.failed: list[bytes] = []  # requests that were answered with a 500

    def go(self) -> None:
        """Make one of several attacks."""
        ways: tuple[tuple[Callable[[], None], int], ...] = (
            (self._garbage, 5),
            (self._broken_handshake, 3),
            (self._nonsense, 60),
            (self._random_bytes, 5),
            (self._half_a_body, 5),
            (self._abrupt_disconnect, 5),
            (self._several_at_once, 5),
            (self._slowly, 3),
        )
        way = self._rng.choices([way for way, _ in ways], [weight for _, weight in ways])[0]
        with contextlib.suppress(OSError):
            way()

    def is_well(self) -> bool:
        """Whether the server still answers a valid request."""
        with self._connected() as connection:
            connection.sendall(self._request(b"GET", b"/api/v1/namespaces/default"))
            return _read(connection).startswith(b"HTTP/1.1 200")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        plain = socket.create_connection(self._address, timeout=PATIENCE_SECONDS)
        with self._tls.wrap_socket(plain) as connection:
            yield connection

    def _request(self, method: bytes, target: bytes, *headers: bytes, body: bytes = b"") -> bytes:
        lines = [
            method + b" " + target + b" HTTP/1.1",
            b"Host: a",
            b"Authorization: Bearer " + self._token,
            b"Content-Length: %d" % len(body),
            *headers,
            b"",
            body,
        ]
        return b"\r\n".join(lines)

    def _send_and_read(self, connection: socket.socket, data: bytes) -> None:
        connection.sendall(data)
        answer = _read(connection)
        found = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
        self.statuses[found[1].decode() if found else "closed"] += 1
        # It may answer that it does not support a version.
        if found and found[1].startswith(b"5") and found[1] != b"505":
            self.failed.append(data[:500] + b"\n" + answer[:500])

    def _garbage(self) -> None:
        """Not TLS."""
        with socket.create_connection(self._address, timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(
                self._rng.choice((b"GET / HTTP/1.1\r\n\r\n", self._rng.randbytes(500)))
            )
            _read(connection)

    def _broken_handshake(self) -> None:
        """Something that resembles a ClientHello."""
        with socket.create_connection(self._address, timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + self._rng.randbytes(99)
            )

    def _nonsense(self) -> None:
        """A request with one or more errors."""
        rng = self._rng
        method = rng.choice(_METHODS if rng.random() < 0.8 else _ODD_METHODS)
        version = rng.choice(_VERSIONS) if rng.random() < 0.2 else b"HTTP/1.1"
        headers = rng.sample(_HEADERS, rng.choice((0, 0, 0, 1, 1, 2, 3)))
        body = rng.choice(_BODIES[:-2] if rng.random() < 0.9 else _BODIES)
        if rng.random() < 0.8:
            headers.append(b"Content-Length: %d" % len(body))
        lines = [method + b" " + rng.choice(_TARGETS) + b" " + version, b"Host: a", *headers]
        if rng.random() < 0.8:
            lines.append(b"Authorization: Bearer " + self._token)
        lines.append(b"Content-Type: application/json")
        with self._connected() as connection:
            connection.settimeout(0.3)
            self._send_and_read(connection, b"\r\n".join([*lines, b"", body]))

    def _random_bytes(self) -> None:
        with self._connected() as connection:
            connection.settimeout(0.2)
            self._send_and_read(connection, self._rng.randbytes(self._rng.randrange(1, 3000)))

    def _half_a_body(self) -> None:
        """A client that announces a large body and disconnects."""
        with self._connected() as connection:
            target = b"/api/v1/namespaces/default/configmaps"
            connection.sendall(self._request(b"POST", target, b"Content-Length: 1000", body=b"{"))

    def _abrupt_disconnect(self) -> None:
        """A client that sends many requests and disconnects."""
        targets = (b"/openapi/v2", b"/api/v1/pods?watch=1", b"/apis", b"/openapi/v3/api/v1")
        with self._connected() as connection:
            connection.sendall(self._request(b"GET", self._rng.choice(targets)))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def _several_at_once(self) -> None:
        with self._connected() as connection:
            connection.settimeout(0.5)
            one = self._request(b"GET", b"/api/v1/namespaces/default")
            self._send_and_read(connection, one * 20 + b"\0" + one)

    def _slowly(self) -> None:
        """A connection that sends a few bytes, and stays open."""
        plain = socket.create_connection(self._address, timeout=PATIENCE_SECONDS)
        connection = self._tls.wrap_socket(plain) if self._rng.random() < 0.7 else plain
        connection.sendall(b"GE")
        self._held.append(connection)
        if len(self._held) > 100:
            self._held.pop(0).close()

    def close(self) -> None:
        """Close the connections that are still open."""
        for each in self._held:
            each.close()


def _read(connection: socket.socket) -> bytes:
    """Read until nothing more arrives."""
    answer = b""
    with contextlib.suppress(OSError):
        while piece := connection.recv(65536):
            answer += piece
            if b"\r\n\r\n" in answer and b"transfer-encoding" not in answer.lower():
                break
    return answer


@contextlib.contextmanager
def cluster(directory: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, str]]:
    """A server in its own process; yields its process, address and token."""
    kubeconfig, log = directory / "kubeconfig", directory / "log"
    command = [
        sys.executable,
        "-m",
        "steersman",
        "cluster",
        "up",
        "--no-workloads",
        "--kubeconfig",
        str(kubeconfig),
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            ends_at = time.monotonic() + STARTING_SECONDS
            while not (kubeconfig.exists() and kubeconfig.stat().st_size):
                if time.monotonic() > ends_at:
                    raise TimeoutError(log.read_text())
                time.sleep(0.05)
            found = yaml.safe_load(kubeconfig.read_text())
            url = found["clusters"][0]["cluster"]["server"]
            yield process, url, found["users"][0]["user"]["token"]
        finally:
            process.terminate()
            process.wait()


def main() -> int:
    """Attack for some minutes, and report whether the server still runs."""
    parser = argparse.ArgumentParser(description="Send nonsense to the embedded cluster's socket.")
    parser.add_argument("--minutes", type=float, default=2.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="which nonsense")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        with cluster(directory) as (process, url, token):
            attack = Attack(url, token, Random(arguments.seed))
            ends_at, done, ill = time.monotonic() + arguments.minutes * 60, 0, 0
            while time.monotonic() < ends_at and process.poll() is None and not ill:
                attack.go()
                done += 1
                if done % 50 == 0:
                    ill = not attack.is_well()
            attack.close()
            lives = process.poll() is None and attack.is_well()
        said = (directory / "log").read_text(errors="replace")
    _print(f"{done} connections, by status: {dict(sorted(attack.statuses.items()))}")
    _print("the server is well" if lives else "the server is gone")
    lost = _LOST.search(said)
    if lost:
        _print(said[lost.start() : lost.start() + 3000])
    for each in attack.failed[:5]:
        _print(f"answered with a 500: {each!r}")
    return 0 if lives and not lost and not attack.failed else 1


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what this program is for


if __name__ == "__main__":
    raise SystemExit(main())
