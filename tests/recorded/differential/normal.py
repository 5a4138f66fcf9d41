"""Replaces values that always differ between two servers, by a fixed list of paths.

A generated value, such as a uid, is replaced by the place of its first occurrence, so that equal
values stay equal: ``<uid of created>``. A value of the wrong form is kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from tests.recorded.differential.scenario import Answer, Json
from tests.recorded.differential.yaml_documents import from_yaml

YAML = "application/yaml"

HEADERS = ("Content-Type", "Location", "Retry-After", "Warning")

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
UID_LETTERS = 36
VERSION = re.compile(r"[1-9][0-9]*")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ADDRESS = re.compile(r"10\.0\.\d+\.\d+")
NODE_PORT = re.compile(r"3[0-2]\d{3}")
OF_DELETING = frozenset(("foregroundDeletion", "orphan"))
SUFFIX = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}")
# The age of a new object, or a recent time; longer ones are relative to times that a scenario sets.
AGE = re.compile(rf"\d\d?s|{MOMENT.pattern}")
ANY = re.compile(r".+", re.DOTALL)
# Ages of a day or more: a scenario sets times in the past, so they depend on today's date.
LONG_AGE = re.compile(r"\b\d+(?:y(?:\d+d)?|d(?:\d+h)?)\b")
FAILED_ALLOCATION = re.compile(r'failed to allocate IP: IPAddress.networking.k8s.io "10[0-9.]+"')

# The name of a generated value in a scenario, by path.
NAMED = {
    "cells[]": ("address", ADDRESS),
    "clusterIP": ("address", ADDRESS),
    "clusterIPs[]": ("address", ADDRESS),
    "healthCheckNodePort": ("port", NODE_PORT),
    "ports[].nodePort": ("port", NODE_PORT),
    "resourceVersion": ("version", VERSION),
    "uid": ("uid", UID),
}

# Values that depend on the time, the build or the address, by path.
BLANKED = {
    "address": ("host", re.compile(r"127\.0\.0\.1:\d+")),
    "buildDate": ("build", ANY),
    "cells[]": ("age", AGE),
    "compiler": ("build", ANY),
    "conditions[].lastTransitionTime": ("time", MOMENT),
    "conditions[].lastUpdateTime": ("time", MOMENT),
    "continue": ("token", ANY),
    "creationTimestamp": ("time", MOMENT),
    "deletionTimestamp": ("time", MOMENT),
    "gitCommit": ("build", ANY),
    "gitTreeState": ("build", ANY),
    "gitVersion": ("build", ANY),
    "goVersion": ("build", ANY),
    "managedFields[].time": ("time", MOMENT),
    "platform": ("build", ANY),
    "status.lastPhaseTransitionTime": ("time", MOMENT),
    "serverAddress": ("host", re.compile(r"127\.0\.0\.1:\d+")),
    "serverRelativeURL": ("url", ANY),
    "status.expirationTimestamp": ("time", MOMENT),
    "status.token": ("token", ANY),
}

# The last names of these paths.
LAST_NAMES = frozenset(path.rpartition(".")[2] for path in (*NAMED, *BLANKED))

# The parts of messages that contain times and versions, and the words before them.
SENTENCES = (
    (":3", re.compile(r"(?<=\d:)3[0-2]\d{3}(?=/(TCP|UDP))"), "<port>"),
    ("current: ", re.compile(r"current: \d+"), "current: <version>"),
    ("in record", re.compile(r"in record \(\d+\)"), "in record (<version>)"),
    ("in object meta", re.compile(r"in object meta: \d+"), "in object meta: <version>"),
    ("failed to allocate", FAILED_ALLOCATION, "<allocation>"),
    (
        "resourceVersion",
        re.compile(r'((?<=resourceVersion\\":\\")|(?<=resourceVersion":"))\d+'),
        "<version>",
    ),
    ("Bad_", re.compile(r"(?<=Bad_)[bcdfghjklmnpqrstvwxz2456789]{5}"), "<generated>"),
    (r'":\"', re.compile(r'(?<=":\\")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'), "<time>"),
    ("selfType", re.compile(r"selfType\d+"), "selfType"),
    (
        "in the precondition",
        re.compile(r"in the precondition \(\d+\)"),
        "in the precondition (<version>)",
    ),
)

# The prefix of managers in an object that is part of a message.
MANAGERS = r"managedFields\":["
BRACKETS = re.compile(r"[\[\]]")

# The shortest text that can contain a message or a uid.
MIN_TEXT_LENGTH = 9

# The expected value of a part for which none is known; equal to no JSON value.
UNKNOWN: Json = object()

# The names of a field and its parents, with [] for an element.
Place: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizedResponse:
    """A response in a comparable form."""

    status: int
    headers: Mapping[str, Json]
    body: Json


@dataclass(slots=True)
class Normalizer:
    """Normalizes the responses of one scenario, in order."""

    _names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _said: dict[str, str] = field(default_factory=dict[str, str])
    _events: dict[bytes, Json] = field(default_factory=dict[bytes, Json])
    _request: str = ""
    _counts: dict[str, int] = field(default_factory=dict[str, int])

    def normalized(
        self, request: str, answer: Answer, expected: NormalizedResponse | None = None
    ) -> NormalizedResponse:
        """The normalized response to the request of this name."""
        self._request = request
        self._counts = {}
        body = _in_order(self._body(answer, UNKNOWN if expected is None else expected.body))
        headers: dict[str, list[str]] = {}
        for name, value in answer.headers:
            if name.title() in HEADERS:
                headers.setdefault(name.title(), []).append(self._text(value))
        return NormalizedResponse(status=answer.status, headers=headers, body=body)

    def _body(self, answer: Answer, expected: Json) -> Json:
        decoded = _decoded(answer)
        if not isinstance(decoded, list) or not all(map(_is_event, decoded)):
            return self._value(decoded, ("", ""), expected)
        # Several watches of a scenario have the same events.
        kept: list[Json] = []
        for event, hint in zip(decoded, _items(expected, decoded), strict=True):
            written = msgspec.json.encode(event)
            if written not in self._events:
                self._events[written] = self._value(event, ("", "[]"), hint)
            kept.append(self._events[written])
        return kept

    def _value(self, value: Json, place: Place, expected: Json) -> Json:
        if value == expected:
            return value
        match value:
            case str():
                return self._scalar(value, place)
            case dict():
                if place[1] == "fieldsV1":
                    return self._fields(value)
                return self._object(value, place, expected)
            case list():
                around, last = place
                items = value
                if last == "managedFields":
                    items = sorted(value, key=_manager)
                elif last == "causes":
                    items = _once(value)
                elif last == "finalizers" and not OF_DELETING.isdisjoint(map(str, value)):
                    # Those of a Namespace have a random order.
                    items = sorted(value)
                inside = (around, f"{last}[]")
                return [
                    self._value(each, inside, hint)
                    for each, hint in zip(items, _items(expected, items), strict=True)
                ]
            case int() if place[1] in ("nodePort", "healthCheckNodePort"):
                return self._scalar(str(value), place)
            case _:
                return value

    def _object(self, value: Mapping[str, Json], place: Place, expected: Json) -> Json:
        prefix = value.get("generateName")
        name = value.get("name")
        if isinstance(prefix, str) and isinstance(name, str):
            made_up = name.removeprefix(prefix)
            if made_up != name and SUFFIX.fullmatch(made_up):
                self._name("name", name, shown=f"{prefix}<generated in {{}}>")
        inside = place[1]
        hints: Mapping[str, Json] = expected if isinstance(expected, dict) else {}
        return {
            key if key in hints else self._text(key): self._value(
                each, (inside, key), hints.get(key, UNKNOWN)
            )
            for key, each in sorted(_undated(value).items())
        }

    def _fields(self, owned: Json) -> Json:
        """A field set, in which only keys and values of list items can be generated."""
        if not isinstance(owned, dict):
            return owned
        return {
            self._text(name) if name[:2] in ("k:", "v:") else name: self._fields(each)
            for name, each in owned.items()
        }

    def _scalar(self, value: str, place: Place) -> str:
        around, last = place
        if last in LAST_NAMES:
            whole = f"{around}.{last}"
            for rules in (NAMED, BLANKED):
                for path in (last, whole):
                    kind, shape = rules.get(path, ("", None))
                    if shape is not None and shape.fullmatch(value):
                        return self._name(kind, value) if rules is NAMED else f"<{kind}>"
        if last == "cells[]":
            value = LONG_AGE.sub("<long age>", value)
        return self._text(value)

    def _name(self, kind: str, value: str, *, shown: str = "") -> str:
        known = self._names.get((kind, value))
        if known is None:
            # Not numbered across the scenario, because a missing one would change all later
            # numbers.
            nth = self._counts[kind] = self._counts.get(kind, 0) + 1
            source = self._request if nth == 1 else f"{self._request} #{nth}"
            known = (shown or f"<{kind} of {{}}>").format(source)
            self._names[kind, value] = known
            if kind in ("name", "address"):
                self._said[value] = known
        return known

    def _text(self, value: str) -> str:
        if len(value) < MIN_TEXT_LENGTH and not self._said:
            return value
        if len(value) >= UID_LETTERS:
            value = UID.sub(lambda found: self._name("uid", found[0]), value)
        for name, shown in self._said.items():
            if name in value:
                value = value.replace(name, shown)
        for words, pattern, shown in SENTENCES:
            if words in value:
                value = pattern.sub(shown, value)
        return _without_managers(value) if MANAGERS in value else value


def _items(expected: Json, items: list[Json]) -> list[Json]:
    """The expected items, if there are as many."""
    if isinstance(expected, list) and len(expected) == len(items):
        return expected
    return [UNKNOWN] * len(items)


def _without_managers(sentence: str) -> str:
    """A message that contains an object, without the object's managers: see ``_manager``."""
    begin = sentence.index(MANAGERS) + len(MANAGERS)
    depth, end = 1, len(sentence)
    for bracket in BRACKETS.finditer(sentence, begin):
        depth += 1 if bracket[0] == "[" else -1
        if depth == 0:
            end = bracket.end()
            break
    return f"{sentence[:begin]}<managers>{_rest(sentence[end:])}"


