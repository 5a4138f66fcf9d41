"""Whether an object has all requested values."""

from typing import Any

import pytest

from steersman.kinds import Unstructured, apps_v1, core_v1, covers, meta_v1, recipes, replace
from steersman.units import Quantity

WEB = core_v1.Container(name="web", image="nginx")
WANTED = recipes.deployment("web", WEB, replicas=2, labels={"tier": "front"})


def with_spec(**changes: Any) -> apps_v1.Deployment:
    """The requested spec, and another field."""
    assert WANTED.spec is not None
    return replace(WANTED, spec=replace(WANTED.spec, **changes))


def with_containers(*containers: core_v1.Container) -> apps_v1.Deployment:
    """The requested object, with these containers."""
    assert WANTED.spec is not None
    pod = core_v1.PodSpec(containers=containers)
    return with_spec(template=replace(WANTED.spec.template, spec=pod))


FILLED_IN = replace(WEB, image_pull_policy="Always", ports=())


@pytest.mark.parametrize(
    "found",
    [
        WANTED,
        with_spec(revision_history_limit=10),
        with_containers(FILLED_IN),
        replace(WANTED, metadata=replace(WANTED.metadata, uid="1", finalizers=("a/b",))),
        replace(WANTED, metadata=replace(WANTED.metadata, labels={**WANTED.labels, "team": "x"})),
        replace(WANTED, status=apps_v1.DeploymentStatus(replicas=1)),
    ],
    ids=["itself", "default", "default in a list", "metadata", "label", "status"],
)
def test_fields_that_were_not_requested_are_ignored(found: apps_v1.Deployment) -> None:
    assert covers(found, WANTED)


@pytest.mark.parametrize(
    "found",
    [
        None,
        with_spec(replicas=3),
        with_spec(replicas=None),
        with_containers(replace(WEB, image="apache")),
        with_containers(WEB, core_v1.Container(name="sidecar")),
        with_containers(),
        replace(WANTED, metadata=replace(WANTED.metadata, labels={"tier": "back"})),
        replace(WANTED, metadata=replace(WANTED.metadata, labels=None)),
        replace(WANTED, spec=None),
    ],
    ids=["nothing", "value", "unset", "item", "more", "fewer", "label", "no labels", "no spec"],
)
def test_a_requested_field_with_another_value_is_a_difference(
    found: apps_v1.Deployment | None,
) -> None:
    assert not covers(found, WANTED)


def test_an_empty_value_equals_an_unset_one() -> None:
    assert covers(meta_v1.ObjectMeta(finalizers=None), meta_v1.ObjectMeta(finalizers=()))
    assert not covers(meta_v1.ObjectMeta(finalizers=("a/b",)), meta_v1.ObjectMeta(finalizers=()))


@pytest.mark.parametrize("found", ["a", 1, {"a": 1}], ids=["text", "number", "map"])
def test_a_value_that_is_not_a_list_covers_no_list(found: object) -> None:
    assert not covers(found, ["a"])


def test_quantities_are_compared_by_value() -> None:
    half, too = (
        core_v1.ResourceRequirements(limits={"cpu": Quantity(text)}) for text in ("0.5", "500m")
    )

    assert covers(half, too)


def test_unstructured_objects_are_compared_by_their_body() -> None:
    small = Unstructured({"apiVersion": "v1", "kind": "Pod", "spec": {"a": 1}})
    large = Unstructured({"apiVersion": "v1", "kind": "Pod", "spec": {"a": 1, "b": 2}})

    assert covers(large, small)
    assert not covers(small, large)
    assert not covers(core_v1.Pod(), small)
