"""Structural schemas: the schemas of CustomResourceDefinitions, compiled to nodes.

A schema is structural if it specifies the structure of an object outside of ``anyOf``, ``allOf``,
``oneOf`` and ``not``. Inside of these four, it may contain only rules about values. Only a
structural schema can be used to prune, default and merge fields.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.meta.field_errors import FieldError, forbidden, invalid, required
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.patterns import BadPattern, compile_pattern

Written: TypeAlias = Mapping[str, Any]

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_TYPE: Final = "x-kubernetes-list-type"
LIST_MAP_KEYS: Final = "x-kubernetes-list-map-keys"
MAP_TYPE: Final = "x-kubernetes-map-type"
VALIDATIONS: Final = "x-kubernetes-validations"

META_FIELDS: Final = frozenset(("apiVersion", "kind", "metadata"))

# Keywords with a list of subschemas.
JUNCTORS: Final = ("allOf", "anyOf", "oneOf")

_INTEGER_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_UNSUPPORTED: Final = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "patternProperties": "patternProperties",
    "dependencies": "dependencies",
    "additionalItems": "additionalItems",
    "definitions": "definitions",
}
# Keywords that are forbidden within allOf, anyOf, oneOf and not, with kube-apiserver's messages.
_STRUCTURE: Final = {
    "type": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    PRESERVE: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    INT_OR_STRING: "must be false to be structural",
    LIST_MAP_KEYS: "must be empty to be structural",
    LIST_TYPE: "must be undefined to be structural",
    MAP_TYPE: "must be undefined to be structural",
    VALIDATIONS: "must be empty to be structural",
}
_ABSENT_AS_NULL: Final = frozenset(("default", LIST_TYPE, MAP_TYPE))


def compile_schema(written: Written, *, object_meta: Schema) -> Schema:
    """Compile the schema of a custom resource.

    The fields of all objects (apiVersion, kind and metadata) are added to the schemas of the
    resource and of its embedded resources.
    """
    return _node(written, object_meta, is_resource=True)


def _node(written: Written, object_meta: Schema, *, is_resource: bool = False) -> Schema:
    items = written.get("items")
    additional = written.get("additionalProperties")
    default = written.get("default")
    schema = Schema(
        type=written.get("type") or None,
        format=written.get("format") or None,
        properties={
            name: _node(each, object_meta)
            for name, each in (written.get("properties") or {}).items()
        },
        required=tuple(written.get("required") or ()),
        # `additionalProperties: true` allows any value but specifies no fields, so that their
        # fields are pruned.
        additional=None
        if additional is None
        else _node(additional if isinstance(additional, Mapping) else {}, object_meta),
        items=_node(items, object_meta) if isinstance(items, Mapping) else None,
        default=UNSET if default is None else default,
        nullable=bool(written.get("nullable")),
        int_or_string=bool(written.get(INT_OR_STRING)),
        embedded_resource=is_resource or bool(written.get(EMBEDDED)),
        preserve_unknown=bool(written.get(PRESERVE)),
        list_type=written.get(LIST_TYPE) or "atomic",
        list_map_keys=tuple(written.get(LIST_MAP_KEYS) or ()),
        map_type=written.get(MAP_TYPE) or "granular",
        written=dict(written),
    )
    inside = (*schema.properties.values(), schema.items, schema.additional)
    schema.holds_resource = schema.embedded_resource or any(
        each.holds_resource for each in inside if each is not None
    )
    if schema.embedded_resource:
        text = Schema(type="string")
        schema.properties |= {"apiVersion": text, "kind": text, "metadata": object_meta}
    return schema


def unsupported_error(written: Written, path: str) -> FieldError | None:
    """Return the error for the first unsupported construct in a schema; None if there is none.

    The structure of a schema with such a construct cannot be read.
    """
    found = next(_unsupported(written), None)
    return invalid(path, "", found) if found else None


def _unsupported(written: Written) -> Iterator[str]:
    for key, name in _UNSUPPORTED.items():
        if written.get(key) or (key == "additionalItems" and written.get(key) is not None):
            yield f"OpenAPIV3Schema '{name}' is not supported"
    if written.get(PRESERVE) is False:
        yield f"internal error: '{PRESERVE}' must be true or undefined"
    if isinstance(written.get("items"), list):
        yield "OpenAPIV3Schema 'items' must be a schema, but is an array"
    for each, _ in children(written, ""):
        yield from _unsupported(each)


def children(written: Written, path: str) -> Iterator[tuple[Written, str]]:
    """Yield each direct subschema of ``written``, which is at ``path``, with its path."""
    if isinstance(additional := written.get("additionalProperties"), Mapping):
        yield additional, f"{path}.additionalProperties"
    for name, each in (written.get("properties") or {}).items():
        yield each, f"{path}.properties[{name}]"
    if isinstance(written.get("not"), Mapping):
        yield written["not"], f"{path}.not"
    for junctor in JUNCTORS:
        for index, each in enumerate(written.get(junctor) or ()):
            yield each, f"{path}.{junctor}[{index}]"
    for name, each in (written.get("definitions") or {}).items():
        yield each, f"{path}.definitions[{name}]"
    if isinstance(items := written.get("items"), Mapping):
        yield items, f"{path}.items"
    elif isinstance(items, list):
        for index, each in enumerate(items):
            yield each, f"{path}.items[{index}]"


def structural_errors(written: Written, path: str) -> list[FieldError]:
    """Return the reasons why the schema ``written`` is not structural.

    The reasons are in kube-apiserver's order.
    """
    found = list(_invariants(written, path, "at the root"))
    for name, rules in _nested_rules(written):
        found += _incomplete(rules, written, path, f"{path}.{name}")
    return sorted(found, key=str)


def _invariants(written: Written, path: str, place: str) -> Iterator[FieldError]:
    at_root = place == "at the root"
    kind = written.get("type") or ""
    embedded = written.get(EMBEDDED)
    properties: Mapping[str, Written] = written.get("properties") or {}
    additional = written.get("additionalProperties")
    items = written.get("items")
    if kind == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, Mapping):
        yield from _invariants(items, f"{path}.items", "for specified array items")
    for name, each in properties.items():
        yield from _invariants(each, f"{path}.properties[{name}]", "for specified object fields")
    if additional is not None and at_root:
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(additional, Mapping):
        yield from _invariants(
            additional, f"{path}.additionalProperties", "for specified object fields"
        )
    if written.get(INT_OR_STRING):
        for key in (PRESERVE, EMBEDDED):
            if written.get(key):
                yield invalid(f"{path}.{key}", True, f"must be false if {INT_OR_STRING} is true")
    yield from _values(written, path, skips_any_of=written.get("anyOf") == _INTEGER_OR_STRING)
    if embedded and kind != "object":
        why = f"must be object if {EMBEDDED} is true"
        yield invalid(f"{path}.type", kind, why) if kind else required(f"{path}.type", why)
    elif not kind and not written.get(INT_OR_STRING) and not written.get(PRESERVE):
        yield required(f"{path}.type", f"must not be empty {place}")
    if embedded and additional is not None:
        yield forbidden(f"{path}.additionalProperties", f"must not be used if {EMBEDDED} is set")
    if at_root and kind and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if at_root or embedded:
        for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
            if name in properties and (found := properties[name].get("type") or "") != wanted:
                yield invalid(f"{path}.properties[{name}].type", found, f"must be {wanted}")
    if at_root and "metadata" in properties and not _is_plain_metadata(properties["metadata"]):
        yield forbidden(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is"
            " implicitly specified",
        )
    if embedded and not written.get(PRESERVE) and not properties:
        yield required(
            f"{path}.properties", f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        )


def _is_plain_metadata(written: Written) -> bool:
    said = {
        key for key, value in written.items() if value or (key == "default" and value is not None)
    }
    properties = written.get("properties") or {}
    return said <= {"type", "default", "properties"} and set(properties) <= {"name", "generateName"}


def _values(written: Written, path: str, *, skips_any_of: bool) -> Iterator[FieldError]:
    """Yield the errors in the value rules of one schema."""
    for junctor in JUNCTORS:
        if junctor == "anyOf" and skips_any_of:
            continue
        for index, each in enumerate(written.get(junctor) or ()):
            is_int_or_string = (
                junctor == "allOf" and index == 0 and each.get("anyOf") == _INTEGER_OR_STRING
            )
            yield from _nested(each, f"{path}.{junctor}[{index}]", skips_any_of=is_int_or_string)
    if isinstance(written.get("not"), Mapping):
        yield from _nested(written["not"], f"{path}.not")
    if pattern := written.get("pattern"):
        try:
            compile_pattern(pattern)
        except BadPattern as error:
            why = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", pattern, why)


def _nested(written: Written, path: str, *, skips_any_of: bool = False) -> Iterator[FieldError]:
    """Yield the errors of a schema inside ``anyOf``, ``allOf``, ``oneOf`` or ``not``."""
    yield from _values(written, path, skips_any_of=skips_any_of)
    if isinstance(items := written.get("items"), Mapping):
        yield from _nested(items, f"{path}.items")
    for name, each in (written.get("properties") or {}).items():
        yield from _nested(each, f"{path}.properties[{name}]")
    if written.get("additionalProperties") not in (None, False):
        yield forbidden(f"{path}.additionalProperties", "must be undefined to be structural")
    for key, why in _STRUCTURE.items():
        value = written.get(key)
        if value is not None if key in _ABSENT_AS_NULL else value:
            yield forbidden(f"{path}.{key}", why)
    if "metadata" in (written.get("properties") or {}):
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _incomplete(rules: Written, schema: Any, path: str, rules_path: str) -> Iterator[FieldError]:
    """Yield an error for each field in a value rule that the structural schema does not specify."""
    if not isinstance(schema, Mapping):
        yield required(path, f"because it is defined in {rules_path}")
        return
    for name, each in _nested_rules(rules):
        yield from _incomplete(each, schema, path, f"{rules_path}.{name}")
    if isinstance(items := rules.get("items"), Mapping):
        yield from _incomplete(items, schema.get("items"), f"{path}.items", f"{rules_path}.items")
    properties = schema.get("properties") or {}
    for name, each in (rules.get("properties") or {}).items():
        place = f"properties[{name}]"
        yield from _incomplete(
            each, properties.get(name), f"{path}.{place}", f"{rules_path}.{place}"
        )


def _nested_rules(rules: Written) -> Iterator[tuple[str, Written]]:
    if isinstance(rules.get("not"), Mapping):
        yield "not", rules["not"]
    for junctor in JUNCTORS:
        for index, each in enumerate(rules.get(junctor) or ()):
            yield f"{junctor}[{index}]", each
