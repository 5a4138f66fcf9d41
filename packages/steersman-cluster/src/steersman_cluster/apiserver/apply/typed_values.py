"""The fields of a value, and the fields in which two values differ, by schema.

A struct, a map, and a list of type map or set are divided into fields. Everything else, and any
value declared atomic, is one field. Without a declaration, maps are divided and lists are not.
"""

from typing import Any, Final, TypeAlias, TypeGuard

from steersman.units import same_booleans
from steersman_cluster.apiserver.apply.field_sets import SELF, as_member
from steersman_cluster.apiserver.apply.path_elements import element_of
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from steersman_cluster.apiserver.schema.node import Schema

# Only these types need the schema; most values are of another type.
_PARTED: Final = (dict, list)

UNDECLARED: Final = Schema(preserve_unknown=True)

Change: TypeAlias = "tuple[FieldSet | None, FieldSet | None]"


def child_of(schema: Schema, name: str) -> Schema:
    """Return the schema of the field ``name`` in a map or struct with the schema ``schema``."""
    return schema.properties.get(name) or schema.additional or UNDECLARED


def is_map(value: Any, schema: Schema) -> TypeGuard[dict[str, Any]]:
    """Whether ``value`` is a map or struct that is divided into fields by name."""
    return value.__class__ is dict and schema.map_type != "atomic"


def is_list(value: Any, schema: Schema) -> TypeGuard[list[Any]]:
    """Whether ``value`` is a list that is divided into items by key or by value."""
    return value.__class__ is list and schema.list_type != "atomic"


def item_schema(schema: Schema) -> Schema:
    """Return the schema of the items of a list with the schema ``schema``."""
    return schema.items or UNDECLARED


def applied_fields(value: Any, schema: Schema) -> FieldSet:
    """Return the set of fields that a manager owns after it applies ``value``."""
    return _applied(value, schema) or {}


def _applied(value: Any, schema: Schema) -> FieldSet | None:
    """Return a branch, or None if the value contains no field."""
    if value.__class__ not in _PARTED:
        return None if value is None else {}
    if is_map(value, schema):
        return _applied_map(value, schema)
    if is_list(value, schema):
        child = item_schema(schema)
        return {
            element: as_member(_applied(items[0], child) or {}) if len(items) == 1 else {}
            for element, items in by_element(value, schema).items()
        } or None
    return {}


def _applied_map(value: dict[str, Any], schema: Schema) -> FieldSet | None:
    fields = {}
    for name, each in value.items():
        parted = each.__class__ in _PARTED
        branch = _applied(each, child_of(schema, name)) if parted else {}
        if each is None or each == {} or name not in schema.properties:
            branch = as_member(branch or {})
        if branch is not None:
            fields["f:" + name] = branch
    return fields or None


def all_fields(value: Any, schema: Schema) -> FieldSet:
    """Return the branch of a field set that contains ``value`` itself and every field in it."""
    if not value or value.__class__ not in _PARTED:
        return {}
    fields: FieldSet = {}
    if is_map(value, schema):
        fields[SELF] = {}
        for name, each in value.items():
            parted = each.__class__ in _PARTED
            fields["f:" + name] = all_fields(each, child_of(schema, name)) if parted else {}
    elif is_list(value, schema):
        fields[SELF] = {}
        child = item_schema(schema)
        for element, items in by_element(value, schema).items():
            fields[element] = all_fields(items[0], child) if len(items) == 1 else {}
    return fields


def compared(old: Any, new: Any, schema: Schema) -> tuple[FieldSet, FieldSet]:
    """Return the set of fields that ``new`` adds or modifies, and the set that it removes."""
    # A boolean can replace a number only where the schema declares no type.
    typed = schema.name is not None
    if old == new and (typed or same_booleans(old, new)):
        return {}, {}
    changed, removed = _change(old, new, schema, typed=typed)
    return changed or {}, removed or {}


