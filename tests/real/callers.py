"""HTTP callers with any token, client certificate and headers."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPSConnection
from urllib.parse import urlsplit

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller

SECONDS = 30.0


@contextmanager
def open_caller(
    cluster: ControlPlane,
    *,
    token: str | None = None,
    certificate: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Iterator[HttpCaller]:
    """A caller with ``token``, with a client certificate, or anonymous."""
    given, address = cluster.credentials, urlsplit(cluster.url)
    tls = ssl.create_default_context(cafile=given.ca_file)
    if certificate:
        tls.load_cert_chain(given.client_certificate_file, given.client_key_file)
    shown = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = HTTPSConnection(str(address.hostname), address.port, timeout=SECONDS, context=tls)
    with HttpCaller(connection, headers={**shown, **(headers or {})}) as caller:
        yield caller
