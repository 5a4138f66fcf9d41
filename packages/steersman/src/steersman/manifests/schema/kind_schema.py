"""The structural schema of a kind, from the fields of its class and of all nested classes.

Classes declare the fields and their types; ``Rule`` and ``Cel`` add constraints; docstrings add
descriptions. For Kubernetes' own classes, the facts of its OpenAPI are added.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from steersman.errors import BadValue
from steersman.kinds import Cel, Codec, Condition, Part, Resource, Rule, validations_of
from steersman.manifests.definition.definition import (
    EMBEDDED,
    INT_OR_STRING,
    INTEGER_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    PRESERVE,
    VALIDATIONS,
)
from steersman.manifests.definition.validation import schema_errors
from steersman.manifests.schema.builtin_facts import facts_of_field, merging_of, with_facts
from steersman.manifests.schema.descriptions import class_description, field_description
from steersman.manifests.schema.hints import (
    Hint,
    is_mapping,
    is_sequence,
    parse_annotation,
    type_name,
)
from steersman.manifests.schema.place import Place
from steersman.manifests.schema.rules import with_rule
from steersman.manifests.schema.scalars import SCALARS, WRONG_TYPES, choices_of

Schema: TypeAlias = dict[str, Any]

_CODEC: Final = Codec()

_META: Final = ("api_version", "kind", "metadata")
_ANYTHING: Final[Schema] = {PRESERVE: True}

_STATUSES: Final = ["True", "False", "Unknown"]


def schema_of(kind: type[Resource], place: Place) -> Schema:
    """Return the schema of ``kind``; raise ``CannotBeACrd`` if a field has no schema."""
    about: Schema = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }
    return _Writer().object(kind, place, about)


class _Writer:
    """Writes one schema; ``_around`` lists the enclosing types."""

    def __init__(self) -> None:
        self._around: list[Any] = []

    def object(self, cls: Any, place: Place, properties: Schema) -> Schema:
        """Return the schema of a class's objects: ``properties``, then those of its fields."""
        part: type[Any] = get_origin(cls) or cls
        self._enter(cls, place)
        is_resource = issubclass(part, Resource)
        required: list[str] = []
        for field in _fields_of(cls, place):
            if is_resource and field.name in _META:
                continue
            there = place.field(field.name)
            if field.required:
                required.append(field.encode_name)
            properties[field.encode_name] = self._field(part, field, there)
        self._around.pop()
        schema: Schema = {"type": "object"}
        if description := class_description(part):
            schema["description"] = description
        if properties:
            schema["properties"] = properties
        if required:
            schema["required"] = required
        if validations := validations_of(part):
            schema[VALIDATIONS] = _written(validations)
        return schema | merging_of(part)

    def _enter(self, hint: Any, place: Place) -> None:
        if hint in self._around:
            raise place.refused(
                f"{type_name(hint)} contains itself, but a schema must be finite",
                "Use Rule(opaque=True) for this field, or one around it; or refer to it by name.",
            )
        self._around.append(hint)

    def _field(self, cls: type[Any], field: FieldInfo, place: Place) -> Schema:
        hint = parse_annotation(field.type, place)
        # A None that is the default is not sent; any other None is sent as null.
        schema = self._described(hint, place, sends_null=field.default is not None)
        if description := field_description(cls, field.name):
            schema["description"] = description
        if facts := facts_of_field(cls, field.encode_name):
            schema = with_facts(schema, facts)
        elif issubclass(cls, Condition) and field.name == "status":
            schema["enum"] = _STATUSES
        return self._with_default(schema, field, place)

    def _with_default(self, schema: Schema, field: FieldInfo, place: Place) -> Schema:
        if field.default_factory is msgspec.NODEFAULT:
            return schema
        default = field.default_factory()
        if isinstance(default, datetime) and default.tzinfo is None:
            raise place.refused(
                "its default has no time zone, but a time in JSON needs one",
                "Write datetime(..., tzinfo=UTC).",
            )
        schema["default"] = _fitting(default, "default", schema, place)
        return schema

    def _described(self, hint: Hint, place: Place, *, sends_null: bool = True) -> Schema:
        """Return the schema of a value with its rules; ``sends_null``: ``None`` is sent as null."""
        if hint.rule.nullable and not hint.may_be_none:
            raise place.refused(
                "it is nullable, but its type has no None",
                f"Write {type_name(hint.type)} | None, so that a null can be decoded.",
            )
        schema = self._opaque(hint, place) if hint.rule.opaque else self._typed(hint.type, place)
        schema = with_rule(schema, hint.rule, place, wire_names=_names_inside(hint.type, place))
        if hint.rules:
            if not schema.get("type") and not schema.get(INT_OR_STRING):
                raise place.refused(
                    "a Cel rule needs a type, but the field accepts any value",
                    "Declare a type, or remove the Cel.",
                )
            schema[VALIDATIONS] = [*schema.get(VALIDATIONS, ()), *_written(hint.rules)]
        if hint.may_be_none and sends_null:
            schema["nullable"] = True
        if schema.get("nullable") and "enum" in schema:
            # Even if the enum contains null, the server rejects a null first.
            raise place.refused(
                "it may be null, but the API server accepts no null in the values of an enum",
                "Have a value that stands for nothing; or make None the default, without nullable,"
                " so that it is not sent.",
            )
        if hint.rule.example is not None:
            schema["example"] = _fitting(hint.rule.example, "example", schema, place)
        return schema

    def _inside(self, annotation: Any, place: Place) -> Schema:
        """Return the schema of the items of a list or the values of a map."""
        return self._described(parse_annotation(annotation, place), place)

    def _opaque(self, hint: Hint, place: Place) -> Schema:
        cls = get_origin(hint.type) or hint.type
        if cls is Any:
            return {**_ANYTHING}
        if is_mapping(cls):
            return {"type": "object", **_ANYTHING}
        if _is_part(cls):
            schema = {"type": "object", **_ANYTHING}
            if description := class_description(cls):
                schema["description"] = description
            return {**schema, EMBEDDED: True} if _is_resource(cls) else schema
        raise place.refused(
            f"it is opaque, but {type_name(hint.type)} is not an object", "Remove opaque=True."
        )

    def _typed(self, hint: Any, place: Place) -> Schema:
        cls, inside = get_origin(hint) or hint, get_args(hint)
        if hint is Any or hint is msgspec.Raw:
            return {**_ANYTHING}
        if hint == int | str:
            return {INT_OR_STRING: True, "anyOf": INTEGER_OR_STRING}
        if isinstance(hint, type) and hint in SCALARS:
            return {**SCALARS[hint]}
        if cls is Literal or (isinstance(cls, type) and issubclass(cls, Enum)):
            return choices_of(hint, place)
        if is_sequence(cls):
            return self._list(hint, inside, place)
        if is_mapping(cls):
            return self._map(hint, inside, place)
        if _is_part(cls):
            return (
                self._embedded(hint, cls, place)
                if _is_resource(cls)
                else self.object(hint, place, {})
            )
        if isinstance(hint, TypeVar):
            raise place.refused(
                f"{hint.__name__} is a type variable, which has no schema",
                "Name it: Box[int], or class App(CustomResource[Spec, Status], ...).",
            )
        problem, what_now = WRONG_TYPES.get(cls, ("", "")) if isinstance(cls, type) else ("", "")
        raise place.refused(
            problem or f"a schema cannot describe {type_name(hint)}",
            what_now or "Use a Part, str, a number, bool, a tuple, a Mapping or Any.",
        )

    def _list(self, hint: Any, inside: tuple[Any, ...], place: Place) -> Schema:
        if get_origin(hint) is tuple:
            if len(inside) != 2 or inside[1] is not ...:
                raise place.refused(
                    f"{type_name(hint)} has a different type for each item, but a list in a schema"
                    " has one item type",
                    "Use a Part with a field for each, or tuple[X, ...].",
                )
            inside = inside[:1]
        if not inside:
            raise place.refused("the type of its items is missing", "Write tuple[X, ...].")
        self._enter(hint, place)
        schema: Schema = {"type": "array", "items": self._inside(inside[0], place.each())}
        self._around.pop()
        if _is_condition(parse_annotation(inside[0], place.each()).type):
            # Each condition has its own manager, and each type occurs once.
            schema |= {LIST_TYPE: "map", LIST_MAP_KEYS: ["type"]}
        return schema

    def _map(self, hint: Any, inside: tuple[Any, ...], place: Place) -> Schema:
        if not inside:
            raise place.refused("the type of its values is missing", "Write Mapping[str, X].")
        key = parse_annotation(inside[0], place)
        if key.type is not str or key.may_be_none:
            raise place.refused(
                f"its keys are {type_name(inside[0])}, but the keys of an object are strings",
                "Use Mapping[str, X], with a Cel to restrict the keys.",
            )
        if key.rule != Rule() or key.rules:
            raise place.refused(
                "its keys have rules, but a schema cannot restrict keys",
                "Use a Cel of the map, such as Cel(\"self.all(key, key.startsWith('a'))\").",
            )
        self._enter(hint, place)
        values = self._inside(inside[1], place.each())
        self._around.pop()
        if values == _ANYTHING:
            return {"type": "object", **_ANYTHING}
        return {"type": "object", "additionalProperties": values}

    def _embedded(self, hint: Any, cls: type[Any], place: Place) -> Schema:
        if not hasattr(cls, "resource_type"):
            raise place.refused(
                f"{cls.__name__} is not the class of a kind",
                "Use the class of a kind, or Mapping[str, Any].",
            )
        gvk = cls.resource_type.gvk
        about: Schema = {
            "apiVersion": {"type": "string", "enum": [gvk.api_version]},
            "kind": {"type": "string", "enum": [gvk.kind]},
            "metadata": {"type": "object"},
        }
        return {**self.object(hint, place, about), EMBEDDED: True}


