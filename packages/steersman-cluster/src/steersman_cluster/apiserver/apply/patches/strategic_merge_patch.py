"""Strategic merge patch: the schema determines which lists are merged, and by which key."""

from typing import Any

from steersman_cluster.apiserver.apply.patches.list_elements import (
    ElementKey,
    element_type,
    in_wanted_order,
)
from steersman_cluster.apiserver.apply.patches.merge_patch import without_nulls
from steersman_cluster.apiserver.apply.patches.patch_errors import Object, failed
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal, go_text, go_type
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request
from steersman_cluster.apiserver.schema.node import Schema

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM_PRIMITIVE_LIST = "$deleteFromPrimitiveList"
SET_ELEMENT_ORDER = "$setElementOrder"


def apply_strategic_merge_patch(obj: Object, patch: Any, schema: Schema) -> Object:
    """Return ``obj``, of a built-in kind, after the strategic merge patch ``patch``.

    ``schema`` declares how each list is merged.
    """
    if patch is None:
        return obj
    if not isinstance(patch, dict):
        raise bad_request(cannot_unmarshal(patch, "value of type map[string]interface {}"))
    return _merged(obj, patch, schema)


def _merged(original: Object, patch: Object, schema: Schema) -> Object:
    if PATCH in patch:
        return _replaced(patch)
    merged = original.copy()
    patch = patch.copy()
    if RETAIN_KEYS in patch:
        _retain(merged, patch)
    for key in [key for key in patch if key.startswith(SET_ELEMENT_ORDER)]:
        _reorder(merged, patch, key, schema)
    for key, wanted in patch.items():
        if key.startswith(DELETE_FROM_PRIMITIVE_LIST):
            _delete_from_list(merged, key, wanted, schema)
        elif wanted is None:
            merged.pop(key, None)
        else:
            _merge_value(merged, key, wanted, schema)
    return merged


def _merge_value(merged: Object, key: str, wanted: Any, schema: Schema) -> None:
    match merged.get(key), wanted:
        case dict(found), dict():
            merged[key] = _merged_map(found, wanted, _field(schema, key))
        case list(found), list():
            merged[key] = _merged_list(found, wanted, _list_field(schema, key))
        case _ if _is_directive(wanted):
            merged.pop(key, None)
        case _:
            merged[key] = _without_directives(without_nulls(wanted))


def _replaced(patch: Object) -> Object:
    match patch[PATCH]:
        case "replace":
            return {key: value for key, value in patch.items() if key != PATCH}
        case "delete":
            return {}
        case _:
            raise _unknown_directive(patch)


def _retain(merged: Object, patch: Object) -> None:
    keys = patch.pop(RETAIN_KEYS)
    if not isinstance(keys, list):
        raise _bad_format("retainKeys")
    retained = {key for key in keys if isinstance(key, str)}
    for key, value in patch.items():
        exempt = key.startswith((DELETE_FROM_PRIMITIVE_LIST, SET_ELEMENT_ORDER))
        if value is not None and not exempt and key not in retained:
            raise _bad_format("retainKeys")
    for key in [key for key in merged if key not in retained]:
        del merged[key]


def _without_directives(value: Any) -> Any:
    if value.__class__ is dict:
        return {
            key: _without_directives(each) for key, each in value.items() if not _is_directive(each)
        }
    if value.__class__ is list:
        return [_without_directives(each) for each in value if not _is_directive(each)]
    return value


def _is_directive(value: Any) -> bool:
    return value.__class__ is dict and PATCH in value


def _merged_map(original: Object, patch: Object, schema: Schema) -> Object:
    if "replace" in schema.patch_strategies:
        return patch
    return _merged(original, patch, schema)


