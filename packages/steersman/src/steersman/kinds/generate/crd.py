"""Models of a custom resource, generated from its CustomResourceDefinition."""

import keyword
from collections.abc import Mapping
from typing import Any

from steersman.errors import BadValue
from steersman.kinds.generate.docstrings import description_of
from steersman.kinds.generate.facts import Schema
from steersman.kinds.generate.model import (
    ANY,
    LITERAL,
    QUANTITY,
    Choices,
    Class,
    Field,
    Module,
    Type,
    imported,
    mapping_of,
)
from steersman.kinds.generate.names import class_name, unique_name
from steersman.kinds.generate.renderer import literal, rendered
from steersman.kinds.generate.schema_reader import (
    CONDITION_FIELDS,
    CONDITION_NAMES,
    INHERITED,
    PART_NAMES,
    RESOURCE_NAMES,
    beyond_condition,
    fields_of,
    is_condition,
    plain_type,
    required_of,
)
from steersman.names import (
    GroupVersionKind,
    check_group,
    check_kind,
    check_plural,
    check_version,
    plural_of,
)

CONDITION = imported("steersman.kinds", "Condition")
CUSTOM_RESOURCE = imported("steersman.kinds", "CustomResource")
OBJECT_META = imported("steersman.kinds.meta_v1", "ObjectMeta")
PART = imported("steersman.kinds", "Part")
RESOURCE = imported("steersman.kinds", "Resource")

# Names that the generated module uses itself.
_TAKEN = {
    "Any",
    "Condition",
    "CustomResource",
    "IntOrString",
    "Literal",
    "Mapping",
    "ObjectMeta",
    "Part",
    "Quantity",
    "Resource",
    "TypeAlias",
    *keyword.kwlist,
}

# A longer list of values becomes a named alias.
_MAX_LITERAL_LENGTH = 60

# The suffixes by which the pattern of a quantity is recognized.
_BINARY_SUFFIXES = "[KMGTPE]i"

_EMBEDDED = "x-kubernetes-embedded-resource"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


def models_from_crd(crd: Mapping[str, Any], *, version: str | None = None) -> str:
    """Return the source of a module with the classes of one version.

    By default, this is the storage version. A field with a default in the schema is optional in the
    model, even if required: the server fills in the default, and a client that sends the field
    becomes its manager. An enum becomes a ``Literal``: an object with a value that is newer than
    the models cannot be decoded.
    """
    spec = _object(crd, "spec")
    names = _object(spec, "names")
    found = _version(spec, version)
    gvk = GroupVersionKind(
        check_group(_text(spec, "group")),
        check_version(_text(found, "name")),
        check_kind(_text(names, "kind")),
    )
    plural = check_plural(_text(names, "plural"))
    keywords: dict[str, str | bool | None] = {"group": gvk.group, "version": gvk.version}
    if plural != plural_of(gvk.kind):
        keywords["plural"] = plural
    if spec.get("scope") == "Cluster":
        keywords["namespaced"] = False
    keywords["crd"] = None  # the definition is not generated from the class
    schema = _object(_object(found, "schema"), "openAPIV3Schema")
    reader = _Reader(gvk, keywords)
    classes = reader.classes(schema)
    return rendered(
        Module(
            comment=f"# Generated from the CustomResourceDefinition {plural}.{gvk.group}.",
            docstring=f"{gvk.kind}, of {gvk.api_version}, and its parts.",
            classes=classes,
            choices=tuple(reader.choices),
        )
    )


