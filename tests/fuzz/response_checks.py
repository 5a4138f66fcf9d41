"""Checks of responses, and of the server's state afterwards."""

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from steersman.names import GroupVersionKind
from steersman.wire import Reply, Request
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF, Messages, open_envelope
from steersman_cluster.apiserver.schema.protobuf.wire_format import (
    CONTENT,
    TEXT,
    Malformed,
    MessageDecoder,
    one,
    part,
)
from tests.fuzz.request_generator import in_words

# Errors that a real server returns as well, with the same text.
REAL_FAILURES = (
    re.compile(r"resourceVersion should not be set on objects to be created"),
    re.compile(r"etcdserver: request is too large"),
    re.compile(r"failed to create typed (patch|live) object"),
    # An apply of an object that is valid by its schema and not by its Go type.
    re.compile(r"failed to convert new object"),
    re.compile(r"resourceVersion: Invalid value"),
    re.compile(r"strconv.ParseUint: parsing .*: invalid syntax"),  # a resourceVersion in a body
    re.compile(r"target\..*: "),  # in a Binding
    re.compile(r"the spec replicas field .* does not exist"),
    # The failure is observed, and so a finding already.
    re.compile(r"the server failed to handle the request"),
)

SLOWEST_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A violated property: the scenario, the last request, and the reason."""

    what: str  # equal for all findings of one cause
    seed: int
    step: int
    text: str

    def __str__(self) -> str:
        return f"{self.what}\n  seed {self.seed}, request {self.step}: {self.text}"


def cause_of(error: BaseException) -> tuple[str, str]:
    """The type of an error, its place, its message and its call chain."""
    frames = [
        f"{each.filename.rpartition('steersman/')[2]}:{each.lineno} {each.name}"
        for each in traceback.extract_tb(error.__traceback__)
    ]
    place = next((each for each in reversed(frames) if each.startswith("apiserver")), "nowhere")
    return f"{type(error).__name__} at {place}", f"{str(error)[:200]} ({', '.join(frames[-6:])})"


def faults(request: Request, reply: Reply, body: bytes) -> Iterator[str]:
    """All problems of one response, for any request."""
    for name, value in reply.headers:
        if any(letter in "\r\n\0" for letter in name + value):
            yield f"a header of the answer has control characters: {name}"
    if request.method == "HEAD" and not body:
        return
    decoded = _decoded(reply, body)
    if isinstance(decoded, _Undecodable):
        yield f"the answer cannot be read: {decoded.why}"
        return
    is_status = isinstance(decoded, dict) and decoded.get("kind") == "Status"
    if reply.status >= 400 and is_status and decoded.get("code") != reply.status:
        yield f"a Status of code {decoded.get('code')} with status {reply.status}"
    if reply.status == 500 and not _is_bad_strategic_patch(request, decoded):
        message = str(decoded.get("message") if isinstance(decoded, dict) else decoded)
        if not any(each.search(message) for each in REAL_FAILURES):
            yield f"500: {re.sub(r'[0-9]+', 'N', message)[:90]}"
    elif reply.status > 500 and reply.status != 504:
        yield f"status {reply.status}"


def _is_bad_strategic_patch(request: Request, status: Any) -> bool:
    """A real server returns these as its own errors, with Go's messages and without a reason."""
    language = ("Content-Type", "application/strategic-merge-patch+json")
    return language in request.headers and "reason" not in status


@dataclass(frozen=True, slots=True)
class _Undecodable:
    why: str


def _decoded(reply: Reply, body: bytes) -> Any:
    content_type = dict(reply.headers).get("content-type", "")
    try:
        if content_type == PROTOBUF:
            return _from_message(body)
        if content_type == f"{PROTOBUF};stream=watch":
            return [_from_message(each) for each in _framed(body)]
        if reply.stream is not None:
            return [msgspec.json.decode(line) for line in body.splitlines()]
        if content_type.startswith("application/json"):
            return msgspec.json.decode(body)
        if content_type == "application/yaml":
            return yaml.load(body, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
        return body.decode()
    except (ValueError, Malformed, yaml.YAMLError, RecursionError) as error:
        return _Undecodable(f"{content_type}: {type(error).__name__}")


def _from_message(body: bytes) -> Any:
    """The decoded message, if it is of a type with only one encoding."""
    envelope = open_envelope(body)
    schemas = BuiltinSchemas.read()
    try:
        schema = schemas.of(GroupVersionKind.of(envelope.api_version or "v1", envelope.kind))
    except KeyError:
        return {"kind": envelope.kind}  # metadata alone, or aggregated discovery
    read = _MESSAGES.of(schema).read(envelope.raw, {})
    return {**read, "kind": envelope.kind, "apiVersion": envelope.api_version}


def _framed(body: bytes) -> Iterator[bytes]:
    """The bodies in the events of a watch."""
    while body:
        size = int.from_bytes(body[:4], "big")
        event = _WATCH_EVENT.read(body[4 : 4 + size], {})
        yield event["object"]["raw"]
        body = body[4 + size :]


_MESSAGES = Messages()
_WATCH_EVENT = MessageDecoder(
    "WatchEvent",
    {
        1: one("type", "Type", TEXT),
        2: part(
            "object", "Object", MessageDecoder("RawExtension", {1: one("raw", "Raw", CONTENT)})
        ),
    },
)


def finding(what: str, detail: str, *, seed: int, step: int, request: Request | None) -> Finding:
    """A finding about the response to a request."""
    text = "at the end" if request is None else in_words(request)
    text += f"\n    {detail}" if detail else ""
    return Finding(what=what, seed=seed, step=step, text=text)
