"""Answers as they go out, in JSON, YAML or protobuf; JSON is laid out for browsers and curl."""

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

# Watches in JSON differ from other answers only in that they do not end.
STREAMS = {
    JSON: _JSON,
    PROTOBUF: (*_COMMON, ("content-type", f"{PROTOBUF};stream=watch")),
}

# What may be said beside an answer, in letters: of more, the beginning of each sentence.
MOST_WARNING = 4096
MOST_SENTENCE = 256

# Programs whose users read what they get.
_READERS = ("curl", "Wget", "Mozilla/5.0")


def text(status: int, body: str) -> Reply:
    """A few plain words."""
    return Reply(status=status, headers=_PLAIN, body=body.encode())


def unsniffed_text(status: int, body: str) -> Reply:
    """A few plain words with the header that Go's ``http.Error`` sets."""
    return Reply(status=status, headers=_PLAIN_NO_SNIFF, body=body.encode())


def not_sniffed(reply: Reply) -> Reply:
    """The same with a header that has browsers take the content type as it is."""
    return msgspec.structs.replace(reply, headers=(*reply.headers, _NO_SNIFF))


def nothing_there() -> Reply:
    """What is said of a path that leads nowhere."""
    return unsniffed_text(404, "404 page not found\n")


def unavailable() -> Reply:
    """What is said where another server would answer."""
    return unsniffed_text(503, "service unavailable\n")


def document(status: int, body: bytes, *, language: str = JSON, pretty: bool = False) -> Reply:
    """An encoded JSON document, or one in protobuf; an empty body is none."""
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


def refused(refusal: StatusError, *, language: str = JSON, pretty: bool = False) -> Reply:
    """A no."""
    found = refusal.status()
    body = encode_document(found) if language == PROTOBUF else msgspec.json.encode(found)
    reply = document(refusal.code, body, language=language, pretty=pretty)
    if refusal.retry_after_seconds:
        after = (("retry-after", str(refusal.retry_after_seconds)),)
        reply = msgspec.structs.replace(reply, headers=reply.headers + after)
    return reply


def warned(reply: Reply, warnings: list[str]) -> Reply:
    """The same with something said beside it, each thing once, and not more than clients take."""
    if not warnings:
        return reply
    lines = tuple(("warning", f"299 - {_quoted(each)}") for each in _short(warnings))
    return msgspec.structs.replace(reply, headers=reply.headers + lines)


def _short(warnings: list[str]) -> Iterator[str]:
    different = dict.fromkeys(warnings)
    if sum(map(len, different)) <= MOST_WARNING:
        yield from different
        return
    said = 0
    for each in different:
        if said >= MOST_WARNING:
            return
        yield each[:MOST_SENTENCE]
        said += len(each[:MOST_SENTENCE])


def _quoted(sentence: str) -> str:
    escaped = sentence.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        escaped = "".join(each if each.isprintable() else " " for each in escaped)
    return f'"{escaped}"'


def wants_layout(request: Request, info: RequestInfo) -> bool:
    """Whether a person will read the answer."""
    if "pretty" in info.query:
        return info.flag("pretty")
    return header(request, "User-Agent").startswith(_READERS)
