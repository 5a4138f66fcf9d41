"""Hypothesis strategies for schemas, for similar schemas, and for their values."""

from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "c")
WORDS = ("", "x", "yy", "zzz")
PATTERNS = ("^x*$", "y", "^[a-z]+$")

Schema = dict[str, Any]


def _maybe(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Schema]:
    return st.fixed_dictionaries({}, optional=keywords)


_NUMBERS = st.integers(-3, 6)
_SIZES = st.integers(0, 3)
_NULL = {"nullable": st.booleans()}

_integers = _maybe(
    minimum=_NUMBERS,
    maximum=_NUMBERS,
    exclusiveMinimum=st.booleans(),
    exclusiveMaximum=st.booleans(),
    multipleOf=st.integers(1, 4),
    enum=st.lists(_NUMBERS, min_size=1, max_size=3, unique=True),
    format=st.sampled_from(["int32", "int64"]),
    **_NULL,
).map(lambda said: said | {"type": "integer"})
_numbers = _maybe(minimum=_NUMBERS, maximum=_NUMBERS, **_NULL).map(
    lambda said: said | {"type": "number"}
)
_booleans = _maybe(enum=st.lists(st.booleans(), min_size=1, max_size=2, unique=True), **_NULL).map(
    lambda said: said | {"type": "boolean"}
)
_texts = _maybe(
    minLength=_SIZES,
    maxLength=_SIZES,
    pattern=st.sampled_from(PATTERNS),
    enum=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    **_NULL,
).map(lambda said: said | {"type": "string"})
_either = _maybe(minimum=_NUMBERS, maxLength=_SIZES, **_NULL).map(
    lambda said: said | {"x-kubernetes-int-or-string": True}
)
_anything: st.SearchStrategy[Schema] = st.sampled_from(
    [
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "additionalProperties": True},
    ]
)
_scalars = _integers | _numbers | _booleans | _texts | _either


def _lists(items: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.builds(
        lambda each, said: {"type": "array", "items": each} | said,
        items,
        _maybe(minItems=_SIZES, maxItems=_SIZES, **_NULL)
        | st.just({"x-kubernetes-list-type": "set"}),
    )


def _maps(values: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.builds(
        lambda each, said: {"type": "object", "additionalProperties": each} | said,
        values,
        _maybe(minProperties=_SIZES, maxProperties=_SIZES, **_NULL),
    )


def _objects(values: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.builds(
        lambda found, needed, said: (
            {"type": "object", "properties": found, "required": needed} | said
        ),
        st.dictionaries(st.sampled_from(NAMES), values, max_size=3),
        st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        _maybe(
            **{
                "x-kubernetes-preserve-unknown-fields": st.just(True),
                "oneOf": st.just([{"required": ["a"]}, {"required": ["b"]}]),
            },
            **_NULL,
        ),
    )


schemas: st.SearchStrategy[Schema] = st.recursive(
    _scalars | _anything,
    lambda inside: _lists(inside) | _maps(inside) | _objects(inside),
    max_leaves=5,
)


@st.composite
def variants(draw: st.DrawFn, schema: Schema) -> Schema:
    """The same schema, or one with a few other keywords."""
    choice = draw(st.integers(0, 9))
    if choice == 0:
        return draw(schemas)
    found = dict(schema)
    if choice < 4:
        # A keyword of another schema replaces the one of this schema.
        other = draw(schemas)
        keyword = draw(st.sampled_from(sorted({*found, *other})))
        found.pop(keyword, None)
        if keyword in other and draw(st.booleans()):
            found[keyword] = other[keyword]
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = draw(variants(found[key]))
    if "properties" in found:
        found["properties"] = {k: draw(variants(v)) for k, v in found["properties"].items()}
    return found


_LIMITS = (
    ("minimum", "exclusiveMinimum"),
    ("maximum", "exclusiveMaximum"),
    *((key,) for key in ("multipleOf", "pattern", "enum", "format", "oneOf")),
    *((key,) for key in ("minLength", "maxLength", "minItems", "maxItems")),
    *((key,) for key in ("minProperties", "maxProperties", "required")),
)
_STEPS = {
    "minimum": -1,
    "maximum": 1,
    "minLength": -1,
    "maxLength": 1,
    "minItems": -1,
    "maxItems": 1,
    "minProperties": -1,
    "maxProperties": 1,
}
_MORE: dict[str, list[Any]] = {"integer": [9], "string": ["more"], "boolean": [True, False]}


@st.composite
def wider(draw: st.DrawFn, schema: Schema) -> Schema:
    """A schema that accepts every value that this one accepts, and perhaps more."""
    found = dict(schema)
    for keys in _LIMITS:
        if keys[0] in found and draw(st.booleans()):
            for key in keys:
                found.pop(key, None)
    for key, step in _STEPS.items():
        if key in found and draw(st.booleans()):
            found[key] += step
    if draw(st.booleans()):
        found["nullable"] = True
    if "enum" in found and draw(st.booleans()):
        found["enum"] = [*found["enum"], *_MORE[found["type"]]]
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = draw(wider(found[key]))
    if "properties" in found:
        found["properties"] = {k: draw(wider(v)) for k, v in found["properties"].items()}
        if "x-kubernetes-preserve-unknown-fields" not in found and draw(st.booleans()):
            found["properties"]["z"] = draw(schemas)
    return found


_any_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.sampled_from(WORDS),
    lambda inside: (
        st.lists(inside, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inside, max_size=2)
    ),
    max_leaves=4,
)


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Values of which most are valid by the schema."""
    chosen = _values(schema)
    if schema.get("enum"):
        chosen = st.sampled_from(schema["enum"])
    return chosen | st.none() if schema.get("nullable") else chosen


def _values(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.get("x-kubernetes-int-or-string"):
        return _NUMBERS | st.sampled_from(WORDS)
    match schema.get("type"):
        case "integer":
            return _NUMBERS
        case "number":
            return _NUMBERS | st.sampled_from([0.5, 1.25])
        case "boolean":
            return st.booleans()
        case "string":
            return st.sampled_from(WORDS)
        case "array":
            return st.lists(values(schema.get("items", {})), max_size=3)
        case "object":
            return _object_values(schema)
        case _:
            return _any_values


def _object_values(schema: Schema) -> st.SearchStrategy[Any]:
    named = {key: values(each) for key, each in schema.get("properties", {}).items()}
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        more = st.dictionaries(st.sampled_from(NAMES), values(others), max_size=3)
    elif others or schema.get("x-kubernetes-preserve-unknown-fields"):
        more = st.dictionaries(st.sampled_from(NAMES), _any_values, max_size=2)
    else:
        more = st.just({})
    known = st.fixed_dictionaries({}, optional=named)
    return st.builds(lambda extra, found: extra | found, more, known)
