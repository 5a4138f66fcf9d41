"""The status of a Deployment."""

from datetime import UTC, datetime, timedelta

import pytest

from steersman.kinds import apps_v1
from steersman_cluster.workloads.deployments.accessors import limits_of
from steersman_cluster.workloads.deployments.status import (
    condition_in,
    counted,
    is_complete,
    overdue_in_seconds,
    paused_or_resumed,
    progressed,
    with_condition,
)
from tests.unit.workloads.deployments.samples import deployment, replica_set

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
Status = apps_v1.DeploymentStatus
TERMS = limits_of(deployment())


def annotations(status: Status, type: str) -> tuple[str, str | None, str | None] | None:
    found = condition_in(status, type)
    return None if found is None else (found.status, found.reason, found.message)


def progressing(reason: str, status: str = "True") -> Status:
    return with_condition(Status(), "Progressing", status, reason, "…", NOW)


# Numbers


def test_pods_are_counted_over_all_replica_sets() -> None:
    olds = [replica_set("old", size=2, pods=3, ready=2)]
    new = replica_set("new", size=2, ready=1)

    status = counted(deployment(generation=4), TERMS, Status(collision_count=1), new, olds, NOW)

    assert (
        status.replicas,
        status.updated_replicas,
        status.ready_replicas,
        status.available_replicas,
        status.unavailable_replicas,
        status.terminating_replicas,
        status.observed_generation,
        status.collision_count,
    ) == (5, 2, 3, 3, 1, 0, 4, 1)


def test_the_available_condition_depends_on_maxunavailable() -> None:
    wanted = deployment(replicas=3, unavailable=1)

    enough = counted(
        wanted, limits_of(wanted), Status(), replica_set("new", size=3, ready=2), [], NOW
    )
    too_few = counted(
        wanted, limits_of(wanted), Status(), replica_set("new", size=3, ready=1), [], NOW
    )

    assert annotations(enough, "Available") == (
        "True",
        "MinimumReplicasAvailable",
        "Deployment has minimum availability.",
    )
    assert annotations(too_few, "Available") == (
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
    )


def test_a_replica_set_without_an_observed_status_has_no_terminating_pods() -> None:
    fresh = apps_v1.ReplicaSet(metadata=replica_set("x").metadata, spec=replica_set("x").spec)

    assert counted(deployment(), TERMS, Status(), fresh, [], NOW).terminating_replicas == 0


# Conditions


def test_a_condition_keeps_its_transition_time_until_its_status_changes() -> None:
    first = with_condition(Status(), "Available", "True", "A", "a", NOW)
    same = with_condition(first, "Available", "True", "A", "b", LATER)
    reason = with_condition(first, "Available", "True", "B", "b", LATER)
    flipped = with_condition(first, "Available", "False", "B", "b", LATER)

    def times(status: Status) -> tuple[datetime | None, datetime | None]:
        found = condition_in(status, "Available")
        assert found is not None
        return found.last_update_time, found.last_transition_time

    assert same is first
    assert times(reason) == (LATER, NOW)
    assert times(flipped) == (LATER, LATER)


# Progress


def rolled(
    before: Status, new: apps_v1.ReplicaSet, *olds: apps_v1.ReplicaSet, now: datetime = NOW
) -> Status:
    wanted = deployment()
    return progressed(
        wanted, TERMS, before, counted(wanted, TERMS, before, new, olds, now), new, olds, now
    )


def test_a_step_of_the_rollout_is_progress_and_resets_the_deadline() -> None:
    status = rolled(progressing("NewReplicaSetCreated"), replica_set("new", size=1), now=LATER)

    assert annotations(status, "Progressing") == (
        "True",
        "ReplicaSetUpdated",
        'ReplicaSet "new" is progressing.',
    )
    found = condition_in(status, "Progressing")
    assert found is not None
    assert (found.last_update_time, found.last_transition_time) == (LATER, NOW)


def test_a_further_step_resets_the_deadline_with_the_same_message() -> None:
    first = rolled(progressing("NewReplicaSetCreated"), replica_set("new", size=1))

    second = rolled(first, replica_set("new", size=2), now=LATER)

    found = condition_in(second, "Progressing")
    assert found is not None
    assert (found.reason, found.last_update_time) == ("ReplicaSetUpdated", LATER)


