"""CustomResourceDefinitions in kube-apiserver's internal form, which error messages show.

In messages, the internal form contains every field, even if it is not set. A field that is the same
in all versions exists only once in the internal form, and the path of an error in that field
contains no version.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from steersman_cluster.apiserver.meta.strategy import Object

# The names of a schema's keywords in the internal type, in order, each with the name in the API and
# the value of an absent field.
_KEYWORDS: Final[Mapping[str, tuple[str, Any]]] = {
    "ID": ("id", ""),
    "Schema": ("$schema", ""),
    "Ref": ("$ref", None),
    "Description": ("description", ""),
    "Type": ("type", ""),
    "Nullable": ("nullable", False),
    "Format": ("format", ""),
    "Title": ("title", ""),
    "Default": ("default", None),
    "Maximum": ("maximum", None),
    "ExclusiveMaximum": ("exclusiveMaximum", False),
    "Minimum": ("minimum", None),
    "ExclusiveMinimum": ("exclusiveMinimum", False),
    "MaxLength": ("maxLength", None),
    "MinLength": ("minLength", None),
    "Pattern": ("pattern", ""),
    "MaxItems": ("maxItems", None),
    "MinItems": ("minItems", None),
    "UniqueItems": ("uniqueItems", False),
    "MultipleOf": ("multipleOf", None),
    "Enum": ("enum", None),
    "MaxProperties": ("maxProperties", None),
    "MinProperties": ("minProperties", None),
    "Required": ("required", None),
    "Items": ("items", None),
    "AllOf": ("allOf", None),
    "OneOf": ("oneOf", None),
    "AnyOf": ("anyOf", None),
    "Not": ("not", None),
    "Properties": ("properties", None),
    "AdditionalProperties": ("additionalProperties", None),
    "PatternProperties": ("patternProperties", None),
    "Dependencies": ("dependencies", None),
    "AdditionalItems": ("additionalItems", None),
    "Definitions": ("definitions", None),
    "ExternalDocs": ("externalDocs", None),
    "Example": ("example", None),
    "XPreserveUnknownFields": ("x-kubernetes-preserve-unknown-fields", None),
    "XEmbeddedResource": ("x-kubernetes-embedded-resource", False),
    "XIntOrString": ("x-kubernetes-int-or-string", False),
    "XListMapKeys": ("x-kubernetes-list-map-keys", None),
    "XListType": ("x-kubernetes-list-type", None),
    "XMapType": ("x-kubernetes-map-type", None),
    "XValidations": ("x-kubernetes-validations", None),
}
_RULE: Final[Mapping[str, tuple[str, Any]]] = {
    "Rule": ("rule", ""),
    "Message": ("message", ""),
    "MessageExpression": ("messageExpression", ""),
    "Reason": ("reason", None),
    "FieldPath": ("fieldPath", ""),
    "OptionalOldSelf": ("optionalOldSelf", None),
}
_VERSION: Final[Mapping[str, tuple[str, Any]]] = {
    "Name": ("name", ""),
    "Served": ("served", False),
    "Storage": ("storage", False),
    "Deprecated": ("deprecated", False),
    "DeprecationWarning": ("deprecationWarning", None),
    "Schema": ("schema", None),
    "Subresources": ("subresources", None),
    "AdditionalPrinterColumns": ("additionalPrinterColumns", None),
    "SelectableFields": ("selectableFields", None),
}
_COLUMN: Final[Mapping[str, tuple[str, Any]]] = {
    "Name": ("name", ""),
    "Type": ("type", ""),
    "Format": ("format", ""),
    "Description": ("description", ""),
    "Priority": ("priority", 0),
    "JSONPath": ("jsonPath", ""),
}
_SCALE: Final[Mapping[str, tuple[str, Any]]] = {
    "SpecReplicasPath": ("specReplicasPath", ""),
    "StatusReplicasPath": ("statusReplicasPath", ""),
    "LabelSelectorPath": ("labelSelectorPath", None),
}

# Fields that the internal type has once, if all versions have the same value.
SHARED: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalSpec:
    """The spec of a CRD: the fields that all its versions share, and the other fields of each."""

    versions: tuple[Object, ...]
    shared: Mapping[str, Any]

    @classmethod
    def of(cls, spec: Object) -> "InternalSpec":
        """Return ``spec``, the spec of a CustomResourceDefinition, in the internal form."""
        versions: list[Object] = spec.get("versions") or []
        shared = {
            key: versions[0][key]
            for key in SHARED
            if versions
            and versions[0].get(key) is not None
            and all(each.get(key) == versions[0][key] for each in versions)
        }
        own = ({key: each[key] for key in each if key not in shared} for each in versions)
        return cls(versions=tuple(own), shared=shared)


def shown_versions(versions: tuple[Object, ...]) -> msgspec.Raw:
    """Return the versions of a CRD as error messages show them."""
    return msgspec.Raw(msgspec.json.encode([_spelled(each, _VERSION) for each in versions]))


def shown_rule(rule: Mapping[str, Any]) -> msgspec.Raw:
    """Return a CEL rule as error messages show it."""
    return msgspec.Raw(msgspec.json.encode(_spelled(rule, _RULE)))


def shown_schema(schema: Object) -> msgspec.Raw:
    """Return a schema as error messages show it."""
    return msgspec.Raw(msgspec.json.encode(_spelled(schema, _KEYWORDS)))


def first_keyword(schema: Object, allowed: frozenset[str]) -> str | None:
    """Return the first keyword that is set in ``schema`` but not in ``allowed``, or None.

    The keywords are sorted as in the internal form.
    """
    for name, (key, nothing) in _KEYWORDS.items():
        if name not in allowed and schema.get(key, nothing) != nothing:
            return name
    return None


def _spelled(said: Mapping[str, Any], names: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    spelled: dict[str, Any] = {}
    for name, (key, nothing) in names.items():
        value = said.get(key)
        if value is None:
            spelled[name] = nothing
        else:
            spelled[name] = _FORMS[key](value) if key in _FORMS else value
    return spelled


def _schema(value: Any) -> Any:
    return _spelled(value, _KEYWORDS)


def _schemas(values: list[Any]) -> Any:
    return [_schema(each) for each in values]


def _schema_map(values: Mapping[str, Any]) -> Any:
    return {key: _schema(values[key]) for key in sorted(values)}


def _schema_or_list(value: Any) -> Any:
    if isinstance(value, list):
        return {"Schema": None, "JSONSchemas": _schemas(value)}
    return {"Schema": _schema(value), "JSONSchemas": None}


def _schema_or_flag(value: Any) -> Any:
    if isinstance(value, bool):
        return {"Allows": value, "Schema": None}
    return {"Allows": True, "Schema": _schema(value)}


def _schema_or_names(values: Mapping[str, Any]) -> Any:
    return {
        key: {"Schema": None, "Property": values[key]}
        if isinstance(values[key], list)
        else {"Schema": _schema(values[key]), "Property": None}
        for key in sorted(values)
    }


def _json(value: Any) -> Any:
    return msgspec.Raw(msgspec.json.encode(value, order="sorted"))


def _subresources(value: Mapping[str, Any]) -> Any:
    scale = value.get("scale")
    return {
        "Status": value.get("status"),
        "Scale": None if scale is None else _spelled(scale, _SCALE),
    }


_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "default": _json,
    "example": _json,
    "enum": _json,
    "items": _schema_or_list,
    "allOf": _schemas,
    "oneOf": _schemas,
    "anyOf": _schemas,
    "not": _schema,
    "properties": _schema_map,
    "patternProperties": _schema_map,
    "definitions": _schema_map,
    "dependencies": _schema_or_names,
    "additionalProperties": _schema_or_flag,
    "additionalItems": _schema_or_flag,
    "externalDocs": lambda value: {
        "Description": value.get("description", ""),
        "URL": value.get("url", ""),
    },
    "x-kubernetes-validations": lambda rules: [_spelled(each, _RULE) for each in rules],
    "schema": lambda value: {
        "OpenAPIV3Schema": _schema(value["openAPIV3Schema"])
        if value.get("openAPIV3Schema") is not None
        else None
    },
    "subresources": _subresources,
    "additionalPrinterColumns": lambda columns: [_spelled(each, _COLUMN) for each in columns],
    "selectableFields": lambda fields: [{"JSONPath": each.get("jsonPath", "")} for each in fields],
}
