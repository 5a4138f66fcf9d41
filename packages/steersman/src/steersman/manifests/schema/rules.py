"""The keywords that a ``Rule`` adds to a schema, and the check that they fit the value's type."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from steersman.kinds import Rule
from steersman.manifests.definition.definition import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
)
from steersman.manifests.schema.place import Place

_NUMBERS: Final = ("integer", "number")
_SCALARS: Final = ("boolean", "integer", "number", "string")

# The keyword of each rule, and the types that can have it.
_ABOUT: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, Any]]]] = {
    "ge": (_NUMBERS, {"minimum": ...}),
    "gt": (_NUMBERS, {"minimum": ..., "exclusiveMinimum": True}),
    "le": (_NUMBERS, {"maximum": ...}),
    "lt": (_NUMBERS, {"maximum": ..., "exclusiveMaximum": True}),
    "multiple_of": (_NUMBERS, {"multipleOf": ...}),
    "pattern": (("string", INT_OR_STRING), {"pattern": ...}),
    "format": (("string", *_NUMBERS), {"format": ...}),
    "list_type": (("array",), {LIST_TYPE: ...}),
    "map_type": (("object",), {MAP_TYPE: ...}),
    "preserve_unknown_fields": (("object",), {PRESERVE: True}),
    "embedded_resource": (("object",), {EMBEDDED: True}),
    "title": ((*_SCALARS, "array", "object", INT_OR_STRING, ""), {"title": ...}),
}
_LENGTHS: Final = {"string": "Length", "array": "Items", "object": "Properties"}


def with_rule(
    schema: dict[str, Any], rule: Rule, place: Place, *, wire_names: Mapping[str, str]
) -> dict[str, Any]:
    """Return ``schema`` with the keywords of ``rule`` added; errors name ``place``.

    For the schema of a list, ``wire_names`` maps each Python field of an item to its name on the
    wire.
    """
    added = dict(_added(schema, rule, place))
    if rule.list_map_keys:
        added[LIST_MAP_KEYS] = [wire_names.get(key, key) for key in rule.list_map_keys]
    elif rule.list_type is not None:
        schema = {key: value for key, value in schema.items() if key != LIST_MAP_KEYS}
    if rule.nullable:
        added["nullable"] = True
    schema = {**schema, **added}
    if schema.get("type") == "array":
        _check_list(schema, place)
    if schema.get(EMBEDDED) and "additionalProperties" in schema:
        raise place.refused(
            "it is an embedded resource, but its type is a map of values of one type",
            "Use Mapping[str, Any].",
        )
    if schema.get(EMBEDDED) and not schema.get("properties"):
        schema[PRESERVE] = True
    return schema


def _added(schema: dict[str, Any], rule: Rule, place: Place) -> Iterator[tuple[str, Any]]:
    kind = schema.get("type") or (INT_OR_STRING if schema.get(INT_OR_STRING) else "")
    for name, (kinds, keywords) in _ABOUT.items():
        value = getattr(rule, name)
        if value is None or value is False:
            continue
        if kind not in kinds:
            raise _misplaced(name, kind, place)
        for keyword, wanted in keywords.items():
            yield keyword, value if wanted is ... else wanted
    for name in ("min_length", "max_length"):
        if (value := getattr(rule, name)) is not None:
            if kind not in _LENGTHS:
                raise _misplaced(name, kind, place)
            yield f"{name[:3]}{_LENGTHS[kind]}", value


def _misplaced(name: str, kind: str, place: Place) -> Exception:
    shown = "an int or a text" if kind == INT_OR_STRING else f"{kind or 'anything'}"
    return place.refused(
        f"its rule sets {name}, which does not apply to the type {shown}",
        f"Remove {name}, or use a Cel.",
    )


def _check_list(schema: dict[str, Any], place: Place) -> None:
    """Reject a list type that the schema of the items does not support."""
    items = schema["items"]
    if schema.get(LIST_TYPE) in ("set", "map") and items.get("nullable"):
        raise place.refused(
            f"it is a list of type {schema[LIST_TYPE]}, but its items may be null",
            "Remove None from their type.",
        )
    if schema.get(LIST_TYPE) == "set":
        atomic = items.get(LIST_TYPE, "atomic") if "items" in items else items.get(MAP_TYPE)
        if (
            items.get("type") not in _SCALARS
            and not items.get(INT_OR_STRING)
            and atomic != "atomic"
        ):
            raise place.refused(
                "its items are objects, which a list of type set cannot compare",
                "Use list_type='map' with the keys that identify the items.",
            )
    keys = schema.get(LIST_MAP_KEYS, ())
    for key in keys:
        if keys.count(key) > 1:
            raise place.refused(f"its list_map_keys contain {key} twice", "Name it once.")
        field = items.get("properties", {}).get(key)
        if field is None:
            raise place.refused(
                f"its list_map_keys contain {key}, which is not a field of its items",
                "Name fields of the items.",
            )
        if field.get("type") not in _SCALARS:
            raise place.refused(
                f"its list_map_keys contain {key}, which is not a string, number or boolean",
                "Name other fields of the items.",
            )
        if field.get("nullable"):
            raise place.refused(
                f"its list_map_keys contain {key}, which may be null",
                "Remove None from its type.",
            )
        if key not in items.get("required", ()) and "default" not in field:
            raise place.refused(
                f"its list_map_keys contain {key}, which is optional",
                f"Make {key} required, or set a default.",
            )
