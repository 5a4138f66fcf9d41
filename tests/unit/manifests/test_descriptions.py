"""Docstrings of classes, and texts after fields, become descriptions in a definition."""

import sys
from types import ModuleType
from typing import Any

import pytest

from steersman.kinds import Condition, CustomResource, Part, core_v1
from tests.unit.manifests.kinds_of_one_field import schema_in


class Plain(Part):
    x: int = 0


class Inner(Part):
    """What is inside."""

    x: int = 0
    """How far
    it is."""


class Base(Part):
    """Not said of those that derive from it."""

    inherited: int = 0
    """From the base."""
    redefined: int = 0
    """Before."""


class Spec(Base):
    redefined: int = 1
    """After."""
    silent: int = 0
    inner: Inner | None = None
    listed: Inner | None = None
    """This one in particular."""
    inners: tuple[Inner, ...] = ()
    plain: Plain | None = None
    port: core_v1.ServicePort | None = None
    "The built-in one is silent."
    conditions: tuple[Condition, ...] | None = None
    last: str = "a text that is no description"

    def method(self) -> None:
        """Not of a field."""


class Tale(CustomResource[Spec, Part], group="described.example.com", version="v1"):
    """A tale that is
    given in lines.

    And then:
    - one
    - two
        further in
    3. three
    """


def spec() -> dict[str, Any]:
    return dict(schema_in(Tale)["properties"]["spec"])


def description_of(field: str) -> Any:
    return spec()["properties"][field].get("description")


def test_a_docstring_is_the_description_of_its_class_without_line_breaks() -> None:
    assert schema_in(Tale)["description"] == (
        "A tale that is given in lines.\n\nAnd then:\n- one\n- two\n    further in\n3. three"
    )


def test_a_class_does_not_inherit_the_docstring_of_its_base() -> None:
    assert "description" not in spec()


@pytest.mark.parametrize(
    ("field", "description"),
    [
        ("inherited", "From the base."),
        ("redefined", "After."),
        ("silent", None),
        ("inner", "What is inside."),
        ("listed", "This one in particular."),
        ("plain", None),
        ("port", "The built-in one is silent."),
        ("conditions", None),
        ("last", None),
    ],
)
def test_a_field_is_described_by_the_text_after_it_or_by_its_class(
    field: str, description: str | None
) -> None:
    assert description_of(field) == description


def test_list_items_are_described_by_their_class() -> None:
    items = spec()["properties"]["inners"]["items"]

    assert items["description"] == "What is inside."
    assert items["properties"]["x"]["description"] == "How far it is."


def test_a_class_in_a_function_is_described_too() -> None:
    class Spec(Part):
        size: int = 1
        """How many."""

    class Local(CustomResource[Spec, Part], group="described.example.com", version="v1"):
        pass

    properties = schema_in(Local)["properties"]["spec"]["properties"]

    assert properties["size"]["description"] == "How many."


SOURCE = '''
from steersman.kinds import CustomResource, Part

class Spec(Part):
    size: int = 1
    """How many."""

class Sourceless(CustomResource[Spec, Part], group="described.example.com", version="v1"):
    """Described."""
'''


def test_without_the_source_there_is_no_description_of_a_field(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("sourceless_kinds")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(SOURCE, "nowhere.py", "exec"), module.__dict__)  # noqa: S102

    schema = schema_in(module.Sourceless)

    assert schema["description"] == "Described."
    assert "description" not in schema["properties"]["spec"]["properties"]["size"]
