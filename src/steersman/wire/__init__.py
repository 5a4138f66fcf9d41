"""Bytes to and from an API server, and nothing about what they mean.

Takes:     a ``Request``: method, path, query, headers, body
Gives:     a ``Response``, held open while its body is read, whole or in chunks
Promises:  - a request is sent at most once
           - redirects are not followed
           - no header of a request appears in a repr
           - a connection is used again for the next request
           - a line is never longer than its limit
Never:     parses JSON, retries, waits longer than its caller, or takes a proxy from the environment
"""

from typing import TYPE_CHECKING

from steersman.wire.lines import LineSplitter
from steersman.wire.messages import Request, Response, Transport
from steersman.wire.tls import TlsSettings, tls_context

if TYPE_CHECKING:
    from steersman.wire.network import NetworkTransport

__all__ = [
    "LineSplitter",
    "NetworkTransport",
    "Request",
    "Response",
    "TlsSettings",
    "Transport",
    "tls_context",
]


if not TYPE_CHECKING:  # to the checkers, a module with this has whatever is asked for

    def __getattr__(name: str) -> object:
        # aiohttp takes 0.2 s to import, and not everyone who has bytes to describe sends them.
        if name == "NetworkTransport":
            from steersman.wire.network import NetworkTransport

            return NetworkTransport
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
