"""What two servers can never agree on, by a fixed list of paths.

A value that is only made up, such as a uid, is replaced by where it was first seen, so that the
same one is the same still: ``<uid of created>``. A value of the wrong shape is left alone.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from tests.real.differential.story import Answer, Json

YAML = "application/yaml"

HEADERS = ("Content-Type", "Location", "Retry-After", "Warning")

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
VERSION = re.compile(r"[1-9][0-9]*")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ADDRESS = re.compile(r"10\.0\.\d+\.\d+")
NODE_PORT = re.compile(r"3[0-2]\d{3}")
SUFFIX = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}")
ANY = re.compile(r".+", re.DOTALL)

# What the same thing is called wherever it turns up in a story, by path.
NAMED = {
    "clusterIP": ("address", ADDRESS),
    "clusterIPs[]": ("address", ADDRESS),
    "healthCheckNodePort": ("port", NODE_PORT),
    "ports[].nodePort": ("port", NODE_PORT),
    "resourceVersion": ("version", VERSION),
    "uid": ("uid", UID),
}

# What differs from one second, build or address to the next, by path.
BLANKED = {
    "address": ("host", re.compile(r"127\.0\.0\.1:\d+")),
    "buildDate": ("build", ANY),
    "compiler": ("build", ANY),
    "conditions[].lastTransitionTime": ("time", MOMENT),
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

# What a sentence tells of the server's clock and counter.
SENTENCES = (
    (re.compile(r"current: \d+"), "current: <version>"),
    (re.compile(r"in record \(\d+\)"), "in record (<version>)"),
    (re.compile(r"in object meta: \d+"), "in object meta: <version>"),
    (re.compile(r'failed to allocate IP: IPAddress.networking.k8s.io "10[0-9.]+"'), "<allocation>"),
    (re.compile(r'((?<=resourceVersion\\":\\")|(?<=resourceVersion":"))\d+'), "<version>"),
    (re.compile(r"(?<=Bad_)[bcdfghjklmnpqrstvwxz2456789]{5}"), "<generated>"),
    (re.compile(r'(?<=":\\")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'), "<time>"),
)

Place: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer in a form that may be compared."""

    status: int
    headers: Mapping[str, Json]
    body: Json


@dataclass(slots=True)
class Normaliser:
    """Brings the answers to one story into their normal form, in the order of the story."""

    _names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _request: str = ""
    _counts: dict[str, int] = field(default_factory=dict[str, int])

    def told(self, request: str, answer: Answer) -> Told:
        """The normal form of what was answered to the request of this name."""
        self._request = request
        self._counts = {}
        body = _in_order(self._value(_decoded(answer), ()))
        headers: dict[str, list[str]] = {}
        for name, value in answer.headers:
            if name.title() in HEADERS:
                headers.setdefault(name.title(), []).append(self._text(value))
        return Told(status=answer.status, headers=headers, body=body)

    def _value(self, value: Json, place: Place) -> Json:
        match value:
            case dict():
                return self._object(value, place)
            case list():
                inside = (*place[:-1], f"{place[-1]}[]") if place else ("[]",)
                items = value
                if place[-1:] == ("managedFields",):
                    items = sorted(value, key=_manager)
                elif place[-1:] == ("causes",):
                    items = _once(value)
                return [self._value(each, inside) for each in items]
            case str():
                return self._scalar(value, place)
            case int() if place[-1:] in (("nodePort",), ("healthCheckNodePort",)):
                return self._scalar(str(value), place)
            case _:
                return value

    def _object(self, value: Mapping[str, Json], place: Place) -> Json:
        prefix = value.get("generateName")
        name = value.get("name")
        if isinstance(prefix, str) and isinstance(name, str):
            made_up = name.removeprefix(prefix)
            if made_up != name and SUFFIX.fullmatch(made_up):
                self._name("name", name, shown=f"{prefix}<generated in {{}}>")
        return {
            self._text(key): self._value(each, (*place, key))
            for key, each in sorted(_undated(value).items())
        }

    def _scalar(self, value: str, place: Place) -> str:
        for rules in (NAMED, BLANKED):
            for length in (1, 2):
                kind, shape = rules.get(".".join(place[-length:]), ("", None))
                if shape is not None and shape.fullmatch(value):
                    return self._name(kind, value) if rules is NAMED else f"<{kind}>"
        return self._text(value)

    def _name(self, kind: str, value: str, *, shown: str = "") -> str:
        known = self._names.get((kind, value))
        if known is None:
            # Not numbered through the story: one that is missing would make all that follow differ.
            nth = self._counts[kind] = self._counts.get(kind, 0) + 1
            source = self._request if nth == 1 else f"{self._request} #{nth}"
            known = (shown or f"<{kind} of {{}}>").format(source)
            self._names[kind, value] = known
        return known

    def _text(self, value: str) -> str:
        value = UID.sub(lambda found: self._name("uid", found[0]), value)
        for (kind, name), shown in self._names.items():
            if kind in ("name", "address") and name in value:
                value = value.replace(name, shown)
        for pattern, shown in SENTENCES:
            value = pattern.sub(shown, value)
        return value


def _decoded(answer: Answer) -> Json:
    """A document, the events of a watch, or text."""
    text = answer.body.decode(errors="replace")
    if ("content-type", YAML) in {(name.lower(), value) for name, value in answer.headers}:
        return yaml.safe_load(text)
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        whole = answer.json()
        return text if whole is None else whole
    if all(map(_is_event, lines)):
        return [event for event in lines if not _is_idle(event)] or ""
    return lines[0] if len(lines) == 1 else lines


def _is_event(line: Json) -> bool:
    return isinstance(line, dict) and line.keys() == {"type", "object"}


def _is_idle(event: Json) -> bool:
    """Whether it is a bookmark that marks nothing but time; it comes when the server likes."""
    return event["type"] == "BOOKMARK" and "annotations" not in event["object"]["metadata"]


def _in_order(body: Json) -> Json:
    """The body, sorted where a real server follows chance: in what it says of custom kinds."""
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
                    "details": {**body["details"], "causes": sorted(causes, key=str)},
                }
        case _:
            pass
    return body


def _once(causes: list[Json]) -> list[Json]:
    """The real server tells some causes up to four times, as often as it looked at them."""
    return [each for number, each in enumerate(causes) if each not in causes[:number]]


def _undated(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """A list or a bookmark without its version, which is that of the moment, not of any object."""
    match value:
        case {"type": "BOOKMARK", "object": dict(marked)}:
            return {**value, "object": {**marked, "metadata": _now(marked["metadata"])}}
        case {"items": list(), "metadata": dict(metadata)}:
            return {**value, "metadata": _now(metadata)}
        case _:
            return value


def _now(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    if VERSION.fullmatch(metadata.get("resourceVersion", "")):
        return {**metadata, "resourceVersion": "<version of now>"}
    return metadata


def _manager(entry: Json) -> Json:
    """The server orders them by second; whether two were in the same one is chance."""
    return [
        str(entry.get(key, "")) for key in ("operation", "manager", "apiVersion", "subresource")
    ]
