"""The declared definition of a kind is validated in its class statement."""

from collections.abc import Callable
from types import new_class
from typing import Any

import pytest

from steersman.errors import BadName
from steersman.kinds import Column, Crd, CustomResource, Part, Resource, ScalePaths, core_v1


class Spec(Part):
    size: int = 1


UNKNOWN: Any = "int8"
LONE_TEXT: Any = "ab"


def declared(name: str = "Widget", **keywords: Any) -> type[Resource]:
    """Run a class statement with the given keywords."""
    usual = {"group": "app.example.com", "version": "v1", "kind": "Widget"}
    made: type[Resource] = new_class(name, (CustomResource[Spec, Part],), usual | keywords)
    return made


def test_a_custom_kind_has_a_definition_unless_it_opts_out() -> None:
    short = Crd(short_names=("w",))

    assert declared().declared_crd == Crd()
    assert declared(crd=short).declared_crd is short
    assert declared(crd=None).declared_crd is None
    assert core_v1.Pod.declared_crd is None
    assert CustomResource.declared_crd is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Crd(short_names=("App",)),
        lambda: Crd(categories=("all of them",)),
        lambda: Crd(singular="-"),
        lambda: Crd(list_kind="list of widgets"),
    ],
)
def test_names_that_kubernetes_rejects_are_rejected(wrong: Callable[[], Crd]) -> None:
    with pytest.raises(BadName):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda: Column(" ", ".spec.size"), "name of a Column must not be blank"),
        (lambda: Column("Size", "spec.size"), "must begin with a dot"),
        (lambda: Column("Size", ".spec.size", type=UNKNOWN), "one of integer, number"),
        (lambda: Column("Size", ".spec.size", format=UNKNOWN), "one of int32, int64"),
        (lambda: ScalePaths(spec=".status.size", status=".status.size"), "must begin with .spec."),
        (lambda: ScalePaths(spec=".spec.size", status=".spec.size"), "must begin with .status."),
        (
            lambda: ScalePaths(spec=".spec.a[0]", status=".status.size"),
            "must not contain a list index",
        ),
        (
            lambda: ScalePaths(spec=".spec.a", status=".status.a", selector=".metadata.a"),
            "must begin with .spec. or .status.",
        ),
        (lambda: Crd(short_names=LONE_TEXT), "short_names must be a tuple, such as"),
        (lambda: Crd(categories=LONE_TEXT), "categories must be a tuple"),
        (lambda: Crd(selectable_fields=LONE_TEXT), "selectable_fields must be a tuple"),
        (lambda: Crd(short_names=("a", "a")), "the short names of a Crd contain a duplicate: a"),
        (
            lambda: Crd(columns=(Column("A", ".spec.a"), Column("A", ".spec.b"))),
            "the columns of a Crd contain a duplicate: A",
        ),
        (lambda: Crd(selectable_fields=("spec.a",)), "must begin with a dot"),
        (lambda: Crd(selectable_fields=tuple(f".spec.f{n}" for n in range(9))), "8 selectable"),
        (lambda: Crd(deprecated=""), "one printable line"),
        (lambda: Crd(deprecated="one\ntwo"), "one printable line"),
        (lambda: Crd(deprecated="x" * 257), "256 bytes"),
    ],
)
def test_an_inconsistent_definition_is_rejected(wrong: Callable[[], object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        wrong()


@pytest.mark.parametrize(
    ("keywords", "why"),
    [
        ({"crd": "yes"}, "Widget: crd must be a Crd"),
        (
            {"crd": Crd(also_serves=(declared("Other", kind="Other", version="v2"),))},
            "Widget: also_serves contains Other, which is app.example.com/v2 Other",
        ),
        (
            {"crd": Crd(also_serves=(declared("Wide", version="v2", namespaced=False),))},
            "also_serves contains Wide",
        ),
        ({"crd": Crd(also_serves=(declared("Same"),))}, "the version v1 more than once"),
        (
            {
                "crd": Crd(
                    also_serves=(declared("Two", version="v2"), declared("Too", version="v2"))
                )
            },
            "the version v2 more than once",
        ),
        (
            {"crd": Crd(also_serves=(declared("Old", version="v0", crd=Crd(short_names=("w",))),))},
            "which sets short_names",
        ),
    ],
)
def test_a_class_statement_with_an_invalid_definition_is_rejected(
    keywords: dict[str, Any], why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        declared(**keywords)


def test_a_definition_without_a_version_is_rejected() -> None:
    with pytest.raises(TypeError, match="Wrong: crd is set, but version is missing"):
        new_class("Wrong", (CustomResource[Spec, Part],), {"crd": Crd()})


def test_a_part_that_is_not_a_resource_has_no_definition() -> None:
    with pytest.raises(
        TypeError,
        match=r"^Wrong: only a subclass of Resource can have the class keywords version, crd$",
    ):
        new_class("Wrong", (Part,), {"version": "v1", "crd": Crd()})