def _merged_list(original: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    if "merge" not in schema.patch_strategies:
        return patch
    if not original and not patch:
        return original
    if element_type(original, patch) is not dict:
        both = list(dict.fromkeys([*original, *patch]))
        return in_wanted_order(both, wanted=patch, existing=original, key_of=ElementKey(None))
    return _merged_objects(original, patch, schema)


def _merged_objects(original: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    if schema.patch_merge_key is None or schema.items is None:
        raise failed("cannot merge lists without merge key for struct")
    key_of = ElementKey(schema.patch_merge_key)
    original, patch = _without_special_elements(original, patch, key_of)
    merged = original.copy()
    places: dict[Any, int] = {}
    for place, element in enumerate(merged):
        places.setdefault(key_of(element), place)
    for element in patch:
        place = places.setdefault(key_of(element), len(merged))
        if place == len(merged):
            merged.append(element)
        else:
            merged[place] = _merged(merged[place], element, schema.items)
    return in_wanted_order(merged, wanted=patch, existing=original, key_of=key_of)


def _without_special_elements(
    original: list[Any], patch: list[Any], key_of: ElementKey
) -> tuple[list[Any], list[Any]]:
    """Return ``original`` after the directives in ``patch``, and the elements still to be merged.

    ``$patch: delete`` removes an element. With ``$patch: replace``, the plain elements of ``patch``
    replace the list, and nothing is left to be merged.
    """
    replaced = False
    deleted: set[Any] = set()
    plain: list[Any] = []
    for element in patch:
        if PATCH not in element:
            plain.append(element)
            continue
        match element[PATCH]:
            case "delete":
                deleted.add(key_of(element))
            case "replace":
                replaced = True
            case "merge":
                raise failed("merging lists cannot yet be specified in the patch")
            case _:
                raise _unknown_directive(element)
    if replaced:
        return plain, []
    if deleted:
        original = [element for element in original if key_of(element) not in deleted]
    return original, plain


def _delete_from_list(merged: Object, key: str, deleted: Any, schema: Schema) -> None:
    key = _listed(key, DELETE_FROM_PRIMITIVE_LIST, "primitive")
    if deleted is None:
        merged.pop(key, None)
        return
    found = merged.get(key)
    if not isinstance(found, list) or not isinstance(deleted, list) or not (found or deleted):
        return
    schema = _list_field(schema, key)
    if element_type(found, deleted) is dict:
        merged[key] = _merged_objects(found, deleted, schema)
    else:
        gone = set(deleted)
        merged[key] = [each for each in found if each not in gone]


def _reorder(merged: Object, patch: Object, directive: str, schema: Schema) -> None:
    """Merge the list that the directive names, then sort it as the directive requires."""
    order = _only_list(patch.pop(directive))
    key = _listed(directive, SET_ELEMENT_ORDER, "setElementOrder")
    found = _only_list(merged[key]) if key in merged else None
    wanted = _only_list(patch.pop(key)) if key in patch else None
    schema = _list_field(schema, key)
    _check_order(wanted or [], order, schema.patch_merge_key)
    if found is not None and wanted is not None:
        both = _merged_list(found, wanted, schema)
    elif wanted is not None:
        both = _without_directives(wanted)
    elif found is not None:
        both = found
    else:
        return
    element_type(found or [], wanted or [])
    merged[key] = in_wanted_order(
        both, wanted=order, existing=found or [], key_of=ElementKey(schema.patch_merge_key)
    )


def _check_order(wanted: list[Any], order: list[Any], merge_key: str | None) -> None:
    """Raise an error unless the elements of the patch occur in ``order``, in the same sequence."""
    if not wanted or not order:
        return
    key_of = ElementKey(merge_key)
    places = iter(order)
    for element in wanted:
        if merge_key is not None and _is_directive(element):
            continue
        key = key_of(element)
        if not any(key_of(place) == key for place in places):
            raise failed(
                f"The order in patch list:\n{go_text(wanted)}\n"
                f" doesn't match {SET_ELEMENT_ORDER} list:\n{go_text(order)}\n"
            )


def _field(schema: Schema, key: str) -> Schema:
    if schema.additional is not None:
        raise failed("merging an object in json but data type is not struct, instead is: map")
    if key not in schema.properties:
        struct = (schema.name or "").rpartition(".")[2]
        raise failed(f'unable to find api field in struct {struct} for the json field "{key}"')
    return schema.properties[key]


def _list_field(schema: Schema, key: str) -> Schema:
    found = _field(schema, key)
    if found.items is None:
        raise failed("expected slice or array type, but got: struct")
    if found.items.type == "array":
        raise failed("unexpected slice of slice")
    return found


def _listed(directive: str, prefix: str, what: str) -> str:
    """Return the field that a directive such as ``$setElementOrder/containers`` names."""
    found, slash, key = directive.partition("/")
    if found != prefix or not slash:
        raise _bad_format(f"{what} list")
    return key


def _only_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise failed(f"expected a []interface {{}}, but received a {go_type(value)}")


def _bad_format(what: str) -> StatusError:
    return bad_request(f"invalid patch format of {what}")


def _unknown_directive(patch: Object) -> StatusError:
    return failed(f"unknown patch type: {go_text(patch[PATCH])} in map: {go_text(patch)}")
