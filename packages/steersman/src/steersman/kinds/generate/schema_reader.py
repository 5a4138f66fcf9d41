"""Reads fields from a schema: rules that built-in kinds and CRDs share."""

import re
from collections.abc import Callable, Collection, Mapping

from steersman.errors import BadValue
from steersman.kinds.base import Part
from steersman.kinds.generate.facts import Schema
from steersman.kinds.generate.model import (
    ANY,
    BOOL,
    BYTES,
    DATETIME,
    FLOAT,
    INT,
    INT_OR_STRING,
    STR,
    Field,
    Type,
    mapping_of,
    tuple_of,
)
from steersman.kinds.generate.names import field_names
from steersman.kinds.resource import Resource

PART_NAMES = frozenset(name for name in dir(Part) if not name.startswith("_"))

# The members of the base class of resources: fields by wire name, and all names in Python.
INHERITED = frozenset({"apiVersion", "kind", "metadata"})
RESOURCE_NAMES = frozenset(name for name in dir(Resource) if not name.startswith("_"))

# The members of kinds.Condition: fields by wire name, and other names in Python.
CONDITION_FIELDS: Mapping[str, Type] = {
    "type": STR,
    "status": STR,
    "reason": STR,
    "message": STR,
    "lastTransitionTime": DATETIME,
    "observedGeneration": INT,
}
CONDITION_NAMES = PART_NAMES | {"false", "is_true", "true", "unknown", "when"}

# Names that msgspec rejects; no known schema has such fields.
_unspeakable = re.compile(r'["\\\x00-\x1f\ud800-\udfff]').search

_SCALARS: Mapping[str, Type] = {"boolean": BOOL, "integer": INT, "number": FLOAT, "string": STR}
_FORMATS: Mapping[str, Type] = {"byte": BYTES, "date-time": DATETIME}


def plain_type(schema: Schema, inside: Callable[[Schema], Type]) -> Type:
    """Return the type for ``schema``, which is not an object with named fields.

    ``inside`` returns the type for the schema of items or values.
    """
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return INT_OR_STRING
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return ANY
    match schema.get("type"):
        case "array":
            return tuple_of(_each(schema.get("items", {}), inside))
        case "object":
            values = schema.get("additionalProperties")
            return mapping_of(_each(values, inside) if isinstance(values, Mapping) else ANY)
        case "boolean" | "integer" | "number" | "string" as scalar:
            return _FORMATS.get(str(schema.get("format")), _SCALARS[scalar])
        case None:
            return ANY
        case unknown:
            raise BadValue(
                wanted="a type in a schema",
                value=unknown,
                rule="it must be array, object, boolean, integer, number or string",
            )


def _each(schema: Schema, inside: Callable[[Schema], Type]) -> Type:
    found = inside(schema)
    return found.or_none() if schema.get("nullable") else found


def fields_of(
    schema: Schema,
    type_of: Callable[[str, Schema], Type],
    *,
    without: Collection[str] = (),
    taken: Collection[str] = (),
    sensitive: Collection[str] = (),
    described: Callable[[str, Schema], str] = lambda _wire, _schema: "",
) -> tuple[Field, ...]:
    """Return the fields for the properties of ``schema``, in order, except ``without``.

    Names in ``taken`` are reserved.
    """
    properties = {k: v for k, v in _properties(schema).items() if k not in without}
    names = field_names(properties, taken=taken)
    required = required_of(schema)
    return tuple(
        Field(
            name=names[wire],
            wire=wire,
            type=type_of(wire, each),
            required=wire in required,
            nullable=each.get("nullable") is True,
            sensitive=wire in sensitive or each.get("format") == "password",
            description=described(wire, each),
        )
        for wire, each in properties.items()
    )


def _properties(schema: Schema) -> Mapping[str, Schema]:
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise BadValue(
            wanted="the properties of a schema", value=properties, rule="they must be an object"
        )
    for wire in properties:
        if not isinstance(wire, str) or _unspeakable(wire):
            raise BadValue(
                wanted="the name of a field",
                value=wire,
                rule="it must be a string without quotes, backslashes and control characters",
            )
    return properties


def required_of(schema: Schema) -> Collection[str]:
    """Return the names of the fields that ``schema``, the schema of an object, requires."""
    required = schema.get("required") or []
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        raise BadValue(
            wanted="the required fields of a schema",
            value=required,
            rule="they must be a list of names",
        )
    return required


def is_condition(fields: Collection[Field]) -> bool:
    """Whether ``fields`` are the fields of a condition, perhaps with additional fields.

    It makes no difference which of these fields the schema requires: a condition without a type or
    a ``status`` is invalid anyway, and the controller that writes the condition decides on the
    other fields.
    """
    types = {field.wire: field.type for field in fields}
    return types.keys() >= {"type", "status"} and all(
        types.get(wire, usual) == usual for wire, usual in CONDITION_FIELDS.items()
    )


def beyond_condition(fields: Collection[Field]) -> tuple[Field, ...]:
    """Return those of ``fields`` that the class ``Condition`` does not have."""
    return tuple(field for field in fields if field.wire not in CONDITION_FIELDS)
