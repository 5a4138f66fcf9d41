r"""JSONPath as in kubectl and in printer columns: the first value that a path selects.

``.spec.replicas``, ``.metadata.labels.app\.example\.com/name``, ``.items[0]``, ``.items[-1:]``,
``.items[*].name``, ``.items[0,2]``, ``['a','b']``, ``..name``, and
``.status.conditions[?(@.type=="Ready")].status``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

# Maps the values that a path has selected to those that its next step selects.
Step: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]

_FIELD: Final = re.compile(r"(?:\\.|[^\s.,\[\]$@{}\\])*")
_NUMBER: Final = re.compile(r"[+-]?[\d.]+")
_WORD: Final = re.compile(r"\w[^\s.,\[\]$@{}]*")
_QUOTED: Final = re.compile(r"""'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)\"""")
_KEY: Final = re.compile(r"'([^']*)'")
_SLICE: Final = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?")
_COMPARISON: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_CONSTANTS: Final = {"true": True, "false": False}

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": lt,
    ">": gt,
    "==": eq,
    "!=": ne,
    "<=": le,
    ">=": ge,
}


class BadJsonPath(ValueError):
    """A text is not a valid JSONPath."""


class PathMismatch(Exception):
    """A JSONPath does not match a value.

    An index is out of bounds, or the path has an index where the value is no list.
    """


class JsonPath:
    """A parsed JSONPath."""

    def __init__(self, text: str) -> None:
        self._steps = _Reader(text).steps()

    def first(self, value: Any) -> tuple[bool, Any]:
        """Return whether the path selects anything in ``value``, and the first selected value."""
        try:
            found = _follow(self._steps, [value])
        except PathMismatch:
            return False, None
        return (True, found[0]) if found else (False, None)


def _follow(steps: Iterable[Step], values: Sequence[Any]) -> Sequence[Any]:
    for step in steps:
        values = step(values)
    return values


