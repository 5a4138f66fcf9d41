"""The plan of a deletion, decided without I/O."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.registry.deletion import (
    DeletionPlan,
    plan_deletion,
    should_delete_during_update,
)
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.resources import ServedResource
from tests.embedded import EmbeddedServer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE, NOW_TEXT, IN_TEN = "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z"


@pytest.fixture(scope="module")
def immediate(api: EmbeddedServer) -> ServedResource:
    """Return a resource without a grace period: ConfigMap."""
    found = api.server.registry.find("", "v1", "configmaps")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def graceful(immediate: ServedResource) -> ServedResource:
    """Return a resource with a default grace period of ten seconds."""

    def grace_seconds(_: object, info: int | None) -> int:
        return 10 if info is None else info

    return replace(immediate, strategy=replace(immediate.strategy, grace_seconds=grace_seconds))


def obj(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", **metadata}}


def marked(deadline: str, grace_seconds: int, **metadata: Any) -> dict[str, Any]:
    return obj(**metadata, deletionTimestamp=deadline, deletionGracePeriodSeconds=grace_seconds)


def planned(
    found: dict[str, Any], served: ServedResource, **options: Any
) -> tuple[dict[str, Any] | None, bool]:
    decided = plan_deletion(found, DeleteOptions(**options), served, now=NOW)
    return decided.updated and decided.updated["metadata"], decided.removes


def test_an_object_without_finalizers_or_grace_period_is_removed_immediately(
    immediate: ServedResource,
) -> None:
    assert planned(obj(), immediate) == (None, True)


def test_an_object_with_a_finalizer_gets_a_deletion_timestamp_and_stays(
    immediate: ServedResource,
) -> None:
    expected = marked(NOW_TEXT, 0, finalizers=["x"])["metadata"]

    assert planned(obj(finalizers=["x"]), immediate) == (expected, False)


def test_a_second_deletion_changes_nothing(immediate: ServedResource) -> None:
    assert planned(marked(BEFORE, 0, finalizers=["x"]), immediate) == (None, False)


def test_a_deletion_timestamp_increments_the_generation(
    immediate: ServedResource,
) -> None:
    changed, _ = planned(obj(finalizers=["x"], generation=3), immediate)

    assert changed is not None
    assert changed["generation"] == 4


POLICIES: dict[str, tuple[list[str], dict[str, Any], list[str]]] = {
    "no policy keeps the finalizers": (["orphan", "x"], {}, ["orphan", "x"]),
    "background removes both": (["orphan", "x"], {"propagation": "Background"}, ["x"]),
    "foreground": (["x"], {"propagation": "Foreground"}, ["x", "foregroundDeletion"]),
    "orphan": (["x"], {"propagation": "Orphan"}, ["x", "orphan"]),
    "a policy replaces the other finalizer": (
        ["foregroundDeletion"],
        {"propagation": "Orphan"},
        ["orphan"],
    ),
    "orphanDependents is true": (["x"], {"orphan_dependents": True}, ["x", "orphan"]),
    "orphanDependents is false": (["orphan", "x"], {"orphan_dependents": False}, ["x"]),
}


@pytest.mark.parametrize("case", POLICIES)
def test_a_propagation_policy_adds_a_finalizer(case: str, immediate: ServedResource) -> None:
    before, options, after = POLICIES[case]

    changed, _ = planned(obj(finalizers=before), immediate, **options)

    assert changed is not None
    assert changed["finalizers"] == after


def test_a_grace_period_sets_the_deletion_timestamp_to_its_end(graceful: ServedResource) -> None:
    assert planned(obj(), graceful) == (marked(IN_TEN, 10)["metadata"], False)


def test_a_grace_period_of_zero_removes_the_object(graceful: ServedResource) -> None:
    assert planned(obj(), graceful, grace_seconds=0) == (marked(NOW_TEXT, 0)["metadata"], True)


SHORTER = {
    None: (None, False),
    60: (None, False),
    10: (None, False),
    4: ("2026-01-01T00:00:04Z", False),
    0: (NOW_TEXT, True),
}


@pytest.mark.parametrize("wanted", SHORTER)
def test_a_grace_period_can_be_shortened_but_not_extended(
    wanted: int | None, graceful: ServedResource
) -> None:
    changed, removes = planned(marked(IN_TEN, 10), graceful, grace_seconds=wanted)

    assert (changed and changed["deletionTimestamp"], removes) == SHORTER[wanted]


def test_a_finalizer_outlasts_the_grace_period(graceful: ServedResource) -> None:
    changed, removes = planned(obj(finalizers=["x"]), graceful, grace_seconds=0)

    assert changed is not None
    assert not removes


def test_an_update_that_removes_the_last_finalizer_removes_the_object() -> None:
    held = marked(BEFORE, 0, finalizers=["x"])

    assert should_delete_during_update(marked(BEFORE, 0), held)
    assert not should_delete_during_update(held, held)
    assert not should_delete_during_update(obj(), obj(finalizers=["x"]))
    assert not should_delete_during_update(marked(IN_TEN, 10), marked(IN_TEN, 10, finalizers=["x"]))


def test_the_deletion_does_not_modify_its_argument(immediate: ServedResource) -> None:
    found = obj(finalizers=["x"])

    decided = plan_deletion(found, DeleteOptions(propagation="Orphan"), immediate, now=NOW)

    assert isinstance(decided, DeletionPlan)
    assert found == obj(finalizers=["x"])


REJECTED_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown policy": (
        {"propagationPolicy": "Backwards"},
        'propagationPolicy: Unsupported value: "Backwards": supported values: "Foreground",'
        ' "Background", "Orphan", "nil"',
    ),
    "two policies": (
        {"propagationPolicy": "Orphan", "orphanDependents": True},
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation'
        " cannot be both set",
    ),
    "an unknown dry run": (
        {"dryRun": ["Half"]},
        'dryRun: Unsupported value: ["Half"]: supported values: "All"',
    ),
}


@pytest.mark.parametrize("case", REJECTED_OPTIONS)
def test_invalid_options_are_rejected(case: str) -> None:
    written, why = REJECTED_OPTIONS[case]

    with pytest.raises(StatusError) as raised:
        DeleteOptions.written(written)

    assert raised.value.message == f'DeleteOptions.meta.k8s.io "" is invalid: {why}'


async def test_options_are_read_from_the_body_or_the_query(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", path, {"metadata": {"name": "a"}})

    # A body takes precedence over the query, and this one does not request a dry run.
    body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    await api.asked("DELETE", f"{path}/a?dryRun=All", body)

    assert (await api.ask("GET", path)).names == []


async def test_options_of_another_kind_are_rejected(api: EmbeddedServer, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/a"

    answer = await api.ask("DELETE", path, {"apiVersion": "v1", "kind": "Pod"})

    assert answer.status == 400