def test_a_rollout_is_complete_when_all_pods_are_new_and_available() -> None:
    status = rolled(progressing("ReplicaSetUpdated"), replica_set("new", size=3))

    assert annotations(status, "Progressing") == (
        "True",
        "NewReplicaSetAvailable",
        'ReplicaSet "new" has successfully progressed.',
    )
    assert is_complete(deployment(), TERMS, status)


def test_a_complete_rollout_stays_complete_when_a_pod_restarts() -> None:
    before = rolled(progressing("ReplicaSetUpdated"), replica_set("new", size=3))

    fallen = rolled(before, replica_set("new", size=3, ready=1), now=NOW + timedelta(hours=1))
    risen = rolled(fallen, replica_set("new", size=3, ready=2), now=NOW + timedelta(hours=2))

    assert annotations(fallen, "Progressing") == annotations(before, "Progressing")
    assert annotations(risen, "Progressing") == annotations(before, "Progressing")


def test_a_rollout_without_progress_times_out_after_its_deadline() -> None:
    stuck = replica_set("new", size=3, ready=0)
    before = counted(deployment(), TERMS, progressing("NewReplicaSetCreated"), stuck, [], NOW)

    in_time = rolled(before, stuck, now=NOW + timedelta(seconds=600))
    too_late = rolled(before, stuck, now=NOW + timedelta(seconds=601))

    assert annotations(in_time, "Progressing") == annotations(before, "Progressing")
    assert annotations(too_late, "Progressing") == (
        "False",
        "ProgressDeadlineExceeded",
        'ReplicaSet "new" has timed out progressing.',
    )


def test_a_rollout_can_complete_after_its_deadline() -> None:
    before = progressing("ProgressDeadlineExceeded", "False")

    assert annotations(rolled(before, replica_set("new", size=3)), "Progressing") == (
        "True",
        "NewReplicaSetAvailable",
        'ReplicaSet "new" has successfully progressed.',
    )


def test_without_a_deadline_there_is_no_progressing_condition() -> None:
    wanted = deployment(progress_deadline_seconds=None)
    before = progressing("NewReplicaSetCreated")
    new = replica_set("new", size=3)

    status = progressed(
        wanted, TERMS, before, counted(wanted, TERMS, before, new, [], NOW), new, [], NOW
    )

    assert annotations(status, "Progressing") is None


def test_a_replicafailure_is_copied_to_the_deployment_and_removed_again() -> None:
    failure = apps_v1.ReplicaSetCondition(
        type="ReplicaFailure",
        status="True",
        reason="FailedCreate",
        message="exceeded quota",
        last_transition_time=NOW,
    )
    hindered = replica_set("old", size=1, conditions=(failure,))

    failing = rolled(Status(), replica_set("new"), hindered)
    mended = rolled(failing, replica_set("new"), replica_set("old", size=1))

    assert annotations(failing, "ReplicaFailure") == ("True", "FailedCreate", "exceeded quota")
    assert annotations(mended, "ReplicaFailure") is None


@pytest.mark.parametrize(
    ("is_paused", "before", "after"),
    [
        (True, "ReplicaSetUpdated", ("Unknown", "DeploymentPaused", "Deployment is paused")),
        (False, "DeploymentPaused", ("Unknown", "DeploymentResumed", "Deployment is resumed")),
        (True, "ProgressDeadlineExceeded", ("True", "ProgressDeadlineExceeded", "…")),
        (False, "ReplicaSetUpdated", ("True", "ReplicaSetUpdated", "…")),
    ],
)
def test_the_progressing_condition_reports_pause_and_resumption(
    is_paused: bool, before: str, after: tuple[str, str, str]
) -> None:
    status = paused_or_resumed(deployment(paused=is_paused), progressing(before), NOW)

    assert annotations(status, "Progressing") == after


def test_a_deployment_is_requeued_a_second_after_its_deadline() -> None:
    wanted = deployment()

    assert overdue_in_seconds(wanted, TERMS, progressing("ReplicaSetUpdated"), LATER) == 301.0
    assert (
        overdue_in_seconds(wanted, TERMS, progressing("ReplicaSetUpdated"), NOW.replace(hour=13))
        == 1.0
    )
    assert overdue_in_seconds(wanted, TERMS, progressing("ProgressDeadlineExceeded"), LATER) is None
    assert overdue_in_seconds(wanted, TERMS, Status(), LATER) is None
