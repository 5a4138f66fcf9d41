"""Models of a custom resource, from its CustomResourceDefinition."""

import keyword
from collections.abc import Mapping
from typing import Any

from steersman.errors import BadValue
from steersman.kinds.generate.facts import Schema
from steersman.kinds.generate.model import Class, Field, Module, Type, imported
from steersman.kinds.generate.naming import class_name, unlike
from steersman.kinds.generate.reading import (
    CONDITION_NAMES,
    INHERITED,
    PART_NAMES,
    RESOURCE_NAMES,
    beyond_condition,
    fields_of,
    is_condition,
    plain_type,
)
from steersman.kinds.generate.rendering import rendered
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
PART = imported("steersman.kinds", "Part")
RESOURCE = imported("steersman.kinds", "Resource")

# Names that the module needs for itself.
_TAKEN = {
    "Any",
    "Condition",
    "CustomResource",
    "IntOrString",
    "Mapping",
    "Part",
    "Resource",
    *keyword.kwlist,
}


def models_from_crd(crd: Mapping[str, Any], *, version: str | None = None) -> str:
    """The source of a module with the classes of one version, by default the one that is stored.

    A field with a default in the schema is optional here: the server fills it in, and who sends
    it as well claims to own it.
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
    keywords: dict[str, str | bool] = {"group": gvk.group, "version": gvk.version}
    if plural != plural_of(gvk.kind):
        keywords["plural"] = plural
    if spec.get("scope") == "Cluster":
        keywords["namespaced"] = False
    schema = _object(_object(found, "schema"), "openAPIV3Schema")
    return rendered(
        Module(
            comment=f"# Generated from the CustomResourceDefinition {plural}.{gvk.group}.",
            docstring=f"{gvk.kind}, of {gvk.api_version}, and its parts.",
            classes=_Reader(gvk, keywords).classes(schema),
        )
    )


class _Reader:
    """Reads the schema of one version; each object in it becomes a class named after its place."""

    def __init__(self, gvk: GroupVersionKind, keywords: Mapping[str, str | bool]) -> None:
        self._gvk = gvk
        self._name = unlike(_TAKEN, gvk.kind, "{}{}".format)
        self._keywords = keywords if self._name == gvk.kind else {**keywords, "kind": gvk.kind}
        self._taken = {*_TAKEN, self._name}
        self._parts: dict[str, Class] = {}

    def classes(self, schema: Schema) -> tuple[Class, ...]:
        """The classes of the parts, those inside others first, and the resource's last."""
        fields = {
            field.wire: field
            for field in fields_of(
                schema,
                lambda wire, each: self._type_of((wire,), each),
                without=INHERITED,
                taken=RESOURCE_NAMES,
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
            docstring=f"{self._gvk.kind}, of {self._gvk.api_version}.",
        )
        return (*self._parts.values(), resource)

    def _has_usual_shape(self, fields: Mapping[str, Field]) -> bool:
        """Whether there is a spec, always, and a status, sometimes, each with a class."""
        if not {"spec", "status"} <= fields.keys():
            return False
        spec, status = fields["spec"], fields["status"]
        classes = {spec.type.text, status.type.text} <= self._parts.keys()
        return classes and spec.required and not spec.nullable and not status.required

    def _type_of(self, place: tuple[str, ...], schema: Schema) -> Type:
        if not isinstance(schema, Mapping):
            raise BadValue(
                wanted=f"the schema of {'.'.join(place)}", value=schema, rule="it is an object"
            )
        if not schema.get("properties") or schema.get("x-kubernetes-preserve-unknown-fields"):
            return plain_type(schema, lambda inside: self._type_of(place, inside))
        name = unlike(self._taken, class_name(self._name, *place), "{}{}".format)
        self._taken.add(name)
        in_conditions = place[-1] == "conditions"
        fields = fields_of(
            schema,
            lambda wire, each: self._type_of((*place, wire), each),
            taken=CONDITION_NAMES if in_conditions else PART_NAMES,
        )
        base = PART
        if in_conditions and is_condition(fields):
            base, fields = CONDITION, beyond_condition(fields)
            if not fields:
                return CONDITION
        self._parts[name] = Class(name=name, base=base, keywords={}, fields=fields)
        return Type(name)


def _version(spec: Mapping[str, Any], wanted: str | None) -> Mapping[str, Any]:
    versions = spec.get("versions")
    if not isinstance(versions, list):
        raise _unlike_a_crd(spec, "'versions' is a list")
    names: list[str] = []
    for each in versions:
        if not isinstance(each, Mapping):
            raise _unlike_a_crd(spec, "each of 'versions' is an object")
        if each.get("name") == wanted or (wanted is None and each.get("storage") is True):
            return each
        names.append(str(each.get("name")))
    raise BadValue(
        wanted="a version of this CustomResourceDefinition",
        value=wanted,
        rule=f"it has {', '.join(names) or 'none'}",
    )


def _object(owner: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    found = owner.get(field)
    if not isinstance(found, Mapping):
        raise _unlike_a_crd(owner, f"{field!r} is an object")
    return found


def _text(owner: Mapping[str, Any], field: str) -> str:
    found = owner.get(field)
    if not isinstance(found, str):
        raise _unlike_a_crd(owner, f"{field!r} is text")
    return found


def _unlike_a_crd(owner: Mapping[str, Any], rule: str) -> BadValue:
    wanted = "part of a CustomResourceDefinition of apiextensions.k8s.io/v1"
    return BadValue(wanted=wanted, value=sorted(map(str, owner)), rule=rule)
