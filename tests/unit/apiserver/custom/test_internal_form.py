"""The internal form of definitions, as error messages print it."""

import msgspec

from steersman_cluster.apiserver.custom.internal_form import (
    InternalSpec,
    first_keyword,
    shown_schema,
)
from tests.unit.apiserver.custom.definition_samples import version
from tests.unit.apiserver.custom.value_samples import INTEGER, STRING, fields, items, values


def test_a_value_that_all_versions_share_is_stored_once() -> None:
    spec = {
        "versions": [version("v1", deprecated=True), version("v2", additionalPrinterColumns=[])]
    }

    form = InternalSpec.of(spec)

    assert set(form.shared) == {"schema"}
    assert all("schema" not in each for each in form.versions)


def test_a_value_that_differs_is_stored_in_each_version() -> None:
    spec = {"versions": [version("v1", fields(a=STRING)), version("v2", fields(a=INTEGER))]}

    form = InternalSpec.of(spec)

    assert form.shared == {}
    assert all("schema" in each for each in form.versions)


def test_a_schema_is_printed_with_all_its_empty_fields() -> None:
    shown = msgspec.json.decode(
        shown_schema({**fields(b=items(STRING), a=values(True)), "default": {"y": 1, "x": 2}})
    )

    assert list(shown)[:4] == ["ID", "Schema", "Ref", "Description"]
    assert list(shown["Properties"]) == ["a", "b"]
    assert shown["Properties"]["a"]["AdditionalProperties"] == {"Allows": True, "Schema": None}
    assert shown["Properties"]["b"]["Items"]["Schema"]["Type"] == "string"
    assert list(shown["Default"]) == ["x", "y"]


def test_first_keyword_returns_the_first_keyword_that_is_not_allowed() -> None:
    schema = {"type": "object", "oneOf": [{}], "minProperties": 1}

    assert first_keyword(schema, frozenset(("Type",))) == "MinProperties"
    assert first_keyword(schema, frozenset(("Type", "MinProperties", "OneOf"))) is None