def _rest(sentence: str) -> str:
    return _without_managers(sentence) if MANAGERS in sentence else sentence


def _decoded(answer: Answer) -> Json:
    """A document, the events of a watch, or text."""
    if any(value == YAML and name.lower() == "content-type" for name, value in answer.headers):
        return from_yaml(answer.body.decode(errors="replace"))
    try:
        lines = [msgspec.json.decode(line) for line in answer.body.splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError):
        whole = answer.json()
        return answer.body.decode(errors="replace") if whole is None else whole
    if all(map(_is_event, lines)):
        return [event for event in lines if not _is_idle(event)] or ""
    return lines[0] if len(lines) == 1 else lines


def _is_event(line: Json) -> bool:
    return isinstance(line, dict) and line.keys() == {"type", "object"}


def _is_idle(event: Json) -> bool:
    """Whether it is a periodic bookmark, whose time the server chooses."""
    shown = event["object"]
    (row,) = shown.get("rows") or [{}]  # of a table
    marks = (row.get("object") or shown)["metadata"].get("annotations", {})
    return event["type"] == "BOOKMARK" and "k8s.io/initial-events-end" not in marks


def _in_order(body: Json) -> Json:
    """The body, sorted where the order of a real server is random: for custom kinds."""
    match body:
        case {"groupVersion": str(version), "resources": list(resources)}:
            if ".example.com/" in version:
                return {**body, "resources": sorted(resources, key=lambda each: str(each["name"]))}
        case {"message": str(message), "details": {"group": str(group), "causes": list(causes)}}:
            if group.endswith(".example.com") and len(causes) > 1:
                sentences = [f"{each.get('field')}: {each.get('message')}" for each in causes]
                return {
                    **body,
                    "message": message.replace(", ".join(dict.fromkeys(sentences)), "<causes>"),
                    "details": {**body["details"], "causes": sorted(causes, key=_shown)},
                }
        case _:
            pass
    return body