class _Reader:
    """A reader of one version's schema; each object in it becomes a class named by its path."""

    def __init__(self, gvk: GroupVersionKind, keywords: Mapping[str, str | bool | None]) -> None:
        self._gvk = gvk
        self._name = unique_name(_TAKEN, class_name(gvk.kind), "{}{}".format)
        self._keywords = keywords if self._name == gvk.kind else {**keywords, "kind": gvk.kind}
        self._taken = {*_TAKEN, self._name}
        self._parts: dict[str, Class] = {}
        self.choices: list[Choices] = []

    def classes(self, schema: Schema) -> tuple[Class, ...]:
        """Return the classes of the parts, nested ones first, then the class of the resource."""
        fields = {
            field.wire: field
            for field in fields_of(
                schema,
                lambda wire, each: self._type_of((wire,), each),
                without=INHERITED,
                taken=RESOURCE_NAMES,
                described=_described,
            )
        }
        base = RESOURCE
        if self._has_usual_shape(fields):
            spec, status = fields.pop("spec").type.text, fields.pop("status").type.text
            base = Type(f"{CUSTOM_RESOURCE.text}[{spec}, {status}]", CUSTOM_RESOURCE.imports)
        resource = Class(
            name=self._name,
            base=base,
            keywords=self._keywords,
            fields=tuple(fields.values()),
            docstring=description_of(schema) or f"{self._gvk.kind}, of {self._gvk.api_version}.",
        )
        return (*self._parts.values(), resource)

    def _has_usual_shape(self, fields: Mapping[str, Field]) -> bool:
        """Whether the kind has a required spec and an optional status, each with a class."""
        if not {"spec", "status"} <= fields.keys():
            return False
        spec, status = fields["spec"], fields["status"]
        classes = {spec.type.text, status.type.text} <= self._parts.keys()
        return classes and spec.required and not spec.nullable and not status.required

    def _type_of(self, place: tuple[str, ...], schema: Schema) -> Type:
        if not isinstance(schema, Mapping):
            raise BadValue(
                wanted=f"the schema of {'.'.join(place)}",
                value=schema,
                rule="it must be an object",
            )
        if place[-2:] in _OF_CONDITIONS:
            # The base class defines the fields of a condition, but not their types.
            return plain_type(schema, lambda inside: self._type_of(place, inside))
        if values := _values(schema):
            return self._literal(place, values)
        if schema.get(_EMBEDDED):
            return self._embedded(place, schema)
        if _is_amount(schema):
            return QUANTITY
        if schema.get("type") == "object" and schema.get(_PRESERVE):
            # A class could not store the fields that the schema does not name.
            return mapping_of(ANY)
        if not schema.get("properties") or schema.get(_PRESERVE):
            return plain_type(schema, lambda inside: self._type_of(place, inside))
        return self._part(place, schema)

    def _literal(self, place: tuple[str, ...], values: tuple[str | int, ...]) -> Type:
        text = literal(values)
        if len(text) <= _MAX_LITERAL_LENGTH:
            return Type(text, LITERAL.imports)
        name = self._new_name(place)
        self.choices.append(Choices(name=name, values=values))
        return Type(name)

    def _new_name(self, place: tuple[str, ...]) -> str:
        name = unique_name(self._taken, class_name(self._name, *place), "{}{}".format)
        self._taken.add(name)
        return name

    def _embedded(self, place: tuple[str, ...], schema: Schema) -> Type:
        """Return the type of an embedded Kubernetes object, as far as the schema describes it."""
        if not schema.get("properties") or schema.get(_PRESERVE):
            return mapping_of(ANY)
        text: Schema = {"type": "string"}
        declared = _object(schema, "properties")
        properties = {"apiVersion": text, "kind": text, "metadata": {}, **declared}
        required = ["apiVersion", "kind", *required_of(schema)]
        return self._part(place, {**schema, "properties": properties, "required": required})

    def _part(self, place: tuple[str, ...], schema: Schema) -> Type:
        name = self._new_name(place)
        in_conditions = place[-1] == "conditions"
        is_resource = bool(schema.get(_EMBEDDED))
        fields = fields_of(
            {**schema, "required": _not_filled_in(schema)},
            lambda wire, each: (
                OBJECT_META
                if is_resource and wire == "metadata"
                else self._type_of((*place, wire), each)
            ),
            taken=CONDITION_NAMES if in_conditions else PART_NAMES,
            described=_described,
        )
        base = PART
        if in_conditions and is_condition(fields):
            base, fields = CONDITION, beyond_condition(fields)
            if not fields:
                return CONDITION
        self._parts[name] = Class(
            name=name, base=base, keywords={}, fields=fields, docstring=description_of(schema)
        )
        return Type(name)


_OF_CONDITIONS = {("conditions", wire) for wire in CONDITION_FIELDS}


def _not_filled_in(schema: Schema) -> list[str]:
    """Return the required fields without a default, which a client has to set."""
    properties = _object(schema, "properties")
    return [
        wire
        for wire in required_of(schema)
        if not isinstance(declared := properties.get(wire), Mapping)
        or declared.get("default") is None
    ]


def _described(_wire: str, schema: Schema) -> str:
    """Return the description of a field, unless the class of its value has a description."""
    has_class = schema.get("properties") and not schema.get(_PRESERVE)
    return "" if has_class else description_of(schema)


def _values(schema: Schema) -> tuple[str | int, ...]:
    """Return the permitted values of a string or integer; empty without a usable enum."""
    listed = schema.get("enum")
    wanted = {"string": str, "integer": int}.get(str(schema.get("type")))
    if not isinstance(listed, list) or wanted is None:
        return ()
    # A null in an enum has the same meaning as ``nullable``.
    values = [each for each in listed if each is not None]
    fit = all(isinstance(each, wanted) and not isinstance(each, bool) for each in values)
    if not fit or schema.get("format") in _READ_OTHERWISE:
        return ()
    return tuple(dict.fromkeys(values))


# Formats that are decoded to other Python types.
_READ_OTHERWISE = ("byte", "date-time")


def _is_amount(schema: Schema) -> bool:
    pattern = schema.get("pattern")
    either = schema.get("x-kubernetes-int-or-string")
    return bool(either) and isinstance(pattern, str) and _BINARY_SUFFIXES in pattern


def _version(spec: Mapping[str, Any], wanted: str | None) -> Mapping[str, Any]:
    versions = spec.get("versions")
    if not isinstance(versions, list):
        raise _unlike_a_crd(spec, "'versions' must be a list")
    names: list[str] = []
    for each in versions:
        if not isinstance(each, Mapping):
            raise _unlike_a_crd(spec, "each item of 'versions' must be an object")
        if each.get("name") == wanted or (wanted is None and each.get("storage") is True):
            return each
        names.append(str(each.get("name")))
    raise BadValue(
        wanted="a version of this CustomResourceDefinition",
        value=wanted,
        rule=f"its versions are: {', '.join(names) or 'none'}",
    )


def _object(owner: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    found = owner.get(field)
    if not isinstance(found, Mapping):
        raise _unlike_a_crd(owner, f"{field!r} must be an object")
    return found


def _text(owner: Mapping[str, Any], field: str) -> str:
    found = owner.get(field)
    if not isinstance(found, str):
        raise _unlike_a_crd(owner, f"{field!r} must be a string")
    return found


def _unlike_a_crd(owner: Mapping[str, Any], rule: str) -> BadValue:
    wanted = "part of a CustomResourceDefinition of apiextensions.k8s.io/v1"
    return BadValue(wanted=wanted, value=sorted(map(str, owner)), rule=rule)
