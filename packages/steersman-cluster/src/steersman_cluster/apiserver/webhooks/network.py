"""The network transport of webhook calls, with the behavior of kube-apiserver."""

import errno
import os
import socket
import ssl
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import parse_qsl, urlsplit

from steersman.clock import Clock
from steersman.errors import CertificateRefused, ConfigError, Unreachable
from steersman.wire import NetworkTransport, Request, TlsSettings, tls_context
from steersman_cluster.apiserver.webhooks import WebhookResponse, WebhookUnreachable

# A review contains up to two objects of the maximum size, and a response a patch of one.
MAX_RESPONSE_BYTES = 8 * 1024 * 1024

# The number of destinations with reused connections. Further calls open a new connection.
MAX_DESTINATIONS = 100

HTTPS_PORT = 443

_HEADERS = (
    ("accept", "application/json"),
    ("content-type", "application/json"),
    ("user-agent", "kube-apiserver-admission"),
)

# OpenSSL's codes of some certificate errors (X509_V_ERR_…).
_EXPIRED = frozenset((9, 10))
_WRONG_NAME = frozenset((62, 64))


class _Destination(NamedTuple):
    """The destination of connections, and what the server's TLS certificate must prove."""

    origin: str
    ca_bundle: bytes
    server_name: str


class _Connections:
    """The open connections to one destination."""

    def __init__(self, transport: NetworkTransport) -> None:
        self.transport = transport
        self.calls = 0  # in flight


class NetworkWebhookTransport:
    """A transport that sends webhook calls over HTTPS, on reused connections."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._connections_to: dict[_Destination, _Connections] = {}  # least recently used first

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._connections_to:
            _, connections = self._connections_to.popitem()
            await connections.transport.__aexit__(None, None, None)

    async def post(
        self,
        url: str,
        body: bytes,
        *,
        ca_bundle: bytes,
        server_name: str,
        connect_to: str,
        timeout_seconds: float,
    ) -> WebhookResponse:
        """Return the response to ``body``, a JSON document that is sent to ``url``.

        Raises ``WebhookUnreachable`` if there is no response.
        """
        parts = urlsplit(url)
        host = connect_to or parts.netloc
        name = server_name or parts.hostname or ""
        request = Request(
            method="POST",
            path=parts.path,
            query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
            headers=_HEADERS,
            body=body,
        )
        try:
            async with self._clock.timeout(timeout_seconds):
                connections = await self._connected(
                    _Destination(f"https://{host}", ca_bundle, server_name)
                )
                connections.calls += 1
                try:
                    await self._close_unused()
                    async with connections.transport.open(request) as response:
                        content = await response.read(limit_bytes=MAX_RESPONSE_BYTES)
                        return WebhookResponse(response.status, response.headers, content)
                finally:
                    connections.calls -= 1
        except TimeoutError:
            raise WebhookUnreachable("context deadline exceeded") from None
        except (Unreachable, CertificateRefused) as failure:
            raise WebhookUnreachable(
                _go_error(failure.__cause__, host=host, name=name)
            ) from failure
        except (ConfigError, ValueError) as failure:
            raise WebhookUnreachable(str(failure)) from failure
        # Unreachable, but the type checkers assume that a timeout suppresses exceptions.
        raise WebhookUnreachable("EOF")

    async def _connected(self, destination: _Destination) -> _Connections:
        connections = self._connections_to.pop(destination, None)
        if connections is None:
            settings = TlsSettings(ca_data=destination.ca_bundle or None)
            context = tls_context(settings, source=destination.origin)
            transport = NetworkTransport(
                server=destination.origin,
                tls=lambda: context,
                clock=self._clock,
                server_name=destination.server_name or None,
            )
            connections = _Connections(await transport.__aenter__())
        self._connections_to[destination] = connections
        return connections

    async def _close_unused(self) -> None:
        """If there are too many destinations, close the connections of the longest unused one."""
        if len(self._connections_to) <= MAX_DESTINATIONS:
            return
        unused = next(
            (each for each, connections in self._connections_to.items() if not connections.calls),
            None,
        )
        if unused is not None:
            await self._connections_to.pop(unused).transport.__aexit__(None, None, None)

    def __repr__(self) -> str:
        return f"<NetworkWebhookTransport to {len(self._connections_to)} places>"


def _go_error(cause: BaseException | None, *, host: str, name: str) -> str:
    """Return Go's error message for the cause of a failed call."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_certificate_error(cause, name)}"
    if isinstance(cause, ssl.SSLError):
        return "tls: first record does not look like a TLS handshake"
    if isinstance(cause, socket.gaierror):
        return f"dial tcp: lookup {host.rpartition(':')[0] or host}: no such host"
    if isinstance(cause, OSError) and cause.errno is not None:
        said = os.strerror(cause.errno).lower()
        if cause.errno in (errno.ECONNRESET, errno.EPIPE):
            return f"read tcp: {said}"
        port = "" if host.rpartition(":")[2].isdecimal() else f":{HTTPS_PORT}"
        return f"dial tcp {host}{port}: connect: {said}"
    return "EOF"


def _certificate_error(error: ssl.SSLCertVerificationError, name: str) -> str:
    if error.verify_code in _WRONG_NAME:
        # Go's message lists the valid names, which Python's error does not have.
        return f"certificate is not valid for any names, but wanted to match {name}"
    if error.verify_code in _EXPIRED:
        return "certificate has expired or is not yet valid"
    return "certificate signed by unknown authority"
