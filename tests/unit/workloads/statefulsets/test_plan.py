"""The next steps for the Pods of a StatefulSet."""

from typing import Any

import pytest

from steersman.kinds import apps_v1, core_v1
from steersman_cluster.workloads.statefulsets.identity import StatefulSet
from steersman_cluster.workloads.statefulsets.plan import (
    CreateClaims,
    CreatePod,
    DeletePod,
    RepairPod,
    UpdateClaimOwners,
    members,
    status_of,
    steps,
)
from tests.unit.workloads.statefulsets.samples import (
    DATA,
    NEW,
    NOW,
    OLD,
    pod,
    stateful_set,
)


def plan(owner: StatefulSet, *pods: core_v1.Pod) -> list[str]:
    """The steps, as short texts."""
    return [summary(each) for each in steps(owner, members(owner, pods), update=NEW, now=NOW)]


def summary(step: Any) -> str:
    match step:
        case CreatePod(ordinal=ordinal, is_current=is_current):
            return f"create {ordinal}{' as before' if is_current else ''}"
        case DeletePod(pod=gone):
            return f"delete {gone.name}"
        case RepairPod(pod=mended):
            return f"mend {mended.name}"
        case CreateClaims(pod=waiting):
            return f"claims of {waiting.name}"
        case UpdateClaimOwners(pod=gone):
            return f"owners of the claims of {gone.name}"
        case _:
            raise AssertionError(step)


# Creation


def test_the_first_pod_is_created_and_awaited() -> None:
    assert plan(stateful_set(3)) == ["create 0"]


@pytest.mark.parametrize(
    "unwell",
    [
        pod(0, phase="Pending"),
        pod(0, is_ready=False),
        pod(0, is_ending=True),
        pod(0, phase="Unknown"),
    ],
    ids=["pending", "not ready", "being deleted", "unknown"],
)
def test_no_pod_is_created_while_a_predecessor_is_unavailable(unwell: core_v1.Pod) -> None:
    assert plan(stateful_set(3), unwell) == []


def test_the_next_pod_is_created_when_its_predecessors_are_ready() -> None:
    assert plan(stateful_set(3), pod(0)) == ["create 1"]


def test_the_next_pod_waits_for_min_ready_seconds() -> None:
    owner = stateful_set(2, min_ready_seconds=30)

    assert plan(owner, pod(0, ready_seconds=29)) == []
    assert plan(owner, pod(0, ready_seconds=30)) == ["create 1"]


def test_a_missing_ordinal_is_filled_first() -> None:
    assert plan(stateful_set(4), pod(0), pod(2)) == ["create 1"]


def test_ordinals_start_at_the_configured_ordinal() -> None:
    assert plan(stateful_set(2, start=5)) == ["create 5"]
    assert plan(stateful_set(2, start=5), pod(5)) == ["create 6"]


def test_parallel_pods_are_all_created_at_once() -> None:
    assert plan(stateful_set(3, is_parallel=True), pod(1, is_ready=False)) == [
        "create 0",
        "create 2",
    ]


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_an_ended_pod_is_deleted(phase: str) -> None:
    assert plan(stateful_set(2), pod(0, phase=phase)) == ["delete web-0"]
    assert plan(stateful_set(2), pod(0, phase=phase, is_ending=True)) == []


def test_an_ended_pod_of_a_parallel_set_is_deleted_once_and_delays_no_other() -> None:
    owner = stateful_set(3, is_parallel=True)

    assert plan(owner, pod(0), pod(2, phase="Failed", revision=OLD)) == [
        "create 1",
        "delete web-2",
    ]


def test_a_pod_below_the_partition_is_created_with_the_current_revision() -> None:
    owner = stateful_set(3, partition=2)

    assert plan(owner, pod(0)) == ["create 1 as before"]
    assert plan(owner, pod(0), pod(1)) == ["create 2"]


def test_without_a_partition_the_current_replicas_keep_the_current_revision() -> None:
    status = apps_v1.StatefulSetStatus(replicas=2, current_replicas=1)

    assert plan(stateful_set(3, partition=None, status=status)) == ["create 0 as before"]
    assert plan(stateful_set(3, partition=None, status=status), pod(0)) == ["create 1"]


# Scaling down


def test_scaling_down_deletes_one_pod_at_a_time_starting_with_the_highest_ordinal() -> None:
    assert plan(stateful_set(1), pod(0), pod(2), pod(1)) == ["delete web-2"]


def test_scaling_down_waits_for_a_terminating_pod() -> None:
    assert plan(stateful_set(1), pod(0), pod(1), pod(2, is_ending=True)) == []


def test_scaling_down_waits_while_a_desired_pod_is_unavailable() -> None:
    assert plan(stateful_set(1), pod(0, is_ready=False), pod(1)) == []


