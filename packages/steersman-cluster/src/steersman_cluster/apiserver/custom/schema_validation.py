"""The validation of a schema in a CustomResourceDefinition.

This module validates the schema of one version completely: the structure, the defaults and each
keyword. Paths and messages are those of kube-apiserver.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.schema.defaults import copied
from steersman_cluster.apiserver.schema.embedded_resources import (
    BadEmbeddedResource,
    decode_metadata_inside,
    part_errors,
)
from steersman_cluster.apiserver.schema.field_paths import path_error
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.pruner import prune
from steersman_cluster.apiserver.schema.structural import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    META_FIELDS,
    PRESERVE,
    VALIDATIONS,
    Written,
    children,
    compile_schema,
    structural_errors,
    unsupported_error,
)
from steersman_cluster.apiserver.schema.validator import Validator

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
# JSON Schema keywords that Kubernetes does not support.
_NOT_SUPPORTED: Final = (
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
)
# Keywords that count as set even if they are empty.
_SAID_BY_ANYTHING: Final = frozenset(("additionalItems", "$ref"))


def schema_errors(
    written: Written, path: str, *, shown_rule: Callable[[Written], Any]
) -> list[FieldError]:
    """Return all errors of ``written``, the schema of a custom resource, at ``path``.

    ``shown_rule`` formats a CEL rule as error messages show it.
    """
    found: list[FieldError] = []
    if written.get("nullable"):
        found.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    unsupported = unsupported_error(written, path)
    if unsupported is None:
        # These checks do not visit metadata, so that any schema of it will do.
        found += structural_errors(written, path) or default_errors(
            compile_schema(written, object_meta=Schema(type="object", preserve_unknown=True)), path
        )
    is_sound = unsupported is None and not found
    keywords = list(_keyword_errors(written, path, _SchemaContext(is_root=True)))
    found += keywords
    if is_sound and _has_rules(written):
        # A deferred import: definitions without rules do not load CEL.
        from steersman_cluster.apiserver.cel.schemas.rule_validation import rule_errors

        found += rule_errors(written, path, keywords, shown_rule=shown_rule)
    return found or ([unsupported] if unsupported is not None else [])


def _has_rules(written: Written) -> bool:
    return bool(written.get(VALIDATIONS)) or any(
        _has_rules(each) for each, _ in children(written, "")
    )


def default_errors(schema: Schema, path: str, *, in_metadata: bool = False) -> list[FieldError]:
    """Return the errors of the default values in a schema and in all schemas inside it.

    ``in_metadata`` is true for a schema inside the metadata of an object.
    """
    found: list[FieldError] = []
    written = schema.written
    if schema.default is not UNSET:
        at = f"{path}.default"
        improper = [] if in_metadata else _improper_errors(schema, at)
        if not in_metadata:
            found += [*_unknown_errors(schema, at), *improper]
        if not improper:
            # As in kube-apiserver, the default of an int-or-string field may be any number.
            said = {key: each for key, each in written.items() if key != INT_OR_STRING}
            found += Validator(said).errors(schema.default, at=at)
        if not found and _has_rules(written):
            found += _default_rule_errors(schema, at)
    if schema.items is not None:
        found += default_errors(schema.items, f"{path}.items", in_metadata=in_metadata)
    for name in written.get("properties") or ():
        found += default_errors(
            schema.properties[name],
            f"{path}.properties[{name}]",
            in_metadata=in_metadata or (schema.embedded_resource and name in META_FIELDS),
        )
    return found


def _default_rule_errors(schema: Schema, path: str) -> list[FieldError]:
    """Return the CEL errors of a default: first as an unchanged value, then as a new value."""
    from steersman_cluster.apiserver.cel.schemas.schema_rules import SchemaRules

    rules = SchemaRules(schema.written, is_resource=schema.embedded_resource)
    default = schema.default
    found = rules.validate(default, default, at=path, ratchets=False).errors
    return found or rules.validate(default, at=path).errors


def _unknown_errors(schema: Schema, path: str) -> list[FieldError]:
    default = copied(schema.default)
    if prune(default, schema) or default != schema.default:
        return [invalid(path, schema.default, "must not have unknown fields")]
    return []


def _improper_errors(schema: Schema, path: str) -> list[FieldError]:
    """Return the errors of embedded resources in the default of ``schema``."""
    default = copied(schema.default)
    prune(default, schema)
    try:
        decode_metadata_inside(default, schema, path)
    except BadEmbeddedResource as error:
        return [error.error]
    return part_errors(default, schema, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SchemaContext:
    """The position of a schema in its parent, as far as it determines the permitted keywords."""

    is_root: bool = False
    in_metadata: bool = False
    why_no_defaults: str | None = None


def _keyword_errors(written: Written, path: str, context: _SchemaContext) -> Iterator[FieldError]:
    yield from _own_errors(written, path, context)
    inside = replace(context, is_root=False)
    additional = written.get("additionalProperties")
    properties = written.get("properties") or {}
    if additional not in (None, True) and properties:
        yield forbidden(
            f"{path}.additionalProperties",
            "additionalProperties and properties are mutual exclusive",
        )
    if isinstance(additional, Mapping):
        why = "inside additionalProperties applying to object metadata"
        yield from _keyword_errors(
            additional,
            f"{path}.additionalProperties",
            replace(inside, why_no_defaults=why) if context.in_metadata else inside,
        )
    for name, each in properties.items():
        there = inside
        if name in META_FIELDS and (context.is_root or written.get(EMBEDDED)):
            there = replace(inside, in_metadata=True)
            if context.is_root:
                there = replace(there, why_no_defaults=f"in top-level {name}")
        yield from _keyword_errors(each, f"{path}.properties[{name}]", there)
    if isinstance(written.get("not"), Mapping):
        yield from _keyword_errors(written["not"], f"{path}.not", inside)
    for junctor in ("allOf", "oneOf", "anyOf"):
        for index, each in enumerate(written.get(junctor) or ()):
            yield from _keyword_errors(each, f"{path}.{junctor}[{index}]", inside)
    for key in ("definitions", "dependencies"):
        for name, each in (written.get(key) or {}).items():
            if isinstance(each, Mapping):
                yield from _keyword_errors(each, f"{path}.{key}[{name}]", inside)
    items = written.get("items")
    if isinstance(items, Mapping):
        yield from _keyword_errors(items, f"{path}.items", inside)
    elif isinstance(items, list):
        for index, each in enumerate(items):
            yield from _keyword_errors(each, f"{path}.items[{index}]", inside)
    yield from _extension_errors(written, path)
    for index, rule in enumerate(written.get(VALIDATIONS) or ()):
        yield from _rule_errors(written, rule, f"{path}.{VALIDATIONS}[{index}]")


def _own_errors(written: Written, path: str, context: _SchemaContext) -> Iterator[FieldError]:
    kind = written.get("type") or ""
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if written.get("default") is not None and context.why_no_defaults is not None:
        yield forbidden(f"{path}.default", f"must not be set {context.why_no_defaults}")
    for key in _NOT_SUPPORTED:
        is_anything = key in _SAID_BY_ANYTHING and written.get(key) is not None
        if written.get(key) or is_anything:
            yield forbidden(f"{path}.{key}", f"{key} is not supported")
    if kind == "null":
        yield forbidden(
            f"{path}.type", "type cannot be set to null, use nullable as an alternative"
        )
    if isinstance(written.get("items"), list) and written["items"]:
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    if context.in_metadata and written.get(EMBEDDED):
        yield forbidden(f"{path}.{EMBEDDED}", "must not be used inside of resource meta")
    if written.get("uniqueItems"):
        yield forbidden(
            f"{path}.uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        )


def _extension_errors(written: Written, path: str) -> Iterator[FieldError]:
    kind = written.get("type") or ""
    map_type, list_type = written.get(MAP_TYPE), written.get(LIST_TYPE)
    keys = written.get(LIST_MAP_KEYS) or []
    items = written.get("items")
    if written.get(PRESERVE) is False:
        yield invalid(f"{path}.{PRESERVE}", False, "must be true or undefined")
    for key, wanted in ((MAP_TYPE, "object"), (LIST_TYPE, "array")):
        if written.get(key) is not None and kind != wanted:
            why = f"must be {wanted} if {key} is specified"
            yield invalid(f"{path}.type", kind, why) if kind else required(f"{path}.type", why)
        if key == MAP_TYPE and map_type not in (None, "atomic", "granular"):
            yield not_supported(f"{path}.{MAP_TYPE}", map_type, ("atomic", "granular"))
    if kind == "array" and list_type == "set" and isinstance(items, Mapping):
        yield from _set_errors(items, f"{path}.items")
    if list_type not in (None, "atomic", "set", "map"):
        yield not_supported(f"{path}.{LIST_TYPE}", list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        why = f"must be map if {LIST_MAP_KEYS} is non-empty"
        at = f"{path}.{LIST_TYPE}"
        yield required(at, why) if list_type is None else invalid(at, list_type, why)
    if list_type == "map":
        yield from _map_errors(keys, items, path)
    if list_type in ("map", "set") and isinstance(items, Mapping):
        yield from _member_errors(list_type, keys, items, f"{path}.items")


def _set_errors(items: Written, path: str) -> Iterator[FieldError]:
    why = f"must be atomic as item of a list with {LIST_TYPE}=set"
    list_type = items.get(LIST_TYPE)
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield invalid(f"{path}.{LIST_TYPE}", list_type, why)
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        # kube-apiserver's error has the list type as its value, although the map type is wrong.
        yield invalid(f"{path}.{MAP_TYPE}", list_type, why)


def _map_errors(keys: list[str], items: Any, path: str) -> Iterator[FieldError]:
    if not keys:
        yield required(f"{path}.{LIST_MAP_KEYS}", f"must not be empty if {LIST_TYPE} is map")
    if items is None:
        yield required(f"{path}.items", f"must have a schema if {LIST_TYPE} is map")
    if not isinstance(items, Mapping):
        return
    kind = items.get("type") or ""
    if kind != "object":
        why = f"must be object if parent array's {LIST_TYPE} is map"
        yield invalid(f"{path}.items.type", kind, why)
        return
    properties = items.get("properties") or {}
    seen: set[str] = set()
    for key in keys:
        if key not in properties:
            why = "entries must all be names of item properties"
            yield invalid(f"{path}.{LIST_MAP_KEYS}", keys, why)
        elif properties[key].get("type") in ("array", "object"):
            why = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            yield invalid(f"{path}.items.properties[{key}].type", kind, why)
        if key in seen:
            yield invalid(f"{path}.{LIST_MAP_KEYS}", keys, "must not contain duplicate entries")
        seen.add(key)


def _member_errors(
    list_type: str, keys: list[str], items: Written, path: str
) -> Iterator[FieldError]:
    if items.get("nullable"):
        yield forbidden(f"{path}.nullable", f"cannot be nullable when {LIST_TYPE} is {list_type}")
    if list_type == "set":
        return
    properties = items.get("properties") or {}
    needed: set[str] = set(items.get("required") or ())
    for key in keys:
        if key not in properties:
            continue
        at, because = f"{path}.properties[{key}]", f"this property is in {LIST_MAP_KEYS}, so it"
        if key not in needed and properties[key].get("default") is None:
            why = f"{because} must have a default or be a required property"
            yield required(f"{at}.default", why)
        if properties[key].get("nullable"):
            yield forbidden(f"{at}.nullable", f"{because} cannot be nullable")


def _rule_errors(written: Written, rule: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    """Yield the errors of a CEL rule that can be found without compiling the expression."""
    expression, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not expression:
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _has_lines(message.strip()):
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    elif _has_lines(expression) and not message.strip():
        why = "message must be specified if rule contains line breaks"
        yield required(f"{path}.message", why)
    if rule.get("messageExpression") and not rule["messageExpression"].strip():
        why = "messageExpression must be non-empty if specified"
        yield required(f"{path}.messageExpression", why)
    if rule.get("reason") is not None and rule["reason"] not in _REASONS:
        yield not_supported(f"{path}.reason", rule["reason"], _REASONS)
    if field := rule.get("fieldPath"):
        at = f"{path}.fieldPath"
        if not field.strip():
            yield invalid(at, field, "must be non-empty if specified")
        if _has_lines(field):
            yield invalid(at, field, "must not contain line breaks")
        if path_error(field, written) is not None:
            yield invalid(at, field, "must be a valid path")


def _has_lines(text: str) -> bool:
    return "\n" in text or "\r" in text
