"""Parses YAML from untrusted sources: one document, which must be a mapping, within limits.

Scalars are the same as in kubectl: text, numbers, booleans and null; a date is parsed as text. YAML
tags cannot name Python classes. An alias counts as much as the node that the alias refers to, so a
small document cannot expand to a large one. In the result, repeated parts are the same Python
object.
"""

import re
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import msgspec
import yaml

from steersman.client.access.files import CONFIG_BYTES, read_small_file
from steersman.errors import ConfigError

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"


class YamlLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a YAML document; nodes and depth are counted after aliases are expanded."""

    # A larger file is rejected within 0.1 s, most of which libyaml needs to parse the events.
    max_bytes: int = CONFIG_BYTES
    max_nodes: int = 20_000
    max_depth: int = 64


def read_yaml_mapping(path: Path, *, limits: YamlLimits = YamlLimits()) -> dict[str, Value]:
    """Return the mapping in the YAML file ``path``."""
    content = read_small_file(path, limit_bytes=limits.max_bytes)
    return parse_yaml_mapping(content, source=str(path), limits=limits)


def parse_yaml_mapping(
    content: bytes, *, source: str, limits: YamlLimits = YamlLimits()
) -> dict[str, Value]:
    """Return the mapping in ``content``, a YAML document; errors name ``source``."""
    return _parse(content, source=source, limits=limits, parser=_FASTEST)


def _parse(
    content: bytes, *, source: str, limits: YamlLimits, parser: "_Parser"
) -> dict[str, Value]:
    if len(content) > limits.max_bytes:
        raise ConfigError(
            source=source,
            problem=f"is larger than {limits.max_bytes} bytes",
            what_now="Split the file, or check that it is the correct file.",
        )
    try:
        value = _Reader(parser(content), source=source, limits=limits).only_document()
    except yaml.MarkedYAMLError as error:
        # Not chained: the error of the Python parser quotes the line, which may contain a secret.
        raise _not_yaml(
            source, f"{_line(error.problem_mark)}is not YAML: {error.problem}"
        ) from None
    except yaml.YAMLError:
        raise _not_yaml(source, "is not text in UTF-8") from None
    if value is None:
        raise ConfigError(
            source=source, problem="is empty", what_now="Check that it is the correct file."
        )
    if not isinstance(value, dict):
        raise _not_yaml(source, "is not a mapping of keys to values")
    return value


def _not_yaml(source: str, problem: str) -> ConfigError:
    return ConfigError(
        source=source,
        problem=problem,
        what_now="Correct the file, or check that it is the correct file.",
    )


_Parser: TypeAlias = "type[yaml.SafeLoader] | type[yaml.CSafeLoader]"

# The parser of libyaml, if PyYAML was built with it.
_FASTEST: Final[_Parser] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Mark(Protocol):
    @property
    def line(self) -> int: ...


_HARMLESS_TAGS: Final = {
    None,
    "!",
    *(f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str")),
}


class _AnchoredNode(msgspec.Struct, frozen=True):
    value: Value
    nodes: int
    height: int


class _Reader:
    """A builder of values directly from parser events, so that each value is counted before it is
    built.
    """

    def __init__(
        self, events: "yaml.SafeLoader | yaml.CSafeLoader", *, source: str, limits: YamlLimits
    ) -> None:
        self._events = events
        self._source = source
        self._limits = limits
        self._anchors: dict[str, _AnchoredNode] = {}
        self._nodes = 0
        self._deepest = 0

    def only_document(self) -> Value:
        self._next()  # start of the stream
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            return None
        value = self._value(self._next(), 1)
        self._next()  # end of the document
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise self._refusal(
                after, "starts a second document, but only one is allowed", "Keep only one."
            )
        return value

    def _next(self) -> yaml.Event:
        event = self._events.get_event()
        if event is None:
            raise yaml.YAMLError
        return event

    def _value(self, event: yaml.Event, depth: int) -> Value:
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event, depth)
        anchor: str | None = getattr(event, "anchor", None)
        if anchor is None:
            return self._counted(event, depth)
        nodes, max_depth = self._nodes, self._deepest
        self._deepest = depth
        value = self._counted(event, depth)
        self._anchors[anchor] = _AnchoredNode(value, self._nodes - nodes, self._deepest - depth)
        self._deepest = max(max_depth, self._deepest)
        return value

    def _repeated(self, event: yaml.AliasEvent, depth: int) -> Value:
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            raise self._refusal(
                event,
                "refers to an anchor that is not defined before it",
                "Replace it with its value.",
            )
        self._count(event, anchored.nodes, depth + anchored.height)
        return anchored.value

    def _counted(self, event: yaml.Event, depth: int) -> Value:
        self._count(event, 1, depth)
        if getattr(event, "tag", None) not in _HARMLESS_TAGS:
            raise self._refusal(event, "has a tag, but only plain values are allowed", "Remove it.")
        match event:
            case yaml.ScalarEvent():
                return _plain(event.value) if _is_plain(event) else event.value
            case yaml.SequenceStartEvent():
                return self._sequence(depth)
            case yaml.MappingStartEvent():
                return self._mapping(depth)
            case _:
                raise yaml.YAMLError

    def _count(self, event: yaml.Event, nodes: int, depth: int) -> None:
        self._nodes += nodes
        self._deepest = max(self._deepest, depth)
        if self._nodes > self._limits.max_nodes:
            raise self._refusal(
                event,
                f"exceeds {self._limits.max_nodes} values after alias expansion",
                "Split the file, or check that it is the correct file.",
            )
        if depth > self._limits.max_depth:
            raise self._refusal(
                event,
                f"is nested more than {self._limits.max_depth} levels deep",
                "Check that it is the correct file.",
            )

    def _sequence(self, depth: int) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Value]:
        entries: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._value(event, depth + 1)
            value = self._value(self._next(), depth + 1)
            if not isinstance(key, str):
                raise self._refusal(event, "has a key that is not a string", "Put it in quotes.")
            if key == "<<" and _is_plain(event):
                merged = self._merge(event, value) | merged
            elif key in entries:
                raise self._refusal(
                    event, f"contains {_shortened(key)} a second time", "Remove one."
                )
            else:
                entries[key] = value
        return merged | entries if merged else entries

    def _merge(self, event: yaml.Event, value: Value) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise self._refusal(
                    event, "merges something that is not a mapping", "Replace it with a mapping."
                )
            merged = each | merged
        return merged

    def _refusal(self, event: yaml.Event, problem: str, what_now: str) -> ConfigError:
        return ConfigError(
            source=self._source,
            problem=f"{_line(event.start_mark)}{problem}",
            what_now=what_now,
        )


def _line(mark: _Mark | None) -> str:
    return f"line {mark.line + 1} " if mark else ""


def _is_plain(event: yaml.Event) -> bool:
    """Whether ``event`` is unquoted text without a tag, which may represent another type."""
    return isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.tag is None


_CONSTANTS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"], True),
    **dict.fromkeys(["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"], False),
}
_INTEGER: Final = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES: Final = {"x": 16, "b": 2, "o": 8}

# No number in Kubernetes has more digits, and Python refuses to parse thousands of them.
_MAX_NUMBER_LENGTH: Final = 64


def _plain(text: str) -> Value:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789" or len(text) > _MAX_NUMBER_LENGTH:
        return text
    digits = text.replace("_", "")
    if found := _INTEGER.fullmatch(digits):
        sign, number = found.groups()
        octal = 8 if number.startswith("0") else 10
        base = _BASES.get(number[1:2].lower(), octal)
        return int(sign + number, base)
    if _FLOAT.fullmatch(digits):
        return float(digits)
    return text


def _shortened(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 40 else shown[:39] + "…"
