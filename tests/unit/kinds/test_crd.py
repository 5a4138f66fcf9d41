"""What a kind's definition says beyond its fields is checked where it is written."""

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
    """What a class statement does, with keywords that a test chooses."""
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
def test_names_that_kubernetes_would_refuse_are_refused(wrong: Callable[[], Crd]) -> None:
    with pytest.raises(BadName):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda: Column(" ", ".spec.size"), "has a name"),
        (lambda: Column("Size", "spec.size"), "begins with a dot"),
        (lambda: Column("Size", ".spec.size", type=UNKNOWN), "one of integer, number"),
        (lambda: Column("Size", ".spec.size", format=UNKNOWN), "one of int32, int64"),
        (lambda: ScalePaths(spec=".status.size", status=".status.size"), "begins with .spec."),
        (lambda: ScalePaths(spec=".spec.size", status=".spec.size"), "begins with .status."),
        (lambda: ScalePaths(spec=".spec.a[0]", status=".status.size"), "through no list"),
        (
            lambda: ScalePaths(spec=".spec.a", status=".status.a", selector=".metadata.a"),
            "begins with .spec. or .status.",
        ),
        (lambda: Crd(short_names=LONE_TEXT), "short_names is a tuple, such as"),
        (lambda: Crd(categories=LONE_TEXT), "categories is a tuple"),
        (lambda: Crd(selectable_fields=LONE_TEXT), "selectable_fields is a tuple"),
        (lambda: Crd(short_names=("a", "a")), "a is twice among the short names"),
        (
            lambda: Crd(columns=(Column("A", ".spec.a"), Column("A", ".spec.b"))),
            "A is twice among the columns",
        ),
        (lambda: Crd(selectable_fields=("spec.a",)), "begins with a dot"),
        (lambda: Crd(selectable_fields=tuple(f".spec.f{n}" for n in range(9))), "8 selectable"),
        (lambda: Crd(deprecated=""), "one printable line"),
        (lambda: Crd(deprecated="one\ntwo"), "one printable line"),
        (lambda: Crd(deprecated="x" * 257), "256 bytes"),
    ],
)
def test_an_inconsistent_definition_is_refused(wrong: Callable[[], object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        wrong()


@pytest.mark.parametrize(
    ("keywords", "why"),
    [
        ({"crd": "yes"}, "Widget: crd= is a Crd"),
        (
            {"crd": Crd(also_serves=(declared("Other", kind="Other", version="v2"),))},
            "Widget: also_serves names Other, which is app.example.com/v2 Other",
        ),
        (
            {"crd": Crd(also_serves=(declared("Wide", version="v2", namespaced=False),))},
            "also_serves names Wide",
        ),
        ({"crd": Crd(also_serves=(declared("Same"),))}, "or it itself, are v1"),
        (
            {
                "crd": Crd(
                    also_serves=(declared("Two", version="v2"), declared("Too", version="v2"))
                )
            },
            "or it itself, are v2",
        ),
        (
            {"crd": Crd(also_serves=(declared("Old", version="v0", crd=Crd(short_names=("w",))),))},
            "which has short_names of its own",
        ),
    ],
)
def test_a_class_statement_with_a_wrong_definition_is_refused(
    keywords: dict[str, Any], why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        declared(**keywords)


def test_a_definition_without_a_version_is_refused() -> None:
    with pytest.raises(TypeError, match="Wrong: a kind needs version= beside crd="):
        new_class("Wrong", (CustomResource[Spec, Part],), {"crd": Crd()})


def test_a_part_that_is_not_a_resource_has_no_definition() -> None:
    with pytest.raises(TypeError, match="Wrong: only a Resource has a version and a crd"):
        new_class("Wrong", (Part,), {"version": "v1", "crd": Crd()})
