"""Validation of a webhook's client configuration and of its review versions."""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid, required, shown
from steersman_cluster.apiserver.meta.name_validation import (
    dns_1035_label,
    dns_subdomain,
    port_number,
)
from steersman_cluster.apiserver.meta.strategy import Object

REVIEWS: Final = ("v1", "v1beta1")

_DESIRED: Final = "; desired format: https://host[/path]"
_NEVER_IN_HOSTS: Final = frozenset(' "<>\\^`{|}')


def client_errors(client: Object, path: str) -> Iterator[FieldError]:
    """Yield the errors of ``client``, the ``clientConfig`` of a webhook, at ``path``."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url_errors(url, f"{path}.url")
    else:
        yield from _service_errors(service or {}, f"{path}.service")


def _url_errors(url: str, path: str) -> Iterator[FieldError]:
    if problem := _url_problem(url):
        why = f"url must be a valid URL: parse {shown(url)}: {problem}{_DESIRED}"
        yield required(path, why)
        return
    parts = urlsplit(url)
    if parts.scheme != "https":
        why = f"'https' is the only allowed URL scheme{_DESIRED}"
        yield invalid(path, parts.scheme, why)
    user, _, host = parts.netloc.rpartition("@")
    if not host:
        yield invalid(path, host, f"host must be specified{_DESIRED}")
    if user:
        yield invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(path, parts.query, "query parameters are not permitted in the URL")


def _url_problem(url: str) -> str:
    """Return Go's error message for an invalid URL; "" if the URL is valid."""
    if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in url):
        return "net/url: invalid control character in URL"
    scheme = _scheme(url)
    if scheme is not None and not scheme[1]:
        return "missing protocol scheme" if not scheme[0] else ""
    rest = url if scheme is None else scheme[1]
    if scheme is None and not url.startswith("/") and ":" in url.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    host = ""
    if rest.startswith("//"):
        host, slash, path = re.split("[?#]", rest[2:], maxsplit=1)[0].partition("/")
        rest = slash + path
    host = host.rpartition("@")[2]
    if escape := _bad_escape(rest):
        return f"invalid URL escape {shown(escape)}"
    if bad := next((each for each in host if each in _NEVER_IN_HOSTS), ""):
        return f"invalid character {shown(bad)} in host name"
    port = host.rpartition("]")[2] if host.startswith("[") else host[host.find(":") :]
    if ":" in port and not re.fullmatch(":[0-9]*", port):
        return f"invalid port {shown(port)} after host"
    return ""


def _scheme(url: str) -> tuple[str, str] | None:
    """Return the text before and after the first colon; None if there is no scheme."""
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*|):", url)
    return (match[1], url[match.end() :] if match[1] else "") if match else None


def _bad_escape(text: str) -> str:
    match = re.search("%(?![0-9A-Fa-f]{2})", text)
    return "" if match is None else text[match.start() : match.start() + 3]


def _service_errors(service: Object, path: str) -> Iterator[FieldError]:
    # The two paths are swapped, as in kube-apiserver.
    if not service.get("namespace"):
        yield required(f"{path}.name")
    if not service.get("name"):
        yield required(f"{path}.namespace")
    port = service.get("port", 443)
    if wrong := port_number(port):
        yield invalid(f"{path}.port", port, f"port is not valid: {', '.join(wrong)}")
    yield from _path_errors(service.get("path") or "", f"{path}.path")


def _path_errors(url_path: str, path: str) -> Iterator[FieldError]:
    if url_path in ("", "/"):
        return
    if url_path == "//":
        yield invalid(path, url_path, "segment[0] may not be empty")
        return
    if not url_path.startswith("/"):
        yield invalid(path, url_path, "must start with a '/'")
    for index, segment in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not segment:
            yield invalid(path, url_path, f"segment[{index}] may not be empty")
            continue
        for wrong in dns_subdomain(segment):
            yield invalid(path, url_path, f"segment[{index}]: {wrong}")


def review_errors(versions: list[Any], path: str, *, why: str = "") -> Iterator[FieldError]:
    """Yield the errors of ``versions``, the review versions that a webhook accepts.

    ``why`` is the error message for an empty list.
    """
    if not versions:
        yield required(path, why)
        return
    seen: set[str] = set()
    for index, each in enumerate(versions):
        if each in seen:
            yield invalid(f"{path}[{index}]", each, "duplicate version")
            continue
        seen.add(each)
        for wrong in dns_1035_label(each):
            yield invalid(f"{path}[{index}]", each, wrong)
    if not seen & set(REVIEWS):
        yield invalid(path, versions, f"must include at least one of {', '.join(REVIEWS)}")
