"""Definitions generated from classes, validated by the embedded API server's rules."""

import json
import subprocess
import sys
from types import new_class
from typing import Any

import pytest

from steersman.errors import CannotBeACrd
from steersman.kinds import (
    Column,
    Crd,
    CustomResource,
    Part,
    Resource,
    ScalePaths,
)
from steersman.manifests import as_document, crd_of, crds_of
from tests.unit.apiserver.custom.stateless_server import StatelessServer
from tests.unit.manifests.builtin_parts import BUILTIN_MODULES, kind_with_parts_of
from tests.unit.manifests.everything import Everything, GoneEverything, OldEverything
from tests.unit.manifests.kinds_of_one_field import kind_with


class Spec(Part):
    size: int = 1
    max_size: int | None = None
    name: str = "x"
    ports: tuple[int, ...] = ()
    labels: dict[str, str] | None = None


class Status(Part):
    replicas: int = 0
    selector: str | None = None


def declared(name: str = "Widget", **keywords: Any) -> type[Resource]:
    """Run a class statement with the given keywords."""
    usual = {"group": "app.example.com", "version": "v1", "kind": "Widget"}
    made: type[Resource] = new_class(name, (CustomResource[Spec, Status],), usual | keywords)
    return made


@pytest.fixture(scope="module")
def server() -> StatelessServer:
    """The validation of definitions by the API server."""
    return StatelessServer()


def version_of(kind: type[Resource], number: int = 0) -> dict[str, Any]:
    """A version of a kind, without its schema."""
    found = dict(as_document(crd_of(kind))["spec"]["versions"][number])
    del found["schema"]
    return found


def test_a_kind_with_every_feature_is_accepted(server: StatelessServer) -> None:
    result = server.define(dict(as_document(crd_of(Everything))))

    assert (result.code, result.causes, result.warnings) == (201, (), ())


@pytest.mark.parametrize("module", BUILTIN_MODULES)
def test_every_built_in_part_can_be_embedded(module: str, server: StatelessServer) -> None:
    kind = kind_with_parts_of(module)

    result = server.define(dict(as_document(crd_of(kind))))

    assert (result.code, result.causes, result.warnings) == (201, (), ())


def test_a_definition_has_the_names_of_its_class() -> None:
    crd = as_document(crd_of(Everything))

    assert crd["metadata"] == {"name": "everythings.every.example.com"}
    assert crd["spec"]["group"] == "every.example.com"
    assert crd["spec"]["scope"] == "Namespaced"
    assert crd["spec"]["names"] == {
        "kind": "Everything",
        "plural": "everythings",
        "singular": "everything",
        "listKind": "EverythingCollection",
        "shortNames": ["ev", "evs"],
        "categories": ["all"],
    }


def test_default_names_are_derived_from_the_kind() -> None:
    crd = as_document(crd_of(declared(namespaced=False)))

    assert crd["spec"]["scope"] == "Cluster"
    assert crd["spec"]["names"] == {
        "kind": "Widget",
        "plural": "widgets",
        "singular": "widget",
        "listKind": "WidgetList",
    }


def test_one_of_several_versions_is_stored() -> None:
    versions = as_document(crd_of(Everything))["spec"]["versions"]

    assert [(each["name"], each["served"], each["storage"]) for each in versions] == [
        ("v1", True, True),
        ("v1beta1", True, False),
        ("v1alpha1", False, False),
    ]
    assert versions[1]["deprecationWarning"].endswith("use v1")
    assert "deprecated" not in versions[0]
    assert versions[2]["deprecated"] is True
    assert "deprecationWarning" not in versions[2]


def test_a_version_has_columns_a_scale_and_selectable_fields() -> None:
    version = version_of(Everything)

    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.size",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }
    assert version["selectableFields"] == [
        {"jsonPath": ".spec.image"},
        {"jsonPath": ".spec.mode"},
    ]
    size, mode, *_, age = version["additionalPrinterColumns"]
    assert size == {
        "name": "Size",
        "type": "integer",
        "jsonPath": ".spec.size",
        "description": "How many.",
    }
    assert (mode["type"], mode["priority"]) == ("string", 1)
    assert age["type"] == "date"


def test_a_kind_without_a_status_has_no_subresource_for_it() -> None:
    class Plain(Resource, group="app.example.com", version="v1"):
        data: dict[str, str] | None = None

    version = version_of(Plain)

    assert version == {"name": "v1", "served": True, "storage": True}


