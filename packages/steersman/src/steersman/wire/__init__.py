"""HTTP over sockets: the client's transport and the listener of servers, without API semantics.

Takes:     a ``Request``: method, path, query, headers, body; on the server side, a
           ``RequestHandler``
Gives:     a ``Response``, held open while its body is read at once or in chunks; on the server
           side, the handler's reply
Promises:  - a request is sent at most once
           - a request whose guard raises is not sent
           - redirects are not followed
           - no header of a request appears in a repr
           - a connection is used again for the next request
           - a line is never longer than its limit
           - a body is read at most one byte beyond its limit
           - a stream is closed when its client disconnects
           - a listener with open streams ends immediately
           - a client certificate is trusted only if a trusted authority signed it
           - a certificate is valid for at most a week
           - a changed certificate is used for the next connection
Never:     parses JSON, retries, waits longer than its caller, or reads a proxy from the environment
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman.wire.lines import LineSplitter
from steersman.wire.messages import (
    CertificateIdentity,
    Reply,
    Request,
    RequestHandler,
    Response,
    Transport,
)
from steersman.wire.tls import TlsSettings, tls_context

if TYPE_CHECKING:
    from steersman.wire.certificates import CertificateAuthority, new_key, pem_of
    from steersman.wire.server.listener import listening
    from steersman.wire.server.server_certificates import CertificateFiles, SelfSigned, server_tls
    from steersman.wire.transport.network import NetworkTransport

__all__ = [
    "CertificateAuthority",
    "CertificateFiles",
    "CertificateIdentity",
    "LineSplitter",
    "NetworkTransport",
    "Reply",
    "Request",
    "RequestHandler",
    "Response",
    "SelfSigned",
    "TlsSettings",
    "Transport",
    "listening",
    "new_key",
    "pem_of",
    "server_tls",
    "tls_context",
]


# Many users only need the messages, and cryptography is optional.
_LAZY = {
    "CertificateAuthority": "certificates",
    "CertificateFiles": "server.server_certificates",
    "NetworkTransport": "transport.network",
    "SelfSigned": "server.server_certificates",
    "listening": "server.listener",
    "new_key": "certificates",
    "pem_of": "certificates",
    "server_tls": "server.server_certificates",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
