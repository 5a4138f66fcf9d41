"""Compilation of schemas, and validation that they are structural."""

from typing import Any

import pytest

from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.structural import compile_schema, structural_errors
from tests.unit.apiserver.custom.value_samples import (
    ANYTHING,
    EMBEDDED,
    INTEGER,
    MAP_LIST,
    STRING,
    fields,
    items,
    values,
)

META = Schema(type="object", name="ObjectMeta")


def test_a_compiled_schema_contains_the_keywords_of_its_source() -> None:
    schema = compile_schema(
        fields(
            text={**STRING, "format": "date", "nullable": True, "default": "2024-01-01"},
            listed=MAP_LIST,
            map=values(INTEGER, **{"x-kubernetes-map-type": "atomic"}),
            either={"x-kubernetes-int-or-string": True},
        ),
        object_meta=META,
    )

    text, listed, mapped = (schema.properties[name] for name in ("text", "listed", "map"))
    assert (text.type, text.format, text.nullable, text.default) == (
        "string",
        "date",
        True,
        "2024-01-01",
    )
    assert (listed.list_type, listed.list_map_keys) == ("map", ("name",))
    assert listed.items is not None
    assert listed.items.required == ("name",)
    assert listed.items.default is UNSET
    assert mapped.map_type == "atomic"
    assert mapped.additional is not None
    assert schema.properties["either"].int_or_string


def test_resources_and_embedded_resources_have_object_metadata() -> None:
    schema = compile_schema(fields(inner=EMBEDDED, other=fields()), object_meta=META)

    inner = schema.properties["inner"]
    assert schema.properties["metadata"] is inner.properties["metadata"] is META
    assert (inner.holds_resource, schema.properties["other"].holds_resource) == (True, False)


def sentences(written: dict[str, Any]) -> list[str]:
    return [str(error) for error in structural_errors(written, "s")]


@pytest.mark.parametrize(
    "written",
    [
        fields(a=STRING, b=items(INTEGER), c=values(STRING), d=ANYTHING, e=EMBEDDED),
        fields(metadata=fields(name={**STRING, "pattern": "^a"})),
        fields(
            a={
                "x-kubernetes-int-or-string": True,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
            }
        ),
        {**fields(a=INTEGER), "anyOf": [{"properties": {"a": {"minimum": 1}}}]},
    ],
)
def test_a_structural_schema_has_no_errors(written: dict[str, Any]) -> None:
    assert sentences(written) == []


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({}, "s.type: Required value: must not be empty at the root"),
        (STRING, 's.type: Invalid value: "string": must be object at the root'),
        (
            fields(a={}),
            "s.properties[a].type: Required value: must not be empty for specified object fields",
        ),
        (
            fields(a=items({})),
            "s.properties[a].items.type: Required value: must not be empty for specified array"
            " items",
        ),
        (fields(a={"type": "array"}), "s.properties[a].items: Required value: must be specified"),
        (values(STRING), "s.additionalProperties: Forbidden: must not be used at the root"),
        (
            fields(a={**STRING, "anyOf": [{"type": "string"}]}),
            "s.properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            {**fields(), "not": {"properties": {"b": {"minimum": 1}}}},
            "s.properties[b]: Required value: because it is defined in s.not.properties[b]",
        ),
        (
            fields(metadata=fields(labels=values(STRING))),
            "s.properties[metadata]: Forbidden: must not specify anything other than name and"
            " generateName, but metadata is implicitly specified",
        ),
        (
            fields(a={**STRING, "pattern": "("}),
            's.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but'
            " isn't: error parsing regexp: missing closing ): `(`",
        ),
    ],
)
def test_a_non_structural_schema_is_reported_with_its_path(
    written: dict[str, Any], sentence: str
) -> None:
    assert sentences(written) == [sentence]


def test_errors_are_sorted_by_message() -> None:
    found = sentences(fields(b={}, a={}))

    assert found == sorted(found)
    assert len(found) == 2
