"""Checks whether a schema accepts a value, as far as is possible without a server.

Checked are types, bounds, lengths, enumerations, required fields, alternatives, and the patterns
that have the same meaning in Python and RE2. Formats and CEL rules are left to the server.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from steersman.manifests.definition.definition import (
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    Schema,
    default_of,
    properties_of,
    required_of,
)

# Features of RE2 that Python lacks, or reads differently.
_RE2_ONLY: Final = re.compile(r"\[\[:|\\[pPzQEC]|\(\?[a-zA-Z]*[UsP]")

# The range of integers, by format.
INTEGERS: Final = {"int32": 1 << 31}


def schema_errors(
    value: Any, schema: Schema, path: str = "", *, trusting: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield each path at which ``value`` violates ``schema``, with the reason.

    ``path`` is the path of ``value`` itself. A null is valid only if the schema is nullable. With
    ``trusting``, a value matches every pattern that cannot be evaluated in Python.
    """
    if value is None:
        if types_of(schema) != ANY_TYPE and not schema.get("nullable"):
            yield path, "it may not be null"
        elif schema.get("enum"):  # the server rejects null even if the enum contains null
            yield path, "it is not among the values of its enum"
        return
    if type_of(value) not in types_of(schema):
        yield path, f"it is not {type_words(schema)}"
        return
    enum = schema.get("enum")
    if enum and not any(same(value, each) for each in enum):
        yield path, "it is not among the values of its enum"
    if isinstance(value, str):
        yield from ((path, each) for each in _text_problems(value, schema, trusting))
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int | float):
        yield from ((path, each) for each in _number_problems(value, schema))
    elif isinstance(value, list):
        yield from _list_errors(value, schema, path, trusting)
    elif isinstance(value, Mapping):
        yield from _object_errors(value, schema, path, trusting)
    yield from ((path, each) for each in _junctor_problems(value, schema, trusting))


ANY_TYPE: Final = frozenset(("array", "boolean", "integer", "number", "object", "string"))


def types_of(schema: Schema) -> frozenset[str]:
    """Return the JSON types that ``schema`` accepts, except null."""
    if schema.get(INT_OR_STRING):
        return frozenset(("integer", "string"))
    match schema.get("type"):
        case None | "":
            return ANY_TYPE
        case "number":
            return frozenset(("integer", "number"))
        case one:
            return frozenset((str(one),))


def type_of(value: Any) -> str:
    """Return the name of the JSON type of ``value``, as in a schema."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def type_words(schema: Schema) -> str:
    """Return the type that ``schema`` requires, with an article: ``an integer``."""
    if schema.get(INT_OR_STRING):
        return "an integer or a string"
    kind = str(schema.get("type") or "anything")
    if kind == "anything":
        return kind
    return f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def same(one: Any, other: Any) -> bool:
    """Whether ``one`` equals ``other`` in JSON, where ``true`` does not equal 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def lower_bound(schema: Schema) -> tuple[Fraction, bool] | None:
    """Return the smallest number that ``schema`` accepts, and whether this bound is exclusive."""
    return _bound(schema, "minimum", -1)


def upper_bound(schema: Schema) -> tuple[Fraction, bool] | None:
    """Return the greatest number that ``schema`` accepts, and whether this bound is exclusive."""
    return _bound(schema, "maximum", 1)


def _bound(schema: Schema, key: str, sign: int) -> tuple[Fraction, bool] | None:
    whole = schema.get("type") == "integer"
    bounds: list[tuple[Fraction, bool]] = []
    if schema.get(key) is not None:
        limit, excluded = exact(schema[key]), bool(schema.get(f"exclusive{key.capitalize()}"))
        if whole and excluded and limit.denominator == 1:
            limit, excluded = limit - sign, False
        bounds.append((limit, excluded))
    if whole:
        size = INTEGERS.get(str(schema.get("format")), 1 << 63)
        bounds.append((Fraction(size - 1 if sign > 0 else -size), False))
    if not bounds:
        return None
    return min(bounds, key=lambda each: (sign * each[0], not each[1]))


def exact(number: float) -> Fraction:
    """Return the decimal number that ``number`` shows when printed, not its binary value."""
    return Fraction(str(number))


def _number_problems(value: float, schema: Schema) -> Iterator[str]:
    number = exact(value)
    if low := lower_bound(schema):
        limit, excluded = low
        if number < limit or (excluded and number == limit):
            yield f"it is below its minimum of {_shown(limit)}"
    if high := upper_bound(schema):
        limit, excluded = high
        if number > limit or (excluded and number == limit):
            yield f"it is above its maximum of {_shown(limit)}"
    factor = schema.get("multipleOf")
    if factor and (number / exact(factor)).denominator != 1:
        yield f"it is not a multiple of {factor}"


