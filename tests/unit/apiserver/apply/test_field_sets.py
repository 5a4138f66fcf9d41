"""Operations, order and encoding of field sets."""

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.apiserver.apply.field_sets import (
    SELF,
    difference,
    intersection,
    is_member,
    ordered,
    outside,
    parsed,
    paths,
    union,
)
from steersman_cluster.apiserver.meta.reset_fields import FieldSet

Paths: TypeAlias = frozenset[tuple[str, ...]]

PATHS = st.frozensets(
    st.lists(st.sampled_from(["f:a", "f:b", "v:1"]), min_size=1, max_size=3).map(tuple), max_size=6
)


def tree(members: Paths) -> FieldSet:
    result: FieldSet = {}
    for path in sorted(members):
        here = result
        for element in path[:-1]:
            if element in here and not here[element]:
                here[element][SELF] = {}
            here = here.setdefault(element, {})
        here.setdefault(path[-1], {})
    return result


def members(fields: FieldSet, prefix: tuple[str, ...] = ()) -> Paths:
    found: set[tuple[str, ...]] = set()
    for element, branch in fields.items():
        if element != SELF:
            if is_member(branch):
                found.add((*prefix, element))
            found |= members(branch, (*prefix, element))
    return frozenset(found)


@given(one=PATHS, other=PATHS)
def test_union_difference_and_intersection_equal_those_of_path_sets(
    one: Paths, other: Paths
) -> None:
    assert members(union(tree(one), tree(other))) == one | other
    assert members(difference(tree(one), tree(other))) == one - other
    assert members(intersection(tree(one), tree(other))) == one & other


@given(one=PATHS, areas=PATHS)
def test_outside_removes_every_path_below_an_area(one: Paths, areas: Paths) -> None:
    below = {path for path in one for area in areas if path[: len(area)] == area}

    assert members(outside(tree(one), tree(areas))) == one - below


@given(one=PATHS)
def test_an_empty_set_is_falsy(one: Paths) -> None:
    assert not difference(tree(one), tree(one))
    assert not outside(tree(one), tree(one))
    assert not intersection(tree(one), {})


def test_fields_are_ordered_by_name_then_items_by_key_then_by_value() -> None:
    fields: FieldSet = {
        "v:true": {},
        'v:"b"': {},
        "v:10": {},
        "v:9": {},
        "v:1.5": {},
        'k:{"port":443}': {},
        'k:{"port":80}': {"f:name": {}, ".": {}},
        'k:{"name":"x","port":80}': {},
        "f:b": {},
        "f:a": {},
        "i:10": {},
        "i:9": {},
        "v:null": {},
    }

    assert list(ordered(fields)) == [
        "f:a",
        "f:b",
        'k:{"name":"x","port":80}',
        'k:{"port":80}',
        'k:{"port":443}',
        "v:1.5",
        "v:9",
        "v:10",
        'v:"b"',
        "v:true",
        "v:null",
        "i:9",
        "i:10",
    ]
    assert list(ordered(fields)['k:{"port":80}']) == [".", "f:name"]


def test_paths_list_the_fields_of_each_level_before_those_below() -> None:
    fields: FieldSet = {
        "f:a": {"f:z": {}},
        "f:b": {".": {}, 'k:{"id":1,"name":"x"}': {"f:y": {}}, 'v:"v"': {}, "i:3": {}},
        "f:c": {},
    }

    assert list(paths(fields)) == [
        ".b",
        ".c",
        ".a.z",
        '.b[="v"]',
        ".b[3]",
        '.b[id=1,name="x"].y',
    ]


def test_a_parsed_set_has_the_canonical_form() -> None:
    given_set: FieldSet = {
        "f:a": None,
        'k:{"b": 2, "a": "<"}': {".": {}, "f:x": {}},
        "v: 1.0": {},
        "i:1": {},
        "q:later": {"anything": 7},
    }

    assert parsed(given_set) == {
        "f:a": {},
        'k:{"a":"\\u003c","b":2}': {".": {}, "f:x": {}},
        "v:1": {},
        "i:1": {},
    }


@pytest.mark.parametrize("element", ["", "f", "fa", "k:", "k:7", "v:", "v:x", "i:x", "i:1.5"])
def test_an_invalid_path_element_is_rejected(element: str) -> None:
    with pytest.raises(ValueError, match=r"no path element"):
        parsed({element: {}})


def test_a_set_that_is_not_an_object_is_rejected() -> None:
    with pytest.raises(ValueError, match="object"):
        parsed({"f:a": ["f:b"]})