def _fields_of(cls: Any, place: Place) -> tuple[FieldInfo, ...]:
    try:
        return msgspec.structs.fields(cls)
    except NameError as error:
        raise place.refused(
            f"an annotation names {error.name}, which its module does not define",
            f"Define {error.name} outside of any function, or remove `from __future__ import"
            " annotations`.",
        ) from None


def _fitting(value: Any, what: str, schema: Schema, place: Place) -> Any:
    """Return the default or example of a field as JSON; raise an error if the schema rejects it."""
    try:
        written = json.loads(_CODEC.encode(value))
    except (BadValue, TypeError, ValueError) as error:
        raise place.refused(
            f"its {what} cannot be written as JSON: {error}", "Use a value that JSON can represent."
        ) from None
    for at, problem in schema_errors(written, schema, trusting=True):
        raise place.refused(
            f"its {what} does not match its own type and rules:"
            f" {f'at {at}, ' if at else ''}{problem}",
            f"Change the {what} or the rule, or remove the {what}.",
        )
    return written


def _written(rules: tuple[Cel, ...]) -> list[Schema]:
    """Return the CEL rules as a schema contains them."""
    return [
        {
            wire: value
            for wire, value in (
                ("rule", each.rule),
                ("message", each.message),
                ("messageExpression", each.message_expression),
                ("reason", each.reason),
                ("fieldPath", each.field_path),
                ("optionalOldSelf", each.optional_old_self),
            )
            if value is not None
        }
        for each in rules
    ]


def _names_inside(hint: Any, place: Place) -> Mapping[str, str]:
    """Return the wire names of the fields of a list's items, by their Python names."""
    if not is_sequence(get_origin(hint)):
        return {}
    item = parse_annotation(get_args(hint)[0], place).type
    cls = get_origin(item) or item
    if not _is_part(cls):
        return {}
    return dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))


def _is_part(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Part)


def _is_resource(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Resource)


def _is_condition(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Condition)
