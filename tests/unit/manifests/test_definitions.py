"""A document is parsed as a definition, or the error says where it is invalid."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadDefinition, NoSample
from steersman.manifests import breaking_changes, reference_of, sample_of
from tests.unit.manifests.crds import definition, fields, rich

junk: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**6, -1])
    | st.floats()
    | st.text(max_size=3),
    lambda inside: (
        st.lists(inside, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "enum", "properties", "items", "x", "default", "oneOf"]),
            inside,
            max_size=2,
        )
    ),
    max_leaves=4,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All paths in a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, ...]] = []
    for key, each in inside:
        found.append((*path, key))
        if isinstance(each, dict | list):
            found += paths(each, (*path, key))
    return found


def with_value(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    found = deepcopy(document)
    owner = found
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    return found


@given(data=st.data())
def test_a_document_with_junk_is_parsed_or_rejected(data: st.DataObject) -> None:
    crd = with_value(rich(), data.draw(st.sampled_from(paths(rich()))), data.draw(junk))

    for use in (
        lambda: reference_of([crd]),
        lambda: sample_of(crd),
        lambda: breaking_changes(rich(), crd),
        lambda: breaking_changes(crd, rich()),
    ):
        with suppress(BadDefinition, NoSample):
            use()


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": ["string"]}, "'type' in the schema of v1.spec is not a string"),
        (fields(a={"minimum": "3"}), "'minimum' in the schema of v1.spec.a is not a number"),
        (fields(a={"minLength": 1.5}), "'minLength' in the schema of v1.spec.a is not a whole"),
        (fields(a={"enum": "x"}), "'enum' in the schema of v1.spec.a is not a list"),
        ({"type": "array", "items": True}, "the schema of v1.spec.items is not an object"),
        ({"properties": {1: {}}}, "'properties' in the schema of v1.spec is not an object with"),
        ({"anyOf": [{"not": 1}]}, "the schema of v1.spec.anyOf[0].not is not an object"),
    ],
)
def test_the_error_for_an_invalid_schema_has_its_path(schema: Any, why: str) -> None:
    with pytest.raises(BadDefinition) as refused:
        sample_of(definition(schema))

    assert why in str(refused.value)
