"""Generated models read every object that the schema accepts, and keep every declared field."""

import ast
import sys
from types import ModuleType
from typing import Any

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from steersman.errors import SteersmanError
from steersman.kinds import Codec
from steersman.kinds.generate import models_from_crd
from tests.unit.manifests.crds import definition, fields, rich
from tests.unit.manifests.drawn_schemas import schemas, values
from tests.unit.manifests.test_breaking_changes import Server
from tests.unit.manifests.test_definitions import junk, paths, with_value

NAME = "models_of_drawn_schemas"


def without_nulls(value: Any) -> Any:
    """The value without null fields: an unset optional field is not sent."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value


def models_of(schema: dict[str, Any]) -> Any:
    module = ModuleType(NAME)
    # Annotations are evaluated in this module when a class is first decoded.
    sys.modules[NAME] = module
    exec(models_from_crd(definition(fields(it=schema))), module.__dict__)  # noqa: S102
    return module


@given(data=st.data())
def test_an_object_that_a_schema_accepts_round_trips_through_the_models(
    data: st.DataObject,
) -> None:
    schema = data.draw(schemas)
    value = data.draw(values(schema))
    assume(Server(schema).accepts(value))
    obj = {
        "apiVersion": "shop.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one"},
        "spec": {"it": value},
    }

    kind = models_of(schema).Widget
    read = Codec().decode(kind, msgspec.json.encode(obj), wanted="read")

    written = msgspec.json.decode(Codec().encode(read))
    assert without_nulls(written) == without_nulls(obj)


@given(data=st.data())
def test_a_definition_with_junk_becomes_models_or_is_rejected(data: st.DataObject) -> None:
    crd = with_value(rich(), data.draw(st.sampled_from(paths(rich()))), data.draw(junk))

    try:
        source = models_from_crd(crd)
    except SteersmanError:
        return

    ast.parse(source)
