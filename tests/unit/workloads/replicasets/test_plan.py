"""Pods that a ReplicaSet creates, and its status."""

from datetime import timedelta

import pytest

from steersman.kinds import apps_v1, core_v1, meta_v1, replace
from steersman_cluster.workloads.replicasets import retry_seconds
from steersman_cluster.workloads.replicasets.plan import batches, difference, status_of
from tests.unit.workloads.pods.samples import NOW, ago, pod, replica_set

LABELED = core_v1.PodTemplateSpec(
    metadata=meta_v1.ObjectMeta(labels={"app": "web", "tier": "front"})
)


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (2, [1, 1]), (3, [1, 2]), (10, [1, 2, 4, 3])]
)
def test_batches_double_until_all_pods_are_created(count: int, sizes: list[int]) -> None:
    assert list(batches(count)) == sizes


@pytest.mark.parametrize(
    ("wanted", "active", "missing"),
    [(3, 1, 2), (1, 3, -2), (2, 2, 0), (2000, 0, 500), (0, 2000, -500), (None, 0, 1)],
)
def test_no_more_than_five_hundred_pods_are_created_in_one_reconcile(
    wanted: int | None, active: int, missing: int
) -> None:
    assert difference(replica_set(replicas=wanted), active) == missing


def test_a_status_counts_labeled_ready_and_available_pods() -> None:
    rs = replica_set(replicas=3, template=LABELED, min_ready_seconds=30)
    pods = [
        pod("a", labels={"app": "web", "tier": "front", "more": "1"}, ready=ago(60)),
        pod("b", ready=ago(10)),
        pod("c"),
    ]

    status = status_of(rs, active=pods, terminating=2, failure=None, now=NOW)

    assert status == apps_v1.ReplicaSetStatus(
        replicas=3,
        fully_labeled_replicas=1,
        ready_replicas=2,
        available_replicas=1,
        terminating_replicas=2,
        observed_generation=1,
    )


def test_zero_counts_are_omitted_from_the_status() -> None:
    status = status_of(replica_set(), active=[], terminating=0, failure=None, now=NOW)

    assert status == apps_v1.ReplicaSetStatus(
        replicas=0, terminating_replicas=0, observed_generation=1
    )


def test_a_failure_condition_is_set_once_and_removed_after_success() -> None:
    rs = replica_set()

    first = status_of(rs, active=[], terminating=0, failure=("FailedCreate", "no"), now=NOW)
    later = NOW + timedelta(seconds=60)
    failing = replace(rs, status=first)
    again = status_of(failing, active=[], terminating=0, failure=("FailedCreate", "x"), now=later)
    over = status_of(failing, active=[], terminating=0, failure=None, now=later)

    assert first.conditions == (
        apps_v1.ReplicaSetCondition(
            type="ReplicaFailure",
            status="True",
            reason="FailedCreate",
            message="no",
            last_transition_time=NOW,
        ),
    )
    assert again.conditions == first.conditions
    assert over.conditions is None


@pytest.mark.parametrize(("lasted", "wait"), [(0, 1), (1, 1), (2, 2), (8, 8), (9999, 300)])
def test_a_failure_is_retried_after_as_long_as_it_has_lasted(lasted: int, wait: int) -> None:
    assert retry_seconds(ago(lasted), NOW) == wait
