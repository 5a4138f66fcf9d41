"""Requests and their RequestInfos, written as URLs."""

from urllib.parse import parse_qsl, urlsplit

from steersman.wire import Request
from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info


def request(url: str, *, method: str = "GET", **headers: str) -> Request:
    """Return a request without a body."""
    parts = urlsplit(url)
    return Request(
        method=method,
        path=parts.path,
        query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
        headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
    )


def request_info(url: str, *, method: str = "GET") -> RequestInfo:
    """Return the RequestInfo of a request for ``url``."""
    return parse_request_info(request(url, method=method))