def _shown(number: Fraction) -> str:
    return str(number.numerator if number.denominator == 1 else float(number))


def _text_problems(value: str, schema: Schema, trusting: bool) -> Iterator[str]:
    yield from _size_problems(len(value), schema, "Length", "characters")
    pattern = schema.get("pattern")
    found = matches(pattern, value) if pattern else True
    if found is False or (found is None and not trusting):
        unknown = "" if found is False else ", as far as can be known"
        yield f"it does not match its pattern {pattern}{unknown}"


def _size_problems(size: int, schema: Schema, what: str, unit: str) -> Iterator[str]:
    fewest, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if fewest is not None and size < fewest:
        yield f"it has fewer than {fewest} {unit}"
    if most is not None and size > most:
        yield f"it has more than {most} {unit}"


def _list_errors(
    value: list[Any], schema: Schema, path: str, trusting: bool
) -> Iterator[tuple[str, str]]:
    yield from ((path, each) for each in _size_problems(len(value), schema, "Items", "items"))
    for number, each in enumerate(value):
        items = schema.get("items") or {}
        yield from schema_errors(each, items, f"{path}[{number}]", trusting=trusting)
    if schema.get(LIST_TYPE) in ("set", "map") and not _is_set(value, schema):
        yield path, "it contains duplicate items"


def _is_set(value: list[Any], schema: Schema) -> bool:
    keys: list[str] = schema.get(LIST_MAP_KEYS) or []
    seen: list[Any] = []
    for each in value:
        key = [each.get(name) for name in keys] if keys and isinstance(each, Mapping) else each
        if any(same(key, other) for other in seen):
            return False
        seen.append(key)
    return True


def _object_errors(
    value: Mapping[str, Any], schema: Schema, path: str, trusting: bool
) -> Iterator[tuple[str, str]]:
    yield from ((path, each) for each in _size_problems(len(value), schema, "Properties", "fields"))
    properties = properties_of(schema)
    for name in required_of(schema):
        if name not in value and default_of(properties.get(name, {})) is None:
            yield child_path(path, name), "it is required"
    others = schema.get("additionalProperties")
    for name, each in value.items():
        child = properties.get(name, others)
        if isinstance(child, Mapping):
            yield from schema_errors(each, child, child_path(path, name), trusting=trusting)
        elif others is False:
            yield child_path(path, name), "it is not a field of this object"


def child_path(path: str, name: str) -> str:
    """Return the path of the field ``name`` of the object at ``path``."""
    return f"{path}.{name}" if path else name


def _junctor_problems(value: Any, schema: Schema, trusting: bool) -> Iterator[str]:
    def fits(each: Schema) -> bool:
        return next(schema_errors(value, each, trusting=trusting), None) is None

    alternatives: tuple[tuple[str, Callable[[int, int], bool], str], ...] = (
        ("allOf", lambda found, all_: found == all_, "all"),
        ("anyOf", lambda found, _: found > 0, "any"),
        ("oneOf", lambda found, _: found == 1, "exactly one"),
    )
    for key, enough, words in alternatives:
        if (schemas := schema.get(key)) and not enough(sum(map(fits, schemas)), len(schemas)):
            yield f"it does not match {words} of its {key}"
    if isinstance(schema.get("not"), Mapping) and fits(schema["not"]):
        yield "it matches the schema of `not`"


def matches(pattern: str, text: str) -> bool | None:
    """Whether the server would find ``pattern`` in ``text``; ``None`` if this is unknown.

    Python cannot evaluate some patterns as the server would.
    """
    compiled = _compiled(pattern)
    if compiled is None or len(text) > _longest(pattern):
        return None
    return compiled.search(text) is not None


def _longest(pattern: str) -> int:
    """Return the text length up to which Python evaluates the pattern quickly.

    Python's ``re`` backtracks: it tries every way to split a text.
    """
    if re.search(r"\)[*+{]", pattern):
        return 24
    return 1000 if len(re.findall(r"[*+{]", pattern)) > 1 else 100_000


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if _RE2_ONLY.search(pattern):
        return None
    try:
        # In RE2, "$" is the end of the text, not also the position before a final newline.
        return re.compile(_dollar(r"\Z", pattern), re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None


def _dollar(end: str, pattern: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        return end if found[0] == "$" else found[0]

    return re.sub(r"\\.|\[(?:\\.|[^\]\\])+\]|\$", replaced, pattern, flags=re.DOTALL)
