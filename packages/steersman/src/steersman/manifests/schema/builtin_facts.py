"""Facts about the fields of built-in kinds that Python types do not express.

The facts come from Kubernetes' OpenAPI: formats, defaults, and how lists and maps are merged.
Enumerations are left out: a later server may accept more values, and the server validates the
object in the end.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from steersman.kinds.annotations import own_annotations
from steersman.manifests.definition.definition import LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE
from steersman.openapi import load_facts

Facts: TypeAlias = Mapping[str, Any]

_GENERATED: Final = "steersman.kinds."
_MERGING: Final[Mapping[str, tuple[str, ...]]] = {
    "array": (LIST_TYPE, LIST_MAP_KEYS),
    "object": (MAP_TYPE,),
}


def merging_of(cls: type[Any]) -> dict[str, Any]:
    """Return ``x-kubernetes-map-type``, which defines how objects of ``cls`` are merged.

    The result is empty if the OpenAPI does not set this keyword.
    """
    return {key: value for key, value in _schema_of(cls).items() if key == MAP_TYPE}


def facts_of_field(cls: type[Any], wire: str) -> Facts:
    """Return the OpenAPI facts about the field ``wire`` of ``cls`` or its built-in base.

    ``wire`` is the name of the field on the wire.
    """
    for base in cls.__mro__:
        schema = _schema_of(base)
        if (found := schema.get("properties", {}).get(wire)) is not None:
            return _without_zeros(found, required=wire in schema.get("required", ()))
        if wire in _own_fields(base):
            break
    return {}


def with_facts(schema: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Return ``schema``, the schema of a field, with the OpenAPI facts added."""
    kind = schema.get("type")
    if kind is None:
        return schema
    added = {key: facts[key] for key in ("default", *_MERGING.get(kind, ())) if key in facts}
    if kind == facts.get("type") and "format" in facts:
        added["format"] = facts["format"]
    for inside in ("items", "additionalProperties"):
        theirs, ours = facts.get(inside), schema.get(inside)
        if isinstance(theirs, Mapping) and isinstance(ours, dict):
            added[inside] = with_facts(ours, _without_zeros(theirs, required=True))
    return _mergeable({**schema, **added})


def _mergeable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without list map keys by which the server cannot merge."""
    if schema.get(LIST_TYPE) != "map":
        return _without(schema, LIST_MAP_KEYS)
    items = schema["items"]
    properties, required = items.get("properties", {}), items.get("required", ())
    for key in schema.get(LIST_MAP_KEYS, ()):
        if key not in required and "default" not in properties.get(key, {}):
            # In Go, keys may be absent; in a CRD, each must be required or have a default.
            return _without(schema, LIST_TYPE, LIST_MAP_KEYS)
    return schema


def _without(facts: Facts, *keywords: str) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key not in keywords}


def _without_zeros(facts: Facts, *, required: bool) -> Facts:
    # A required field has Go's zero value as its default, which no object should get. An empty
    # object as a default means the same as an absent field.
    default = facts.get("default")
    if required or isinstance(default, dict | list):
        return _without(facts, "default")
    return facts


def _own_fields(cls: type[Any]) -> frozenset[str]:
    names: Sequence[str] = getattr(cls, "__struct_fields__", ())
    wires: Sequence[str] = getattr(cls, "__struct_encode_fields__", ())
    own = own_annotations(vars(cls))
    return frozenset(wire for name, wire in zip(names, wires, strict=True) if name in own)


def _schema_of(cls: type[Any]) -> Facts:
    module = cls.__module__.removeprefix(_GENERATED)
    if not cls.__module__.startswith(_GENERATED) or "_v" not in module:
        return {}
    return _schemas(module).get(cls.__name__, {})


@cache
def _schemas(module: str) -> Mapping[str, Facts]:
    """Return the schemas of a group and version, by class name."""
    schemas = load_facts(module)["schemas"]
    return {name.rpartition(".")[2]: schema for name, schema in schemas.items()}
