"""The objects that a change of a Pod enqueues."""

from collections.abc import Iterable
from typing import Any

import pytest

from steersman.cache import Indexer, Lister, Scope
from steersman.controller import CacheReader
from steersman.kinds import apps_v1, core_v1, meta_v1, replace
from steersman.names import ObjectKey
from steersman_cluster.workloads.pods import (
    SELECTOR_INDEX,
    ControllerOfKind,
    by_selector,
    is_counted_differently,
)
from tests.unit.workloads.pods.samples import NOW, ago, pod, replica_set

ReplicaSet = apps_v1.ReplicaSet
CONTROLLER = ControllerOfKind(ReplicaSet)


def holding(*sets: ReplicaSet) -> CacheReader:
    """A cache of these ReplicaSets."""

    def failed(index: str, key: ObjectKey, error: Exception) -> None:
        raise error

    objects: Indexer[ReplicaSet] = Indexer(
        failed=failed, indexes={f"they/{SELECTOR_INDEX}": by_selector}
    )
    for each in sets:
        objects.put(each)
    lister = Lister(
        objects,
        resource_type=ReplicaSet.resource_type,
        scope=Scope(),
        has_listed=lambda: True,
    )
    return CacheReader("they", {ReplicaSet: lister})


def names(keys: Iterable[ObjectKey]) -> list[str]:
    return [key.name for key in keys]


def selecting(**labels: str) -> meta_v1.LabelSelector:
    return meta_v1.LabelSelector(match_labels=labels)


def test_a_pod_maps_to_its_controller_even_if_that_does_not_exist() -> None:
    assert names(CONTROLLER(pod(owner=replica_set("gone")), holding())) == ["gone"]


def test_a_pod_with_a_controller_of_another_kind_maps_to_nothing() -> None:
    job = apps_v1.StatefulSet(metadata=meta_v1.ObjectMeta(name="web", uid="1"))

    assert names(CONTROLLER(pod(owner=job), holding(replica_set()))) == []


def test_a_pod_without_a_controller_maps_to_all_objects_that_select_it() -> None:
    expression = meta_v1.LabelSelectorRequirement(key="app", operator="Exists")
    cached = holding(
        replica_set("by-app", selector=selecting(app="web")),
        replica_set("by-both", selector=selecting(app="web", tier="front")),
        replica_set("by-other", selector=selecting(app="api")),
        replica_set("by-more", selector=selecting(app="web", tier="front", zone="z")),
        replica_set("elsewhere", selector=selecting(app="web"), namespace="there"),
        replica_set(
            "by-expression", selector=meta_v1.LabelSelector(match_expressions=(expression,))
        ),
    )

    found = CONTROLLER(pod(labels={"app": "web", "tier": "front"}), cached)

    assert sorted(names(found)) == ["by-app", "by-both", "by-expression"]
    assert names(CONTROLLER(pod(labels={}), cached)) == []


CHANGES: dict[str, dict[str, Any]] = {
    "ready": {"ready": NOW},
    "phase": {"phase": "Failed"},
    "deletion": {"ending": True},
    "labels": {"labels": {"app": "else"}},
    "owner": {"owner": replica_set()},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_counted_property_passes_the_predicate(change: dict[str, Any]) -> None:
    assert is_counted_differently(pod(), pod(**change))
    assert is_counted_differently(None, pod())


def test_other_changes_of_a_pod_do_not_pass_the_predicate() -> None:
    before = pod(ready=ago(10))
    status = before.status
    assert status is not None
    scheduled = core_v1.PodCondition(type="PodScheduled", status="False")
    updated = replace(status, conditions=(scheduled, *(status.conditions or ())))
    after = replace(pod(ready=ago(10), restarts=3, annotations={"a": "b"}), status=updated)

    assert not is_counted_differently(before, after)