def _change(old: Any, new: Any, schema: Schema, *, typed: bool) -> Change:
    """Return two branches for two values that differ; a branch is None if nothing in it differs."""
    if is_map(old or new, schema) or is_map(new, schema):
        return _change_of_maps(old, new, schema, typed=typed)
    if is_list(old or new, schema) and is_list(new or old, schema):
        return _change_of_lists(old or [], new or [], schema, typed=typed)
    return {}, None


def _change_of_maps(old: Any, new: Any, schema: Schema, *, typed: bool) -> Change:
    before: dict[str, Any] = old if old.__class__ is dict else {}
    after: dict[str, Any] = new if new.__class__ is dict else {}
    if not before and not after:
        return {}, None
    changed: FieldSet = {}
    removed: FieldSet = {}
    # If a scalar becomes a map, or a map a scalar, the value itself has changed, too.
    if (old is not None and old is not before) or (new is not None and new is not after):
        changed[SELF] = {}
    for name, each in after.items():
        if name not in before:
            parted = each.__class__ in _PARTED
            changed["f:" + name] = all_fields(each, child_of(schema, name)) if parted else {}
            continue
        was = before[name]
        if was is each or (was == each and (typed or same_booleans(was, each))):
            continue  # a shortcut without a schema lookup: nearly all values are equal
        if was.__class__ not in _PARTED and each.__class__ not in _PARTED:
            changed["f:" + name] = {}
            continue
        more, less = _change(was, each, child_of(schema, name), typed=typed)
        if more is not None:
            changed["f:" + name] = more
        if less is not None:
            removed["f:" + name] = less
    for name, each in before.items():
        if name not in after:
            removed["f:" + name] = all_fields(each, child_of(schema, name))
    if SELF in changed and len(changed) == 1:
        return {}, removed or None
    return changed or None, removed or None


def _change_of_lists(old: list[Any], new: list[Any], schema: Schema, *, typed: bool) -> Change:
    if not old and not new:
        return {}, None
    changed: FieldSet = {}
    removed: FieldSet = {}
    before, after = by_element(old, schema), by_element(new, schema)
    for element in before | after:
        were, are = before.get(element, []), after.get(element, [])
        if were == are and (typed or same_booleans(were, are)):
            continue
        more, less = _change_of_items(were, are, item_schema(schema), typed=typed)
        if more is not None:
            changed[element] = more
        if less is not None:
            removed[element] = less
    return changed or None, removed or None


def _change_of_items(were: list[Any], are: list[Any], schema: Schema, *, typed: bool) -> Change:
    """Return the changes between the items of one key; duplicate items together are one field."""
    if len(were) == 1 and len(are) == 1:
        return _change(were[0], are[0], schema, typed=typed)
    if len(were) > 1 and len(are) > 1:
        return {}, None
    return _together(are, schema), _together(were, schema)


def _together(items: list[Any], schema: Schema) -> FieldSet | None:
    if not items:
        return None
    return all_fields(items[0], schema) if len(items) == 1 else {}


def as_divided(fields: FieldSet, schema: Schema) -> FieldSet:
    """Return ``fields``, where each value that ``schema`` declares atomic is a single field."""
    result = {}
    for element, branch in fields.items():
        if branch and (child := child_by_element(schema, element)).type in ("object", "array"):
            of_list = child.type == "array"
            atomic = (child.list_type if of_list else child.map_type) == "atomic"
            branch = {} if atomic else as_divided(branch, child)
        result[element] = branch
    return result


def child_by_element(schema: Schema, element: str) -> Schema:
    """Return the schema of the value at the path element ``element`` below ``schema``."""
    if element[0] == "f":
        return child_of(schema, element[2:])
    return item_schema(schema) if element[0] == "k" else UNDECLARED


def by_element(items: list[Any], schema: Schema) -> dict[str, list[Any]]:
    """Return the items of a list by path element; in a valid list, each has exactly one item."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(element_of(item, schema), []).append(item)
    return found
