"""Random objects for a schema: most fields are valid, and some are not."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

# One value in this many has any type, or is out of bounds.
_INVALID_ONE_IN: Final = 12

_WORDS: Final = ("a", "b", "nginx:1.29", "web", "10.0.0.1", "x" * 6, "x" * 41, "", "É", "A B")
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "date-time": ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456Z", "2026-01-02", "never"),
    "date": ("2026-01-02", "2026-13-40", "2026-01-02T00:00:00Z"),
    "uuid": ("0f7f2a9e-3a43-4f0e-8d2b-6d9a8a1c2b3d", "0f7f2a9e", "x"),
    "byte": ("aGVsbG8=", "", "not base64!"),
    "ipv4": ("10.0.0.1", "10.0.0.256", "::1"),
}
_QUANTITIES: Final = ("1", "1Gi", "100m", "-1.5", "+.5k", "1e3", "1.5x", "", "25%", "1 Gi")
_NUMBERS: Final = (0, 1, 2, 3, 50, 99, 100, -1, -2, 65535, 65536, 2**31, 2**63 - 1)
_KEYS: Final = ("a", "b", "c", "d", "example.com/e")


def any_json() -> st.SearchStrategy[Any]:
    """Any small JSON value."""
    plain = st.none() | st.booleans() | st.sampled_from(_NUMBERS) | st.sampled_from(_WORDS)
    return st.recursive(
        plain | st.just(1.5),
        lambda inside: (
            st.lists(inside, max_size=2)
            | st.dictionaries(st.sampled_from(_KEYS), inside, max_size=2)
        ),
        max_leaves=4,
    )


@st.composite
def random_values(draw: Draw, schema: Mapping[str, Any]) -> Any:
    """A value that is valid for the schema, with rare exceptions."""
    if draw(st.integers(0, _INVALID_ONE_IN)) == _INVALID_ONE_IN:
        return draw(any_json())
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    if schema.get("nullable") and draw(st.booleans()):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        return draw(st.sampled_from(_NUMBERS) | st.sampled_from(_QUANTITIES))
    match schema.get("type"):
        case "boolean":
            return draw(st.booleans())
        case "integer":
            return draw(st.sampled_from(_numbers_near_bounds(schema) or _NUMBERS))
        case "number":
            return draw(st.sampled_from((*_numbers_near_bounds(schema), 0.5, 1.5, 2)))
        case "string":
            return draw(st.sampled_from(_TEXTS.get(schema.get("format", ""), _WORDS)))
        case "array":
            return draw(st.lists(random_values(schema["items"]), max_size=3))
        case "object":
            return draw(_objects_of(schema))
        case _:
            return draw(any_json())


def _numbers_near_bounds(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """Numbers at the bounds, and just below and above them."""
    bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
    return tuple(bound + step for bound in bounds for step in (0, 1, -1))


@st.composite
def _objects_of(draw: Draw, schema: Mapping[str, Any]) -> dict[str, Any]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    chosen = {name for name in schema.get("required", ()) if draw(st.integers(0, 9)) < 9}
    if schema.get("x-kubernetes-embedded-resource"):
        chosen |= {"apiVersion", "kind"}
    if properties:
        chosen |= set(draw(st.lists(st.sampled_from(sorted(properties)), max_size=4)))
    # In the order of the schema, because the order of a set differs in each process.
    obj = {name: draw(random_values(properties[name])) for name in properties if name in chosen}
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        names = draw(st.lists(st.sampled_from(_KEYS), max_size=4, unique=True))
        obj |= {name: draw(random_values(others)) for name in names}
    elif draw(st.integers(0, 9)) == 9:
        obj["unheardOf"] = draw(any_json())
    return obj
