"""Scenarios: requests in order, each of which may refer to earlier responses.

``{{created.metadata.uid}}`` in a path, a header or a body is replaced by that value in the same
server's response to the request ``created``.
"""

import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import msgspec

Json: TypeAlias = Any

PLACEHOLDER = re.compile(r"\{\{([\w-]+)((?:\.[^.{}]+)*)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response; the body of a watch consists of all its events."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def json(self) -> Json:
        """The decoded body; empty if it is not JSON."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


class Stream(Protocol):
    """An open watch."""

    def received(self, is_last: Callable[[bytes], bool]) -> Answer:
        """The lines up to the last one, or until a timeout; then the watch is closed."""
        ...


class Server(Protocol):
    """The interface of a server for the differential test."""

    @property
    def token(self) -> str:
        """The bearer token of the user ``admin`` of the group ``system:masters``."""
        ...

    def call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request and read the whole response; it is thread-safe."""
        ...

    def follow(self, path: str, headers: Mapping[str, str]) -> Stream:
        """Start a watch, which delivers all later events."""
        ...

    def wait_for_second(self) -> None:
        """Wait until a new second has begun."""
        ...


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that are sent unchanged."""

    content: bytes


# Whether a server has settled.
Settled: TypeAlias = Callable[[Answer], bool]

GONE: Final = object()


@dataclass(frozen=True, slots=True)
class Changed:
    """An earlier response with these changes: see ``edited``."""

    request: str
    changes: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Last:
    """The last event of a scenario in a watch."""

    type: str
    name: str

    def matches(self, line: bytes) -> bool:
        """Whether the line of a watch is this event."""
        event = Answer(status=200, headers=(), body=line).json() or {}
        shown = event.get("object", {})
        rows = shown.get("rows", [{}])  # of a table, which has one
        metadata = (rows[0].get("object") or shown).get("metadata", {})
        names = (metadata.get("name"), *rows[0].get("cells", ()))
        return bool(event.get("type") == self.type and self.name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a scenario; with ``until``, it is repeated until the server has settled.

    A watch with ``ends_with`` stays open during the scenario, until that event. A request with
    ``new_second`` waits for the next second, which begins with it.
    """

    name: str
    method: str
    path: str
    body: Json | Raw | Changed | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    until: Settled | None = None
    ends_with: Last | None = None
    new_second: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Requests in order, independent of other scenarios; in a separate namespace if one is named.

    A scenario with ``first`` has a new server. The others run after all of those, in any order, but
    after the scenarios that they need.
    """

    name: str
    requests: tuple[Request, ...]
    namespace: str | None = None
    needs: tuple[str, ...] = ()
    first: bool = False

    def __post_init__(self) -> None:
        names = [request.name for request in self.requests]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"{self.name} has several requests of one name: {sorted(twice)}")


def slug(name: str) -> str:
    """A unique and deterministic name for objects of the scenario of this name."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{words[-34:].strip('-')}-{zlib.crc32(name.encode()):08x}"


def edited(document: Json, changes: Mapping[str, Json]) -> Json:
    """A copy in which each dotted path has its new value or is removed."""
    result = json.loads(json.dumps(document))  # much quicker than deepcopy
    for path, value in changes.items():
        *way, last = path.split(".")
        place = result
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        if isinstance(place, list):
            _edit_list(place, last, value)
        elif value is GONE:
            place.pop(last, None)
        else:
            place[last] = value
    return result


def _edit_list(items: list[Json], last: str, value: Json) -> None:
    if last == "-":
        items.append(value)
    elif value is GONE:
        del items[int(last)]
    else:
        items[int(last)] = value


def resolved(value: Json, answers: Mapping[str, Json]) -> Json:
    """The value, with every placeholder replaced by the value in the response."""
    match value:
        case str():
            whole = PLACEHOLDER.fullmatch(value)
            if whole:
                return _answered(whole, answers)
            return PLACEHOLDER.sub(lambda found: str(_answered(found, answers)), value)
        case dict():
            return {resolved(k, answers): resolved(v, answers) for k, v in value.items()}
        case list() | tuple():
            return [resolved(each, answers) for each in value]
        case Changed(request, changes):
            known = answers.get(request)
            base = known if isinstance(known, dict) else {}
            return resolved(edited(base, changes), answers)
        case _:
            return value


def _answered(found: re.Match[str], answers: Mapping[str, Json]) -> Json:
    value = answers.get(found[1])
    for step in filter(None, found[2].split(".")):
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    # The request is sent even after an unexpected response, which is reported as a difference.
    return "unanswered" if value is None else value