def _shown(cause: Json) -> str:
    return str(dict(sorted(cause.items())))


def _once(causes: list[Json]) -> list[Json]:
    """Without repeated causes, of which the real server sends up to four."""
    return [each for number, each in enumerate(causes) if each not in causes[:number]]


def _undated(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """A list or a bookmark without its version, which is the current one and not an object's."""
    match value:
        case {"type": "BOOKMARK", "object": {"rows": [dict(row)], **table}}:
            rows = [{**row, "object": _bookmark(row["object"])}]
            return {**value, "object": {**table, "rows": rows}}
        case {"type": "BOOKMARK", "object": dict(marked)}:
            return {**value, "object": _bookmark(marked)}
        case {"items": list() | None, "metadata": dict(metadata)}:
            return {**value, "metadata": _now(metadata)}
        # The version of a table with one object is that of the object, which is in the row.
        case {"kind": "Table", "metadata": dict(metadata)}:
            return {**value, "metadata": _now(metadata)}
        case _:
            return value


def _bookmark(marked: Json) -> Json:
    return marked and {**marked, "metadata": _now(marked["metadata"])}


def _now(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    if VERSION.fullmatch(metadata.get("resourceVersion", "")):
        return {**metadata, "resourceVersion": "<version of now>"}
    return metadata


def _manager(entry: Json) -> Json:
    """Managers are ordered by second, and two writes may or may not be in the same second."""
    return [
        str(entry.get(key, "")) for key in ("operation", "manager", "apiVersion", "subresource")
    ]