def test_of_unavailable_surplus_pods_the_lowest_blocks_the_others() -> None:
    sick, sicker = pod(1, is_ready=False), pod(2, is_ready=False)

    assert plan(stateful_set(1), pod(0), pod(1), sicker) == ["delete web-2"]
    assert plan(stateful_set(1), pod(0), sick, sicker) == []


def test_parallel_surplus_pods_are_all_deleted_at_once() -> None:
    owner = stateful_set(1, is_parallel=True)

    assert plan(owner, pod(0, is_ready=False), pod(1), pod(2)) == ["delete web-2", "delete web-1"]


def test_pods_below_the_first_ordinal_are_surplus() -> None:
    assert plan(stateful_set(2, start=2), pod(2), pod(3), pod(0), pod(1)) == ["delete web-1"]


# Updating


def test_the_highest_pod_of_an_older_revision_is_replaced() -> None:
    old = [pod(ordinal, revision=OLD) for ordinal in range(3)]

    assert plan(stateful_set(3), *old) == ["delete web-2"]


def test_an_update_waits_for_each_replaced_pod() -> None:
    old = [pod(0, revision=OLD), pod(1, revision=OLD)]

    assert plan(stateful_set(3, is_parallel=True), *old, pod(2, is_ready=False)) == []
    assert plan(stateful_set(3), *old, pod(2)) == ["delete web-1"]


def test_pods_below_the_partition_are_not_updated() -> None:
    old = [pod(ordinal, revision=OLD) for ordinal in range(2)]

    assert plan(stateful_set(3, partition=2), *old, pod(2)) == []


def test_the_partition_counts_from_the_first_ordinal() -> None:
    old = [pod(ordinal, revision=OLD) for ordinal in (5, 6)]

    assert plan(stateful_set(2, start=5, partition=1), *old) == ["delete web-6"]
    assert plan(stateful_set(2, start=5, partition=2), *old) == []


def test_with_on_delete_no_pod_is_replaced() -> None:
    assert plan(stateful_set(1, on_delete=True), pod(0, revision=OLD)) == []


def test_scaling_comes_before_updating() -> None:
    assert plan(stateful_set(1), pod(0, revision=OLD), pod(1)) == ["delete web-1"]


# Claims and identity


def test_a_pod_without_its_label_is_repaired() -> None:
    assert plan(stateful_set(1), pod(0, labels={"app": "web"}), pod(1)) == [
        "mend web-0",
        "delete web-1",
    ]


def test_the_claims_of_a_pending_pod_are_checked() -> None:
    owner = stateful_set(1, claims=(DATA,))

    assert plan(owner, pod(0, phase="Pending")) == ["claims of web-0"]


def test_the_claims_of_surplus_pods_get_owners_first() -> None:
    volumes = (
        core_v1.Volume(
            name="data",
            persistent_volume_claim=core_v1.PersistentVolumeClaimVolumeSource(
                claim_name="data-web-0"
            ),
        ),
    )
    owner = stateful_set(1, claims=(DATA,))

    assert plan(owner, pod(0, volumes=volumes), pod(1), pod(2)) == [
        "mend web-0",
        "owners of the claims of web-2",
        "owners of the claims of web-1",
        "delete web-2",
    ]


# Status


def status(owner: StatefulSet, *pods: core_v1.Pod) -> apps_v1.StatefulSetStatus:
    return status_of(owner, pods, current=OLD, update=NEW, collisions=0, now=NOW)


def test_a_status_counts_pods_by_state_and_revision() -> None:
    computed = status(
        stateful_set(5, min_ready_seconds=30),
        pod(0, revision=OLD),
        pod(1, revision=OLD, is_ending=True),
        pod(2, ready_seconds=10),
        pod(3, is_ready=False),
        pod(4, phase="Pending"),
    )

    assert computed == apps_v1.StatefulSetStatus(
        observed_generation=4,
        replicas=5,
        ready_replicas=3,
        available_replicas=2,
        current_replicas=1,
        updated_replicas=3,
        current_revision=OLD,
        update_revision=NEW,
        collision_count=0,
    )


def test_an_update_is_complete_when_all_pods_are_ready_in_the_new_revision() -> None:
    computed = status(stateful_set(2), pod(0), pod(1))

    assert (computed.current_revision, computed.current_replicas) == (NEW, 2)


@pytest.mark.parametrize(
    "pods",
    [
        (pod(0, revision=OLD), pod(1)),
        (pod(0), pod(1, is_ready=False)),
        (pod(0), pod(1), pod(2)),
    ],
    ids=["one is old", "one is not ready", "one is surplus"],
)
def test_during_an_update_the_old_revision_is_the_current_one(
    pods: tuple[core_v1.Pod, ...],
) -> None:
    assert status(stateful_set(2), *pods).current_revision == OLD


def test_with_on_delete_the_current_revision_does_not_change() -> None:
    assert status(stateful_set(1, on_delete=True), pod(0)).current_revision == OLD
