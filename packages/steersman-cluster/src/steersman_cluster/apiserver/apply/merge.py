"""The merge of an applied configuration into an object, and the removal of fields.

The schema determines how values are divided into fields. No function mutates its arguments; results
share parts with the arguments.
"""

from collections.abc import Iterator
from typing import Any, Final

from steersman_cluster.apiserver.apply.field_sets import (
    as_member,
    difference,
    intersection,
    is_member,
    union,
)
from steersman_cluster.apiserver.apply.path_elements import element_of
from steersman_cluster.apiserver.apply.typed_values import (
    applied_fields,
    child_by_element,
    child_of,
    is_list,
    is_map,
    item_schema,
)
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from steersman_cluster.apiserver.schema.node import Schema

_SCALARS: Final = frozenset((str, int, float, bool))  # values that replace the live value


def merged(live: Any, applied: Any, schema: Schema) -> Any:
    """Return ``live`` with the values of ``applied`` merged into it.

    A null in ``applied`` does not replace a live map or list that is divided into fields.
    """
    if not live:
        return applied
    if is_map(live, schema):
        if applied is None:
            return live
        if applied.__class__ is dict:
            return live | {
                name: merged(live[name], each, child_of(schema, name))
                if name in live and each.__class__ not in _SCALARS
                else each
                for name, each in applied.items()
            }
    elif is_list(live, schema):
        return _merged_lists(live, applied, schema) if applied else live
    return applied


def _merged_lists(live: list[Any], applied: list[Any], schema: Schema) -> list[Any]:
    child = item_schema(schema)
    names = [element_of(item, schema) for item in live]
    ours: dict[str, list[Any]] = {}
    for name, item in zip(names, live, strict=True):
        ours.setdefault(name, []).append(item)
    theirs = {element_of(item, schema): item for item in applied}
    result = []
    for name, index in _interleaved(names, list(theirs)):
        if index is not None:
            result.append(live[index])
        else:
            same = ours.get(name, ())
            # With no live item of the name, or with several, the applied item replaces them.
            result.append(merged(same[0], theirs[name], child) if len(same) == 1 else theirs[name])
    return result


def _interleaved(live: list[str], applied: list[str]) -> Iterator[tuple[str, int | None]]:
    """Yield the items of a merged list.

    Items of ``applied`` follow its sequence; the others stay where they are in ``live``. Each
    result is the name of an item, and the item's index in ``live`` if ``applied`` does not contain
    the item, else None.
    """
    wanted, present = set(applied), set(live)
    following = _next_of(applied, present)
    done = set[str]()
    left = right = 0
    while left < len(live) or right < len(applied):
        name = live[left] if left < len(live) else None
        turn = applied[right] if right < len(applied) else None
        if name is not None and name not in wanted:
            yield name, left
            left += 1
            continue
        if turn not in (None, name) and following[right] not in (None, name) and name is not None:
            # It follows at its position in the applied list.
            left += 1
            continue
        if name is not None and (name == turn or name in done):
            left += 1
        if turn is not None:
            done.add(turn)
            yield turn, None
            right += 1


def _next_of(names: list[str], present: set[str]) -> list[str | None]:
    """For each index in ``names``, return the first ``present`` name at or after that index."""
    upcoming: str | None = None
    found: list[str | None] = []
    for name in reversed(names):
        upcoming = name if name in present else upcoming
        found.append(upcoming)
    return found[::-1]


def remove_fields(value: Any, removed: FieldSet, schema: Schema) -> Any:
    """Return ``value`` without the fields in ``removed``; an emptied map or list becomes null."""
    if is_map(value, schema):
        return _remove_from_map(value, removed, schema)
    if is_list(value, schema):
        return _remove_from_list(value, removed, schema)
    return None if isinstance(value, dict | list) else value


def _remove_from_map(value: dict[str, Any], removed: FieldSet, schema: Schema) -> Any:
    left = {}
    for name, each in value.items():
        branch = removed.get("f:" + name)
        if branch is None:
            left[name] = each
        elif not is_member(branch):
            left[name] = remove_fields(each, branch, child_of(schema, name))
    return left or None


def _remove_from_list(value: list[Any], removed: FieldSet, schema: Schema) -> Any:
    left = []
    for each in value:
        branch = removed.get(element_of(each, schema))
        if branch is None:
            left.append(each)
        elif not is_member(branch):
            rest = remove_fields(each, branch, item_schema(schema))
            # A null item would have no key.
            left.extend(() if rest is None else (rest,))
    return left or None


def with_structs(fields: FieldSet, schema: Schema) -> FieldSet:
    """Return ``fields``, plus each parent of one of them that ``schema`` declares.

    A struct is removed when all its owned fields are removed. In contrast, a map or a list item
    belongs to the manager that named it.
    """
    result = {}
    for element, branch in fields.items():
        if branch:
            branch = with_structs(branch, child_by_element(schema, element))
            if element[0] == "f" and element[2:] in schema.properties:
                branch = as_member(branch)
        result[element] = branch
    return result


def pruned(value: Any, schema: Schema, *, last: FieldSet, owned: list[FieldSet]) -> Any:
    """Return the merged ``value`` without fields that the applier dropped and no manager owns.

    ``last`` is the set of fields that the applier owned before this apply. ``owned`` contains the
    field sets of all managers after this apply, including the applier's. A field that is in none of
    these sets stays, unless the struct that contains it is removed.
    """
    last = with_structs(last, schema)
    present = _structs_in(value, schema)
    kept = _structs_in(remove_fields(value, last, schema), schema)
    for each in owned:
        kept = union(kept, with_structs(each, schema))
    kept = _structs_in(remove_fields(value, difference(present, kept), schema), schema)
    return remove_fields(value, intersection(difference(present, kept), last), schema)


def _structs_in(value: Any, schema: Schema) -> FieldSet:
    return with_structs(applied_fields(value, schema), schema)