class _Reader:
    """A parser of the steps of a path."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def steps(self) -> list[Step]:
        """Return all steps; text after a closing brace is ignored."""
        steps: list[Step] = []
        while self._at < len(self._text) and not self._ahead("}"):
            if (step := self._step(descends=bool(steps) and steps[-1] is _descended)) is not None:
                steps.append(step)
        return steps

    def _ahead(self, prefix: str) -> bool:
        return self._text.startswith(prefix, self._at)

    def _step(self, *, descends: bool) -> Step | None:
        if self._ahead(".."):
            if descends:
                raise BadJsonPath("invalid multiple recursive descent")
            self._at += 1  # the second dot may be the start of a field
            if not re.match(r"\.\w", self._text[self._at :]):
                self._at += 1
            return _descended
        letter = self._text[self._at]
        if letter in " @$":
            self._at += 1
            return None
        if letter == "[":
            return self._brackets()
        if letter == ".":
            self._at += 1
            name = self._taken(_FIELD)
            return _contents if name == "*" else _field(name.replace("\\", ""))
        return self._constant(letter)

    def _constant(self, letter: str) -> Step:
        if letter in "'\"":
            single, double = self._match(_QUOTED).groups()
            return _given(_unquoted(single if double is None else double))
        if letter in "+-" or letter.isdigit():
            return _given(_number(self._taken(_NUMBER)))
        word = self._taken(_WORD)
        return _given(_CONSTANTS[word]) if word in _CONSTANTS else _astray

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise BadJsonPath(f"unrecognized text at {self._text[self._at :]}")
        self._at = found.end()
        return found

    def _taken(self, pattern: re.Pattern[str]) -> str:
        return self._match(pattern)[0]

    def _brackets(self) -> Step:
        if self._ahead("[?("):
            return self._filter()
        end = self._text.find("]", self._at)
        if end < 0:
            raise BadJsonPath("unterminated array")
        inside, self._at = self._text[self._at + 1 : end], end + 1
        parts = inside.split(",")
        if len(parts) > 1:
            return _union([_Reader(f"[{part.strip(' ')}]").steps() for part in parts])
        if (key := _KEY.fullmatch(inside)) is not None:
            return _joined(_Reader(f".{key[1]}").steps())
        return _slice(":" if inside == "*" else inside)

    def _filter(self) -> Step:
        start = self._at = self._at + len("[?(")
        quote = ""
        while True:
            if self._at >= len(self._text):
                raise BadJsonPath("unterminated filter")
            letter = self._text[self._at]
            self._at += 1
            if quote:
                quote = "" if letter == quote and self._text[self._at - 2] != "\\" else quote
            elif letter in "'\"":
                quote = letter
            elif letter == ")":
                break
        if not self._ahead("]"):
            raise BadJsonPath("unclosed array expect ]")
        inside, self._at = self._text[start : self._at - 1], self._at + 1
        compared = _COMPARISON.fullmatch(inside)
        if compared is None:
            return _existing(_Reader(inside).steps())
        left, operator, right = compared.groups()
        return _comparing(_Reader(left).steps(), operator, _Reader(right).steps())


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise BadJsonPath(f"cannot parse number {text}") from None


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _field(name: str) -> Step:
    def step(values: Sequence[Any]) -> Sequence[Any]:
        return [each[name] for each in values if each.__class__ is dict and name in each]

    return step


def _contents(values: Sequence[Any]) -> Sequence[Any]:
    return [inner for each in values for inner in _inside(each)]


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _descended(values: Sequence[Any]) -> Sequence[Any]:
    found: list[Any] = []
    for each in values:
        if inner := _inside(each):
            found += [each, *_descended(list(inner))]
    return found


def _given(value: Any) -> Step:
    return lambda values: [value for _ in values]


def _astray(values: Sequence[Any]) -> Sequence[Any]:  # noqa: ARG001 - the signature of a Step
    raise PathMismatch


def _joined(steps: Sequence[Step]) -> Step:
    return lambda values: _follow(steps, values)


def _union(paths: Sequence[Sequence[Step]]) -> Step:
    return lambda values: [each for path in paths for each in _follow(path, values)]


def _slice(text: str) -> Step:
    """Parse ``[2]``, ``[1:3]``, ``[::2]``; ``[]`` is ``[0]``.

    An index out of bounds raises ``PathMismatch``.
    """
    found = _SLICE.fullmatch(text)
    if found is None:
        raise BadJsonPath(f"invalid array index {text}")
    start_text, end_text, step_text = found.groups()
    try:
        start = int(start_text) if start_text else 0
        end = int(end_text[1:]) if end_text and end_text[1:] else None
        step = int(step_text[1:]) if step_text and step_text[1:] else 1
    except ValueError:
        raise BadJsonPath(f"invalid array index {text}") from None
    is_index = end_text is None

    def taken(items: Sequence[Any]) -> Sequence[Any]:
        length = len(items)
        first = start + length if start < 0 else start
        last = first + 1 if is_index else length if end is None else end
        last = last + length if last < 0 else last
        if first == last:
            return ()
        if not (0 <= first < length and first < last <= length) or step <= 0:
            raise PathMismatch
        return items[first:last:step]

    def slicing(values: Sequence[Any]) -> Sequence[Any]:
        found: list[Any] = []
        for each in values:
            if each is not None:
                found += taken(_list(each))
        return found

    return slicing


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PathMismatch
    return value


def _existing(steps: Sequence[Step]) -> Step:
    def exists(item: Any) -> bool:
        try:
            return bool(_follow(steps, [item]))
        except PathMismatch:
            return False

    return lambda values: [item for each in values for item in _list(each) if exists(item)]


def _comparing(left: Sequence[Step], operator: str, right: Sequence[Step]) -> Step:
    compare = _COMPARE.get(operator)

    def passes(item: Any) -> bool:
        lefts = _follow(left, [item])
        rights = _follow(right, [item]) if lefts else ()
        if not lefts or not rights:
            return False
        if len(lefts) > 1 or len(rights) > 1 or compare is None:
            raise PathMismatch
        return compare(*_comparable(lefts[0], rights[0], operator))

    return lambda values: [item for each in values for item in _list(each) if passes(item)]


def _comparable(left: Any, right: Any, operator: str) -> tuple[Any, Any]:
    """Return both values if their type supports the comparison, or raise ``PathMismatch``."""
    types = (str, int, float) if operator not in ("==", "!=") else (str, int, float, bool)
    if type(left) is not type(right) or type(left) not in types:
        raise PathMismatch
    return left, right
