"""HTTP replies in JSON, YAML or protobuf; JSON is indented for browsers and curl."""

import json
from collections.abc import Iterator

import msgspec
import yaml

from steersman.wire import Reply, Request
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.negotiation import JSON, YAML, header
from steersman_cluster.apiserver.request.protobuf_responses import encode_document
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF

_COMMON = (("cache-control", "no-cache, private"),)
_JSON = (*_COMMON, ("content-type", JSON))
_TEXT = ("content-type", "text/plain; charset=utf-8")
_PLAIN = (*_COMMON, _TEXT)
_NO_SNIFF = ("x-content-type-options", "nosniff")
_PLAIN_NO_SNIFF = (*_PLAIN, _NO_SNIFF)

_PROTOBUF = (*_COMMON, ("content-type", PROTOBUF))

# The headers of watches by media type; those of JSON are the same as for other replies.
STREAMS = {
    JSON: _JSON,
    PROTOBUF: (*_COMMON, ("content-type", f"{PROTOBUF};stream=watch")),
}

# The limits of a reply's warnings, in characters: of all, and of each if all are too long.
MAX_WARNING_LENGTH = 4096
MAX_SENTENCE_LENGTH = 256

# User agents whose users read the response.
_READERS = ("curl", "Wget", "Mozilla/5.0")


def text(status: int, body: str) -> Reply:
    """Return a reply in plain text."""
    return Reply(status=status, headers=_PLAIN, body=body.encode())


def unsniffed_text(status: int, body: str) -> Reply:
    """Return a reply in plain text, with the headers of Go's ``http.Error``."""
    return Reply(status=status, headers=_PLAIN_NO_SNIFF, body=body.encode())


def not_sniffed(reply: Reply) -> Reply:
    """Return the reply with the header ``X-Content-Type-Options: nosniff``."""
    return msgspec.structs.replace(reply, headers=(*reply.headers, _NO_SNIFF))


def path_not_found() -> Reply:
    """Return the reply for an unknown path."""
    return unsniffed_text(404, "404 page not found\n")


def unavailable() -> Reply:
    """Return the reply for an API group version that another server serves."""
    return unsniffed_text(503, "service unavailable\n")


def document(status: int, body: bytes, *, language: str = JSON, pretty: bool = False) -> Reply:
    """Return a reply with the encoded document ``body``.

    If ``language`` is YAML, ``body`` is JSON and is converted. If ``pretty`` is true, JSON is
    indented.
    """
    if not body:
        return Reply(status=status, headers=_COMMON)
    if language == PROTOBUF:
        return Reply(status=status, headers=_PROTOBUF, body=body)
    if language == YAML:
        readable = yaml.safe_dump(msgspec.json.decode(body), sort_keys=False, allow_unicode=True)
        headers = (*_COMMON, ("content-type", YAML))
        return Reply(status=status, headers=headers, body=readable.encode())
    if pretty:
        laid_out = json.dumps(msgspec.json.decode(body), indent=2, ensure_ascii=False)
        body = laid_out.encode()
    elif not body.endswith(b"\n"):
        body += b"\n"
    return Reply(status=status, headers=_JSON, body=body)


def error_reply(error: StatusError, *, language: str = JSON, pretty: bool = False) -> Reply:
    """Return the reply for the error ``error``."""
    found = error.status()
    body = encode_document(found) if language == PROTOBUF else msgspec.json.encode(found)
    reply = document(error.code, body, language=language, pretty=pretty)
    if error.retry_after_seconds:
        after = (("retry-after", str(error.retry_after_seconds)),)
        reply = msgspec.structs.replace(reply, headers=reply.headers + after)
    return reply


def with_warnings(reply: Reply, warnings: list[str]) -> Reply:
    """Return ``reply`` with a Warning header for each warning, without duplicates.

    If the warnings are too long in total, each is shortened, and the last ones are omitted.
    """
    if not warnings:
        return reply
    lines = tuple(("warning", f"299 - {_quoted(each)}") for each in _short(warnings))
    return msgspec.structs.replace(reply, headers=reply.headers + lines)


def _short(warnings: list[str]) -> Iterator[str]:
    different = dict.fromkeys(warnings)
    if sum(map(len, different)) <= MAX_WARNING_LENGTH:
        yield from different
        return
    said = 0
    for each in different:
        if said >= MAX_WARNING_LENGTH:
            return
        yield each[:MAX_SENTENCE_LENGTH]
        said += len(each[:MAX_SENTENCE_LENGTH])


def _quoted(sentence: str) -> str:
    escaped = sentence.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        escaped = "".join(each if each.isprintable() else " " for each in escaped)
    return f'"{escaped}"'


def is_pretty(request: Request, info: RequestInfo) -> bool:
    """Return whether to indent the JSON of the response, so that a person can read it."""
    if "pretty" in info.query:
        return info.flag("pretty")
    return header(request, "User-Agent").startswith(_READERS)
