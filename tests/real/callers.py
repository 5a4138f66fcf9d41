"""HTTP callers with a chosen token, client certificate and headers."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPSConnection
from urllib.parse import urlsplit

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller

TIMEOUT_SECONDS = 30.0


@contextmanager
def open_caller(
    cluster: ControlPlane,
    *,
    token: str | None = None,
    certificate: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Iterator[HttpCaller]:
    """A caller with ``token``, with a client certificate, or anonymous."""
    credentials, url = cluster.credentials, urlsplit(cluster.url)
    tls = ssl.create_default_context(cafile=credentials.ca_file)
    if certificate:
        tls.load_cert_chain(credentials.client_certificate_file, credentials.client_key_file)
    authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = HTTPSConnection(str(url.hostname), url.port, timeout=TIMEOUT_SECONDS, context=tls)
    with HttpCaller(connection, headers={**authorization, **(headers or {})}) as caller:
        yield caller
