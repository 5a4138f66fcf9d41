"""What a Deployment's status says."""

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


def test_enough_pods_are_available_or_they_are_not() -> None:
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


def test_a_replica_set_that_has_never_been_looked_at_ends_no_pods() -> None:
    fresh = apps_v1.ReplicaSet(metadata=replica_set("x").metadata, spec=replica_set("x").spec)

    assert counted(deployment(), TERMS, Status(), fresh, [], NOW).terminating_replicas == 0


# Conditions


def test_a_condition_keeps_its_time_until_its_value_changes() -> None:
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


def test_a_step_forward_is_progress_and_the_deadline_counts_from_there() -> None:
    status = rolled(progressing("NewReplicaSetCreated"), replica_set("new", size=1), now=LATER)

    assert annotations(status, "Progressing") == (
        "True",
        "ReplicaSetUpdated",
        'ReplicaSet "new" is progressing.',
    )
    found = condition_in(status, "Progressing")
    assert found is not None
    assert (found.last_update_time, found.last_transition_time) == (LATER, NOW)


def test_one_step_more_moves_the_deadline_though_it_says_the_same() -> None:
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


def test_a_rollout_that_is_complete_stays_so_when_a_pod_falls_over_and_gets_up() -> None:
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


def test_a_rollout_that_had_timed_out_may_still_come_to_its_end() -> None:
    before = progressing("ProgressDeadlineExceeded", "False")

    assert annotations(rolled(before, replica_set("new", size=3)), "Progressing") == (
        "True",
        "NewReplicaSetAvailable",
        'ReplicaSet "new" has successfully progressed.',
    )


def test_without_a_deadline_nothing_is_said_of_progress() -> None:
    wanted = deployment(progress_deadline_seconds=None)
    before = progressing("NewReplicaSetCreated")
    new = replica_set("new", size=3)

    status = progressed(
        wanted, TERMS, before, counted(wanted, TERMS, before, new, [], NOW), new, [], NOW
    )

    assert annotations(status, "Progressing") is None


def test_what_keeps_a_replica_set_from_its_pods_is_said_of_the_deployment_and_taken_back() -> None:
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
def test_a_deployment_says_that_it_is_paused_or_resumed(
    is_paused: bool, before: str, after: tuple[str, str, str]
) -> None:
    status = paused_or_resumed(deployment(paused=is_paused), progressing(before), NOW)

    assert annotations(status, "Progressing") == after


def test_it_is_looked_at_again_a_second_after_its_deadline() -> None:
    wanted = deployment()

    assert overdue_in_seconds(wanted, TERMS, progressing("ReplicaSetUpdated"), LATER) == 301.0
    assert (
        overdue_in_seconds(wanted, TERMS, progressing("ReplicaSetUpdated"), NOW.replace(hour=13))
        == 1.0
    )
    assert overdue_in_seconds(wanted, TERMS, progressing("ProgressDeadlineExceeded"), LATER) is None
    assert overdue_in_seconds(wanted, TERMS, Status(), LATER) is None
