"""The validation of the fields of one CRD version, or of the fields all versions share."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from steersman_cluster.apiserver.custom.internal_form import first_keyword, shown_rule, shown_schema
from steersman_cluster.apiserver.custom.schema_validation import schema_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    invalid,
    required,
    too_many,
)
from steersman_cluster.apiserver.schema.field_paths import BadFieldPath, resolved

MAX_SELECTABLE_FIELDS: Final = 8

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
)
# A schema that all versions share is not part of the versions in the internal type. The message for
# "schema" is kube-apiserver's.
_WITHOUT_SCHEMA: Final = {
    "schema": "may only be set when `version.schema.openAPIV3Schema` is not included",
    "validation": "may only be set when validations.schema is included",
}
# The keywords that are allowed at the root of a schema with a status subresource, because the
# status is validated without the rest of the object.
_ROOT_KEYWORDS: Final = (
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
)


def version_errors(
    said: Mapping[str, Any], path: str, *, has_status: bool, schema_key: str
) -> Iterator[FieldError]:
    """Yield the errors of ``said``: one CRD version, or the fields that all versions share.

    The schema is at the key ``schema_key`` below ``path``.
    """
    yield from _deprecation_errors(said, path)
    schema = (said.get("schema") or {}).get("openAPIV3Schema")
    if schema is not None:
        at = f"{path}.{schema_key}.openAPIV3Schema"
        if has_status:
            yield from _root_errors(schema, at)
        yield from _schema_errors(msgspec.json.encode(schema), at)
    if scale := (said.get("subresources") or {}).get("scale"):
        yield from _scale_errors(scale, f"{path}.subresources.scale")
    for index, column in enumerate(said.get("additionalPrinterColumns") or ()):
        yield from _column_errors(column, f"{path}.additionalPrinterColumns[{index}]")
    if fields := said.get("selectableFields"):
        at = f"{path}.selectableFields"
        if schema is None:
            yield invalid(at, "", _WITHOUT_SCHEMA[schema_key])
        else:
            yield from _selectable_errors(fields, schema, at)


# Cached because each write of a definition, also of its status, validates the same schema.
@lru_cache(maxsize=64)
def _schema_errors(written: bytes, path: str) -> tuple[FieldError, ...]:
    return tuple(schema_errors(msgspec.json.decode(written), path, shown_rule=shown_rule))


def _root_errors(schema: dict[str, Any], path: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    first = first_keyword(schema, frozenset(_ROOT_KEYWORDS))
    if kind and kind != "object":
        why = (
            'only "object" is allowed as the type at the root of the schema if the status'
            " subresource is enabled"
        )
        yield invalid(f"{path}.type", kind, why)
    elif first is not None:
        why = (
            f"only [{' '.join(_ROOT_KEYWORDS)}] fields are allowed at the root of the schema if"
            " the status subresource is enabled"
        )
        yield invalid(path, shown_schema(schema), why)


def _deprecation_errors(said: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    warning: str | None = said.get("deprecationWarning")
    if warning is None:
        return
    at = f"{path}.deprecationWarning"
    if not said.get("deprecated"):
        yield invalid(at, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > 256:
        yield invalid(at, warning, "must be <= 256 characters long")
    if not warning:
        yield invalid(at, warning, "must not be an empty string")
    for index, letter in enumerate(warning):
        if not letter.isprintable():
            place = len(warning[:index].encode())
            why = (
                "must only contain printable UTF-8 characters; non-printable character found at"
                f" index {place}"
            )
            yield invalid(at, warning, why)
            return


def _scale_errors(scale: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    for key, root in (("specReplicasPath", "spec"), ("statusReplicasPath", "status")):
        at, value = f"{path}.{key}", scale.get(key) or ""
        if not value:
            yield required(at)
        elif error := _simple_path_error(value, at):
            yield error
        elif not value.startswith(f".{root}."):
            yield invalid(at, value, f"should be a json path under .{root}")
    if value := scale.get("labelSelectorPath"):
        at = f"{path}.labelSelectorPath"
        if error := _simple_path_error(value, at):
            yield error
        elif not value.startswith((".spec.", ".status.")):
            yield invalid(at, value, "should be a json path under either .spec or .status")


def _simple_path_error(value: str, path: str) -> FieldError | None:
    if value.startswith("."):
        return None
    return invalid(path, value, "must be a simple json path starting with .")


def _column_errors(column: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    kind, form = column.get("type") or "", column.get("format") or ""
    if not column.get("name"):
        yield required(f"{path}.name")
    one_of_types = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{path}.type", one_of_types)
    elif kind not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", kind, one_of_types)
    if form and form not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    json_path = column.get("jsonPath") or ""
    if not json_path:
        yield required(f"{path}.JSONPath")
    elif error := _simple_path_error(json_path, f"{path}.JSONPath"):
        yield error


def _selectable_errors(
    fields: list[Mapping[str, Any]], schema: Mapping[str, Any], path: str
) -> Iterator[FieldError]:
    known: set[tuple[str, ...]] = set()
    for index, each in enumerate(fields):
        at, json_path = f"{path}[{index}].jsonPath", each.get("jsonPath") or ""
        if not json_path:
            yield required(at)
            continue
        try:
            field = resolved(json_path, schema, allows_brackets=False)
        except BadFieldPath as error:
            yield invalid(at, json_path, f"is an invalid path: {error}")
            continue
        if field.steps[:1] == ("metadata",):
            yield invalid(at, json_path, "must not point to fields in metadata")
        if field.schema.get("type") not in ("string", "boolean", "integer"):
            why = (
                "must point to a field of type string, boolean or integer. Enum string fields and"
                " strings with formats are allowed."
            )
            yield invalid(at, json_path, why)
        if field.steps in known:
            yield duplicate(at, json_path)
        known.add(field.steps)
    if len(known) > MAX_SELECTABLE_FIELDS:
        yield too_many(path, len(known), MAX_SELECTABLE_FIELDS)