@pytest.mark.parametrize("group", ["k8s.io", "app.k8s.io", "app.kubernetes.io"])
def test_a_protected_group_needs_an_approval_annotation(
    group: str, server: StatelessServer
) -> None:
    page = "https://example.com/approved"
    with pytest.raises(CannotBeACrd, match=f"approved, and {group} is such"):
        crd_of(declared(group=group))

    crd = as_document(crd_of(declared(group=group, crd=Crd(approved=page))))

    assert crd["metadata"]["annotations"] == {"api-approved.kubernetes.io": page}
    assert server.define(dict(crd)).code == 201


@pytest.mark.parametrize(
    ("crd", "problem"),
    [
        (Crd(approved="yes"), "approved='yes' is not a URL"),
        (Crd(list_kind="Widget"), "its list_kind is the same as its kind"),
        (Crd(served=False), "the stored version is not served"),
        (
            Crd(columns=(Column("Size", ".spec.sise"),)),
            "the path of its column Size, .spec.sise, does not exist: .spec has no field sise",
        ),
        (Crd(columns=(Column("Max", ".spec.max_size"),)), ".spec has no field max_size"),
        (Crd(columns=(Column("Size", ".spec.size[0]"),)), ".spec.size is not a list"),
        (Crd(columns=(Column("Size", ".spec[size"),)), "'[size' is not a valid step"),
        (Crd(columns=(Column("Name", ".metadata.title"),)), ".metadata has no field title"),
        (
            Crd(scale=ScalePaths(spec=".spec.count", status=".status.replicas")),
            "the spec path of its scale, .spec.count, does not exist",
        ),
        (
            Crd(scale=ScalePaths(spec=".spec.name", status=".status.replicas")),
            "the spec path of its scale, .spec.name, refers to string",
        ),
        (
            Crd(
                scale=ScalePaths(
                    spec=".spec.size", status=".status.replicas", selector=".spec.labels"
                )
            ),
            "the selector path of its scale, .spec.labels, refers to object",
        ),
        (Crd(selectable_fields=(".spec.ports",)), ".spec.ports is not a string"),
        (Crd(selectable_fields=(".spec.ports[0]",)), "is inside a list"),
        (Crd(selectable_fields=(".metadata.name",)), "or the metadata"),
        (Crd(selectable_fields=(".spec.wrong",)), "does not exist"),
    ],
)
def test_a_definition_that_refers_to_missing_fields_is_rejected(crd: Crd, problem: str) -> None:
    with pytest.raises(CannotBeACrd) as refused:
        crd_of(declared(crd=crd))

    assert problem in str(refused.value)
    assert refused.value.kind == "Widget"


def test_the_error_for_an_invalid_older_version_names_it() -> None:
    old = kind_with(set[str], kind="Widget", group="app.example.com", version="v1beta1")

    with pytest.raises(CannotBeACrd, match=r"Widget v1beta1: spec\.it cannot be"):
        crd_of(declared(crd=Crd(also_serves=(old,))))


def test_several_kinds_have_a_definition_each_in_their_order() -> None:
    other = declared("Other", kind="Other")

    found = crds_of((OldEverything, other, Everything, GoneEverything, other))

    assert [each.name for each in found] == [
        "others.app.example.com",
        "everythings.every.example.com",
    ]


def test_two_stored_versions_are_rejected() -> None:
    with pytest.raises(CannotBeACrd, match=r"New and Old are both .*also_serves=\(New,\)"):
        crds_of((declared("New"), declared("Old", version="v1beta1")))


def test_two_kinds_with_the_same_plural_are_rejected() -> None:
    one, other = declared(plural="things"), declared("Gadget", kind="Gadget", plural="things")

    with pytest.raises(
        CannotBeACrd, match=r"Widget and Gadget have the same name, things\.app\.example\.com"
    ):
        crds_of([one, other])


def test_a_kind_has_the_same_definition_every_time() -> None:
    assert crd_of(Everything) is crd_of(Everything)


PRINTED = """
import sys
from steersman.manifests import as_document, crd_of, yaml_of
from tests.unit.manifests.everything import Everything
sys.stdout.write(yaml_of([as_document(crd_of(Everything))]))
"""


def test_the_same_class_gives_the_same_bytes_in_every_process() -> None:
    texts = {
        subprocess.run(
            [sys.executable, *flags, "-c", PRINTED],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
        ).stdout
        # Without docstrings in memory, descriptions are read from the source.
        for seed, flags in (("1", ()), ("2", ("-OO",)))
    }

    assert len(texts) == 1


def test_integers_stay_integers() -> None:
    text = json.dumps(as_document(crd_of(Everything)))

    assert '"maximum": 100,' in text
    assert '"maximum": 2.5,' in text
