"""Serves HTTP requests with a handler while a block runs."""

import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final

from steersman.errors import ManagerFailed
from steersman.manager.settings.address import ListenAddress
from steersman.observe import Listening, Observer
from steersman.wire import RequestHandler

# No request to these endpoints has a body.
MAX_BODY_BYTES = 1024

# The setting that has the address of each listener.
_SETTINGS: Final = {"probes": "--health-address", "metrics": "--metrics-address"}

ANY_IPV4 = "0.0.0.0"  # noqa: S104 - for settings that ask for all interfaces


@asynccontextmanager
async def serving(
    handler: RequestHandler,
    address: ListenAddress,
    *,
    tls: ssl.SSLContext | None,
    what: str,
    observe: Observer,
) -> AsyncIterator[ListenAddress]:
    """Serve requests at ``address`` while the block runs; yield the address with its port.

    If ``address`` has port 0, the yielded address has the port that the kernel chose. Errors name
    the listener as ``what``.
    """
    async with AsyncExitStack() as held:
        try:
            port = await _listen(held, handler, address, tls)
        except OSError as error:
            raise _cannot_listen(what, address, error) from error
        bound = ListenAddress(address.host, port)
        scheme = "http" if tls is None else "https"
        observe(Listening(what=what, address=f"{scheme}://{bound}"))
        yield bound


async def _listen(
    held: AsyncExitStack,
    handler: RequestHandler,
    address: ListenAddress,
    tls: ssl.SSLContext | None,
) -> int:
    # Imported here, because not every operator listens.
    from steersman.wire import listening

    def on(host: str) -> AbstractAsyncContextManager[int]:
        return listening(
            handler, host=host, port=address.port, tls=tls, max_body_bytes=MAX_BODY_BYTES
        )

    try:
        return await held.enter_async_context(on(address.host))
    except OSError as error:
        if address.host or error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise
        # All interfaces, on a machine where IPv6 is disabled.
        return await held.enter_async_context(on(ANY_IPV4))


def _cannot_listen(what: str, address: ListenAddress, error: OSError) -> ManagerFailed:
    setting = _SETTINGS.get(what, "address")
    match error.errno:
        case errno.EADDRINUSE:
            why = "another process already listens there"
            what_now = f"End it, or choose another {setting}; an empty one is off."
        case errno.EACCES:
            why = "this process may not use that port"
            what_now = f"Choose one from 1024 up for {setting}."
        case errno.EADDRNOTAVAIL:
            why = "this machine does not have that address"
            what_now = f"Choose one that it has for {setting}, or :{address.port} for all of them."
        case _:
            # asyncio changes the error's own text.
            why = (
                "the host name does not resolve"
                if isinstance(error, socket.gaierror) or error.errno is None
                else os.strerror(error.errno).lower()
            )
            what_now = f"Choose another {setting}; an empty one is off."
    return ManagerFailed(problem=f"cannot listen on {address} for {what}: {why}", what_now=what_now)
