"""Opens connections to a server, directly or through a proxy."""

import asyncio
import re
import socket
import ssl
from asyncio.trsock import TransportSocket
from typing import Any, Final

import msgspec

from steersman.wire.addresses import Address, is_ip
from steersman.wire.sockets import enable_keepalive
from steersman.wire.transport.connection import ENDED, NOT_HTTP, Broken, Connection
from steersman.wire.transport.direct import SocketTransport
from steersman.wire.transport.request_head import connect_head

# The delay after which a connection to the next address of a name is attempted (RFC 8305).
NEXT_ADDRESS_SECONDS: Final = 0.25

_NUMBER: Final = re.compile(r"\[Errno (\d+)\]")

_OF_THE_PROXY: Final = {
    ENDED: "the proxy closed the connection",
    NOT_HTTP: "the proxy's response is not HTTP",
}


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """A server, an optional proxy, and the name to expect in the server's certificate."""

    server: Address
    proxy: Address | None = None
    server_name: str | None = None

    @property
    def needs_tls(self) -> bool:
        """Whether any part of the route is encrypted."""
        return self.server.is_https or (self.proxy is not None and self.proxy.is_https)

    @property
    def needs_tls_twice(self) -> bool:
        """Whether the proxy is reached over TLS, and the server over TLS inside of that TLS."""
        return self.server.is_https and self.proxy is not None and self.proxy.is_https

    @property
    def reading_proxy(self) -> Address | None:
        """The proxy if it can read the requests; ``None`` if it only passes on encrypted bytes."""
        return None if self.server.is_https else self.proxy


async def dial(route: Route, *, tls: ssl.SSLContext | None) -> Connection:
    """Open a connection along ``route``; raise ``Broken`` if that fails."""
    proxy = route.proxy
    name = route.server_name or _name_of(route.server)
    connection = Connection(tls=tls)
    try:
        await _reach(connection, route)
        if proxy is not None:
            if proxy.is_https:
                await _secure(connection, name=_name_of(proxy), proxy=proxy)
            if route.server.is_https:
                await _tunnel(connection, server=route.server, proxy=proxy)
        if route.server.is_https:
            await _secure(connection, name=name)
    except BaseException:
        connection.abort()
        raise
    return connection


def _name_of(address: Address) -> str:
    # Certificates contain the name without the final dot.
    return address.host.rstrip(".")


async def _reach(connection: Connection, route: Route) -> None:
    address = route.proxy or route.server
    loop = asyncio.get_running_loop()
    racing: dict[str, Any] = {}
    # With a single address there is nothing to race; uvloop does not support the option.
    if isinstance(loop, asyncio.BaseEventLoop) and not is_ip(address.host):
        racing["happy_eyeballs_delay"] = NEXT_ADDRESS_SECONDS
    try:
        transport, _ = await loop.create_connection(
            lambda: connection, address.host, address.port, **racing
        )
        enable_keepalive(transport.get_extra_info("socket"))
        if not route.needs_tls_twice:
            _take_over(connection, transport)
    except OSError as error:
        cause = _common_error(error)
    else:
        return
    if route.proxy is not None:
        problem = "cannot reach the proxy"
    elif isinstance(cause, socket.gaierror):
        problem = "the host name does not resolve"
    else:
        problem = "cannot reach the server"
    raise Broken(problem, cause=cause, was_sent=False)


def _take_over(connection: Connection, transport: asyncio.Transport) -> None:
    """Replace asyncio's unused transport by a ``SocketTransport`` if the loop can watch sockets."""
    connected = transport.get_extra_info("socket")
    loop = asyncio.get_running_loop()
    if isinstance(loop, asyncio.SelectorEventLoop) and isinstance(connected, TransportSocket):
        own = connected.dup()
        transport.set_protocol(asyncio.Protocol())
        transport.abort()
        SocketTransport(own, connection)


def _common_error(error: OSError) -> OSError:
    """Return ``error``, or if all addresses failed for the same reason, one error with that errno.

    For several addresses, asyncio raises an error that has no errno and only joins the texts.
    """
    numbers = set(_NUMBER.findall(str(error))) if error.errno is None else set[str]()
    return OSError(int(numbers.pop()), str(error)) if len(numbers) == 1 else error


async def _secure(connection: Connection, *, name: str, proxy: Address | None = None) -> None:
    tls = connection.tls
    if tls is None:
        raise RuntimeError("a connection over TLS needs a context")
    try:
        await connection.secure(tls, name=name)
    except OSError as error:
        cause = error
    else:
        return
    if isinstance(cause, ssl.SSLError):
        problem = "the TLS handshake failed"
    else:
        problem = f"cannot reach the {'server' if proxy is None else 'proxy'}"
    server = None if proxy is None else f"{proxy.scheme}://{proxy.host_header}"
    raise Broken(problem, cause=cause, was_sent=False, server=server)


async def _tunnel(connection: Connection, *, server: Address, proxy: Address) -> None:
    try:
        answer = await connection.send_request(
            connect_head(server=server, proxy=proxy), is_bare=True
        )
        if answer.status == 200:
            # Nothing may follow: the server sends nothing without a request.
            await connection.receive()
    except Broken as broken:
        problem, cause = _OF_THE_PROXY[broken.problem], broken.cause
    else:
        if answer.status == 200:
            return
        problem, cause = f"the proxy responded with {answer.status}", None
    raise Broken(problem, cause=cause, was_sent=False)
