"""URLs: ``url('https://example.com/path')``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final
from urllib.parse import quote, unquote, unquote_plus

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import Function
from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.schema.formats import is_request_uri

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PORT: Final = re.compile(r":[0-9]*\Z", re.ASCII)
# Characters of a path that Go does not escape.
_SAFE: Final = "$&+,/:;=@-_.~!*'()[]"


@dataclass(frozen=True, slots=True)
class Url:
    cel_name: ClassVar[str] = "kubernetes.URL"
    text: str
    scheme: str = field(compare=False)
    host: str = field(compare=False)
    path: str = field(compare=False)
    query: str = field(compare=False)

    @property
    def hostname(self) -> str:
        host = _PORT.sub("", self.host) if not self.host.endswith("]") else self.host
        return host[1:-1] if host.startswith("[") else host

    @property
    def port(self) -> str:
        found = _PORT.search(self.host)
        return found[0][1:] if found else ""


def _read(text: str) -> Url:
    if not is_request_uri(text):
        raise NotEvaluated(f"URL parse error during conversion from string: {problem(text)}")
    rest = text.partition("#")[0]
    found = _SCHEME.match(rest)
    scheme = found[1].lower() if found else ""
    rest = rest[found.end() :] if found else rest
    rest, _, query = rest.partition("?")
    host = ""
    if not rest.startswith("/"):
        return Url(text, scheme, host, "", query)
    if found and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = unquote(authority.rpartition("@")[2]), slash + path
    return Url(text, scheme, host, _escaped_path(rest), query)


def _escaped_path(path: str) -> str:
    """Return the path unchanged if it is validly escaped, else escaped."""
    if re.fullmatch(r"(?:[A-Za-z0-9$&+,/:;=@_.~!*'()\[\]-]|%[0-9A-Fa-f]{2})*", path):
        return path
    return quote(unquote(path), safe=_SAFE.replace("[]", ""))


def problem(text: str) -> str:
    """Return Go's error message if ``text`` is not a request URI."""
    if not text:
        why = "empty url"
    elif any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        return f"parse {shown(text)}: net/url: invalid control character in URL"
    elif text.startswith(":"):
        why = "missing protocol scheme"
    elif (bad := _BAD_ESCAPE.search(text.partition("?")[0])) is not None:
        why = f"invalid URL escape {shown(bad[0])}"
    elif port := re.search(r"//[^/?#]*(:[^/?#\]]*[^0-9/?#\]][^/?#\]]*)(?:[/?#]|\Z)", text):
        why = f"invalid port {shown(port[1])} after host"
    elif "://" in text and re.search(r"//[^/?#]* ", text):
        why = 'invalid character " " in host name'
    elif ":" in text.partition("/")[0] and not _SCHEME.match(text):
        why = "first path segment in URL cannot contain colon"
    else:
        why = "invalid URI for request"
    return f"parse {shown(text)}: {why}"


def _query(of: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in of.query.split("&"):
        if not part or ";" in part or _BAD_ESCAPE.search(part):
            continue
        name, _, value = part.partition("=")
        found.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return found


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "getEscapedPath": lambda of: of.path,
    "getHost": lambda of: of.host,
    "getHostname": lambda of: of.hostname,
    "getPort": lambda of: of.port,
    "getQuery": _query,
    "getScheme": lambda of: of.scheme,
    "isURL": is_request_uri,
    "url": _read,
}
