"""JSON paths, and the first value that they match."""

from typing import Any

import pytest

from steersman_cluster.apiserver.tables.json_path import BadJsonPath, JsonPath

VALUE: dict[str, Any] = {
    "name": "x",
    "none": None,
    "labels": {"a.b": "dotted", "c": 1},
    "list": ["a", "b", "c"],
    "items": [
        {"name": "a", "value": 1, "on": True},
        {"name": "b", "value": 2.5, "extra": {"deep": "found"}},
        {"name": "c)", "value": 3},
    ],
}

FOUND: dict[str, Any] = {
    ".name": "x",
    "$.name": "x",
    "@.name": "x",
    ".none": None,
    r".labels.a\.b": "dotted",
    ".labels['a\\.b']": "dotted",
    ".labels['c']": 1,
    ".list": ["a", "b", "c"],
    ".list[0]": "a",
    ".list[]": "a",
    ".items[].value": 1,
    ".list[-1]": "c",
    ".list[1:]": "b",
    ".list[-2:]": "b",
    ".list[:2]": "a",
    ".list[1:3:2]": "b",
    ".list[*]": "a",
    ".list[2,0]": "c",
    ".items[*].name": "a",
    ".items.*.name": "a",
    ".labels.*": "dotted",
    "..deep": "found",
    '.items[?(@.name=="b")].value': 2.5,
    ".items[?(@.name=='c)')].value": 3,
    ".items[?(@.name != 'a')].name": "b",
    ".items[?(@.on==true)].name": "a",
    ".items[?(@.extra)].name": "b",
    ".items[?(@.extra.deep)].name": "b",
}


@pytest.mark.parametrize("path", FOUND)
def test_a_path_returns_the_first_matching_value(path: str) -> None:
    assert JsonPath(path).first(VALUE) == (True, FOUND[path])


NOT_FOUND = (
    ".",
    ".missing",
    ".missing.more",
    ".missing[0]",
    ".name.more",
    ".none.more",
    ".list[3]",
    ".list[-4]",
    ".list[2:9]",
    ".list[1:1]",
    ".list[2:1]",
    ".list[::0]",
    ".labels[0]",
    ".name[*]",
    ".items[?(@.name=='z')].value",
    ".items[?(@.name==1)].value",
    ".items[?(@.value>=3)].name",  # one of the values has another type
    ".items[?(@.on>false)].name",
    ".items[?(@.name~~'a')].name",
    ".labels[?(@.name=='z')]",
    ".name range",
)


@pytest.mark.parametrize("path", NOT_FOUND)
def test_a_path_without_a_match_has_no_value(path: str) -> None:
    assert JsonPath(path).first(VALUE) == (False, None)


@pytest.mark.parametrize(
    "path",
    [
        ".a[x]",
        ".a[",
        ".a[-]",
        ".a[1:x]",
        ".a[?(@.b",
        ".a[?(@.b)",
        "....a",
        ".a 'b",
        ".a !",
        ".a 1.2.3",
    ],
)
def test_an_invalid_path_is_rejected(path: str) -> None:
    with pytest.raises(BadJsonPath):
        JsonPath(path)
