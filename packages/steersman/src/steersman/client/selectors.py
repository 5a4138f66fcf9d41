"""Label and field selectors as values that cannot be malformed.

    Labels.equal({"app": "web"}) & Labels.has("tier")
    Fields.equal({"status.phase": "Running"})

``str()`` returns the text for a request; ``Labels.matches`` evaluates the selector in memory.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from steersman.errors import BadValue
from steersman.names import check_label_key, check_label_value

Operator = Literal["in", "notin", "exists", "missing", "gt", "lt"]

_OPERATORS: Final[Mapping[str, Operator]] = {
    "in": "in",
    "=": "in",
    "==": "in",
    "notin": "notin",
    "!=": "notin",
    ">": "gt",
    "<": "lt",
}
_FIELD_PATH: Final = re.compile(r"[A-Za-z0-9_./\[\]'-]+")


class _Requirement(msgspec.Struct, frozen=True):
    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.operator:
            case "exists":
                return self.key
            case "missing":
                return f"!{self.key}"
            case "gt":
                return f"{self.key}>{self.values[0]}"
            case "lt":
                return f"{self.key}<{self.values[0]}"
            case "in" if len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
            case _:
                return f"{self.key} {self.operator} ({','.join(self.values)})"

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "missing":
                return value is None
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case "gt" | "lt":
                number = _whole_number(value or "")
                limit = int(self.values[0])
                if number is None:
                    return False
                return number > limit if self.operator == "gt" else number < limit


class Labels(msgspec.Struct, frozen=True):
    """A label selector. It matches an object if all of its requirements match.

    A selector without requirements therefore matches all objects.
    """

    requirements: tuple[_Requirement, ...] = ()

    @classmethod
    def equal(cls, labels: Mapping[str, str]) -> "Labels":
        """Return a selector that requires each label to have the value given in ``labels``."""
        return cls(tuple(_required(key, "in", (value,)) for key, value in labels.items()))

    @classmethod
    def one_of(cls, key: str, values: Iterable[str]) -> "Labels":
        """Return a selector that requires the label ``key`` to have one of ``values``."""
        return cls((_required(key, "in", tuple(values)),))

    @classmethod
    def none_of(cls, key: str, values: Iterable[str]) -> "Labels":
        """Return a selector that requires the label ``key`` to have none of ``values``.

        The selector also matches an object without this label.
        """
        return cls((_required(key, "notin", tuple(values)),))

    @classmethod
    def has(cls, key: str) -> "Labels":
        """Return a selector that requires the label ``key`` to exist, with any value."""
        return cls((_required(key, "exists"),))

    @classmethod
    def lacks(cls, key: str) -> "Labels":
        """Return a selector that requires the label ``key`` not to exist."""
        return cls((_required(key, "missing"),))

    @classmethod
    def greater_than(cls, key: str, number: int) -> "Labels":
        """Return a selector that requires the label ``key`` to be an integer above ``number``."""
        return cls((_required(key, "gt", (str(number),)),))

    @classmethod
    def less_than(cls, key: str, number: int) -> "Labels":
        """Return a selector that requires the label ``key`` to be an integer below ``number``."""
        return cls((_required(key, "lt", (str(number),)),))

    @classmethod
    def parse(cls, text: str) -> "Labels":
        """Parse a selector in the format of ``kubectl -l``: ``app=web,tier in (a,b),!legacy``."""
        return cls(tuple(_parsed(part, text) for part in _split(text)))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the selector matches an object that has ``labels``."""
        return all(each.matches(labels) for each in self.requirements)

    def __and__(self, other: "Labels") -> "Labels":
        return Labels(self.requirements + other.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


class Fields(msgspec.Struct, frozen=True):
    """A field selector. Which fields can be selected depends on the kind and the API server."""

    terms: tuple[tuple[str, Literal["=", "!="], str], ...] = ()

    def __post_init__(self) -> None:
        for path, _, _ in self.terms:
            if not _FIELD_PATH.fullmatch(path):
                raise BadValue(
                    wanted="a field selector's path",
                    value=path,
                    rule="it must be a path like status.phase",
                )

    @classmethod
    def equal(cls, fields: Mapping[str, str]) -> "Fields":
        """Return a selector that requires each field to have the value given in ``fields``."""
        return cls(tuple((path, "=", value) for path, value in fields.items()))

    @classmethod
    def differ(cls, fields: Mapping[str, str]) -> "Fields":
        """Return a selector that requires each field not to have the value given in ``fields``."""
        return cls(tuple((path, "!=", value) for path, value in fields.items()))

    def __and__(self, other: "Fields") -> "Fields":
        return Fields(self.terms + other.terms)

    def __str__(self) -> str:
        return ",".join(f"{path}{sign}{_escaped(value)}" for path, sign, value in self.terms)


def _required(key: str, operator: Operator, values: tuple[str, ...] = ()) -> _Requirement:
    if operator in ("in", "notin") and not values:
        raise BadValue(
            wanted=f"a selector on {key}", value=values, rule="it must have at least one value"
        )
    # Sorted and without duplicates, so that equal selectors are equal values and equal requests.
    unique = tuple(sorted({check_label_value(value) for value in values}))
    if operator in ("gt", "lt") and _whole_number(unique[0]) is None:
        raise BadValue(
            wanted=f"a limit for {key}", value=unique[0], rule="it must be a 64-bit integer"
        )
    return _Requirement(check_label_key(key), operator, unique)


def _escaped(value: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", value)


def _whole_number(value: str) -> int | None:
    """Return the integer in ``value`` if the server would parse it, with 64 bits; otherwise
    ``None``.
    """
    number = int(value) if re.fullmatch("[0-9]{1,63}", value) else None
    return number if number is not None and number < 2**63 else None


def _split(text: str) -> list[str]:
    """Split the text at commas outside of parentheses."""
    return re.findall(r"((?:[^,(]|\([^)]*\)?)*),", f"{text},") if text.strip() else []


def _parsed(part: str, whole: str) -> _Requirement:
    part = part.strip()
    if match := re.fullmatch(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)", part):
        key, operator, inside = match.groups()
        values = tuple(value.strip() for value in inside.split(","))
        return _required(key, _OPERATORS[operator], values)
    if match := re.fullmatch(r"([^\s!=<>]+)\s*(==|=|!=|>|<)\s*([^\s=<>]*)", part):
        key, sign, value = match.groups()
        return _required(key, _OPERATORS[sign], (value,))
    if match := re.fullmatch(r"(!?)\s*([^\s!=<>()]+)", part):
        return _required(match[2], "missing" if match[1] else "exists")
    raise BadValue(
        wanted="a label selector",
        value=whole,
        rule="its parts must be KEY, !KEY, KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B),"
        " KEY>N or KEY<N, joined by commas",
    )
