"""YAML as kube-apiserver reads it: JSON values, and complaints about duplicate keys.

Values are built directly from the parser's events, and are counted at the same time. Without a
limit, a few aliases of aliases could expand to more than the memory can contain.
"""

import re
from math import isinf
from typing import Any, Final, NamedTuple, TypeAlias

import yaml
from yaml.scanner import ScannerError

# Enough for the largest accepted body, after the expansion of aliases.
MAX_NODES = 400_000
# Far deeper than any object, but safe for the Python stack.
MAX_DEPTH = 200

Value: TypeAlias = Any

_TRUE: Final = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE: Final = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_CONSTANTS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
}
_INTEGER: Final = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))"
)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# Python's int() rejects thousands of digits; Go accepts no longer integers than this.
_MAX_NUMBER_LENGTH: Final = 64


class BadYaml(Exception):
    """The text is not YAML; the message is that of Go's parser."""


class Read(NamedTuple):
    """The value of the first YAML document, and the complaints about the document's text."""

    value: Value
    complaints: list[str]


def parse_yaml(body: bytes) -> Read:
    """Parse the first YAML document in ``body``; its value is None if there is no document."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = loader(body)
        try:
            reader = _Reader(events)
            return Read(reader.document(), reader.complaints())
        finally:
            events.dispose()
    except yaml.MarkedYAMLError as error:
        raise BadYaml(f"yaml: {_where(error)}{_reworded(error.problem or '')}") from None
    except (yaml.YAMLError, ValueError):
        raise BadYaml("yaml: control characters are not allowed") from None


def _reworded(problem: str) -> str:
    """Return the message of libyaml, which Go's parser has too, for one of PyYAML's own parser."""
    if problem == "mapping values are not allowed here":
        return "mapping values are not allowed in this context"
    return re.sub("^found character .* that cannot", "found character that cannot", problem)


def _where(error: yaml.MarkedYAMLError) -> str:
    # In Go, scanner errors count lines from one, and parser errors from zero.
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    if line and isinstance(error, ScannerError):
        line += 1
    return f"line {line}: " if line else ""


class _Reader:
    def __init__(self, events: Any) -> None:
        self._events = events
        self._anchors: dict[str, Value] = {}
        self._nodes = 0
        self._repeated: list[str] = []

    def document(self) -> Value:
        self._events.get_event()  # the start of the stream
        if isinstance(self._events.get_event(), yaml.StreamEndEvent):
            return None
        return self._value(self._events.get_event(), 1)

    def complaints(self) -> list[str]:
        if not self._repeated:
            return []
        return ["yaml: unmarshal errors:\n" + "\n".join(f"  {each}" for each in self._repeated)]

    def _value(self, event: Any, depth: int) -> Value:
        self._count(depth)
        match event:
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise BadYaml(f"yaml: unknown anchor '{event.anchor}' referenced")
                return self._copied(self._anchors[event.anchor], depth)
            case yaml.ScalarEvent():
                value = _plain(event.value) if _is_plain(event) else event.value
            case yaml.SequenceStartEvent():
                value = []
                while not isinstance(item := self._events.get_event(), yaml.SequenceEndEvent):
                    value.append(self._value(item, depth + 1))
            case _:
                value = self._mapping(depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _copied(self, value: Value, depth: int) -> Value:
        """Return a copy of an anchor's value, because the value of each alias may be changed."""
        self._count(depth)
        if isinstance(value, dict):
            return {key: self._copied(each, depth + 1) for key, each in value.items()}
        if isinstance(value, list):
            return [self._copied(each, depth + 1) for each in value]
        return value

    def _count(self, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise BadYaml("yaml: document contains excessive aliasing")
        if depth > MAX_DEPTH:
            raise BadYaml(f"yaml: exceeded max depth of {MAX_DEPTH}")

    def _mapping(self, depth: int) -> dict[str, Value]:
        entries: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        # A number and a string with the same text are different keys. The later one wins.
        seen: set[tuple[type, str]] = set()
        while not isinstance(event := self._events.get_event(), yaml.MappingEndEvent):
            key = self._value(event, depth + 1)
            value_event = self._events.get_event()
            value = self._value(value_event, depth + 1)
            if key == "<<" and _is_plain(event):
                for each in value if isinstance(value, list) else [value]:
                    if not isinstance(each, dict):
                        raise BadYaml(
                            "yaml: map merge requires map or sequence of maps as the value"
                        )
                    merged = each | merged
                continue
            name = _key(key)
            if (type(key), name) in seen:
                line = value_event.start_mark.line + 1
                self._repeated.append(f'line {line}: key "{name}" already set in map')
            seen.add((type(key), name))
            entries[name] = value
        return merged | entries


def _key(key: Value) -> str:
    match key:
        case str():
            return key
        case bool():
            return "true" if key else "false"
        case int() | float():
            return f"{key:g}" if isinstance(key, float) else str(key)
        case None:
            raise BadYaml("unsupported map key of type: %!s(<nil>), key: <nil>")
        case _:
            raise BadYaml("yaml: invalid map key")


def _is_plain(event: Any) -> bool:
    """Return whether a scalar has neither quotes nor a tag, so its type depends on its text."""
    return isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.tag is None


def _plain(text: str) -> Value:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789" or len(text) > _MAX_NUMBER_LENGTH:
        return text
    digits = text.replace("_", "")
    if found := _INTEGER.fullmatch(digits):
        sign, *by_base = found.groups()
        number, base = next(
            (number, base) for number, base in zip(by_base, (16, 2, 8, 10), strict=True) if number
        )
        return int(sign + number, base)
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        if isinf(number):
            return text
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text
