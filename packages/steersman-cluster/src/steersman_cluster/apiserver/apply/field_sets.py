"""Sets of fields, in the same form as ``fieldsV1`` in managedFields.

A set is a tree of path elements. A branch without children is a field of the set. A branch with
children is a field of the set only if one of the children is ``.``. The root itself is not a field.
An empty set is an empty root. Sets are immutable, so that they can share branches.
"""

from collections.abc import Iterator
from typing import Any

from steersman_cluster.apiserver.apply.path_elements import canonical, shown, sort_key
from steersman_cluster.apiserver.meta.reset_fields import FieldSet

SELF = "."


def is_member(branch: FieldSet) -> bool:
    """Whether ``branch`` is itself a field of its set, and not only a parent of fields."""
    return not branch or SELF in branch


def as_member(branch: FieldSet) -> FieldSet:
    """Return ``branch``, marked as a field of its set and not only as a parent of fields."""
    return branch if is_member(branch) else {SELF: {}, **branch}


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the fields that are in ``one`` or ``other``, or in both."""
    if not one or not other:
        return one or other
    result = dict(one)
    for element, branch in other.items():
        mine = one.get(element)
        result[element] = branch if mine is None else _joined(mine, branch)
    return result


def _joined(one: FieldSet, other: FieldSet) -> FieldSet:
    return union(as_member(one), as_member(other)) if not one or not other else union(one, other)


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the fields of ``one`` that are not in ``other``.

    A field's children are separate fields: they remain even if ``other`` contains their parent.
    """
    return _children_left(one, other) if other else one


def _children_left(one: FieldSet, other: FieldSet) -> FieldSet:
    left = {}
    for element, branch in one.items():
        if element == SELF:
            continue
        if element in other:
            taken = other[element]
            if not branch and is_member(taken):
                continue
            rest = _children_left(branch, taken) if branch else branch
            if is_member(branch) and not is_member(taken):
                branch = {SELF: {}, **rest} if rest else {}
            elif rest:
                branch = rest
            else:
                continue
        left[element] = branch
    return left


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the fields that are in both sets."""
    common = {}
    for element, branch in one.items():
        theirs = other.get(element)
        if element == SELF or theirs is None:
            continue
        shared = intersection(branch, theirs)
        if is_member(branch) and is_member(theirs):
            common[element] = {SELF: {}, **shared} if shared else {}
        elif shared:
            common[element] = shared
    return common


def outside(one: FieldSet, areas: FieldSet) -> FieldSet:
    """Return the fields of ``one`` that are not in ``areas``, nor below a field of ``areas``."""
    if not areas:
        return one
    left = {}
    for element, branch in one.items():
        area = areas.get(element)
        if area is None or element == SELF:
            left[element] = branch
        elif not is_member(area):
            rest = outside(branch, area)
            if rest or not branch:
                left[element] = rest
    return left


def ordered(one: FieldSet) -> FieldSet:
    """Return the set with its path elements sorted as in the managedFields of kube-apiserver."""
    elements = sorted(one)
    # Field names (f:) are sorted correctly and come first; several list items may need sort_key().
    if len(elements) > 1 and elements[-2] > "g":
        elements.sort(key=sort_key)
    result = {}
    for element in elements:
        branch = one[element]
        result[element] = ordered(branch) if branch else branch
    return result


def paths(one: FieldSet, prefix: str = "") -> Iterator[str]:
    """Yield a readable path, starting with ``prefix``, for each field of a sorted set.

    At each level of the tree, the fields at that level precede the fields below them.
    """
    branches = [(prefix + shown(key), branch) for key, branch in one.items() if key != SELF]
    yield from (path for path, branch in branches if is_member(branch))
    for path, branch in branches:
        yield from paths(branch, path)


def parsed(given: Any) -> FieldSet:
    """Return ``given``, a field set from a client, with its path elements in canonical form.

    Raises ``ValueError`` if ``given`` is not a field set.
    """
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ValueError("a field set is an object")
    result: FieldSet = {}
    for element, branch in given.items():
        known = SELF if element == SELF else canonical(element)
        if known is not None:
            result[known] = parsed(branch)
    return result
