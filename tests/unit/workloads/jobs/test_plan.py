"""The plan for a Job's Pods."""

import pytest

from steersman.kinds import batch_v1
from steersman_cluster.workloads.jobs.accessors import NO_INDEX
from steersman_cluster.workloads.jobs.plan import MAX_PODS_PER_RECONCILE, JobPlan, make_plan
from steersman_cluster.workloads.jobs.state import JobState
from tests.unit.workloads.jobs.samples import indexed, job, names, pod, state_of


def plan_of(job_state: JobState) -> JobPlan:
    return make_plan(job_state, vanished={})


@pytest.mark.parametrize(
    ("parallelism", "completions", "succeeded", "active", "made"),
    [
        (2, 5, 0, 0, 2),
        (2, 5, 0, 1, 1),
        (2, 5, 4, 0, 1),
        (2, 5, 4, 1, 0),
        (0, 5, 0, 0, 0),
        (3, None, 0, 1, 2),
        (3, None, 1, 1, 0),
    ],
)
def test_no_more_pods_run_than_the_parallelism_and_the_missing_completions(
    parallelism: int, completions: int | None, succeeded: int, active: int, made: int
) -> None:
    status = batch_v1.JobStatus(succeeded=succeeded)
    given = job(parallelism=parallelism, completions=completions, status=status)
    running = [pod(f"p{number}") for number in range(active)]

    assert plan_of(state_of(given, *running)) == JobPlan(make=(NO_INDEX,) * made)


def test_surplus_pods_are_deleted_in_deletion_order() -> None:
    given = job(parallelism=1, completions=5)

    plan = plan_of(state_of(given, pod("a", is_ready=True), pod("b", "Pending"), pod("c")))

    assert names(plan.delete) == ["b", "c"]


def test_a_suspended_job_has_no_pods() -> None:
    plan = plan_of(state_of(job(suspend=True, parallelism=2), pod("a"), pod("b", "Pending")))

    assert sorted(names(plan.delete)) == ["a", "b"]


def test_a_failed_pod_is_not_replaced_at_once() -> None:
    given = job(parallelism=2, completions=5)

    plan = plan_of(state_of(given, pod("a", "Failed", ended_seconds_ago=3), pod("b")))

    assert plan == JobPlan(wait_seconds=7.0)


def test_a_terminating_pod_keeps_its_slot_until_it_has_failed() -> None:
    going = pod("a", is_going=True, index=0)

    eager = plan_of(state_of(indexed(completions=1), going))
    patient = plan_of(state_of(indexed(completions=1, pod_replacement_policy="Failed"), going))

    assert eager == JobPlan(wait_seconds=10.0)  # its deletion counts as a failure
    assert patient == JobPlan()


def test_pods_are_created_for_the_lowest_missing_indexes() -> None:
    status = batch_v1.JobStatus(completed_indexes="1", succeeded=1)
    given = indexed(parallelism=3, completions=6, status=status)

    plan = plan_of(state_of(given, pod("a", index=2)))

    assert plan == JobPlan(make=(0, 3))


def test_of_two_pods_with_one_index_one_is_deleted() -> None:
    given = indexed(parallelism=4, completions=4)

    plan = plan_of(
        state_of(
            given,
            pod("a", index=1, is_ready=True),
            pod("b", "Pending", index=1),
            pod("c", index=2),
            pod("d", index=9),
            pod("e"),
        )
    )

    assert names(plan.delete) == ["e", "b", "d"]


def test_a_failed_index_gets_no_pod() -> None:
    status = batch_v1.JobStatus(failed_indexes="0", completed_indexes="")
    given = indexed(parallelism=2, completions=3, backoff_limit_per_index=0, status=status)

    assert plan_of(state_of(given)) == JobPlan(make=(1, 2))


def test_the_backoff_of_one_index_does_not_delay_others() -> None:
    given = indexed(parallelism=2, completions=2, backoff_limit_per_index=3)
    failed = pod("a", "Failed", index=0, failures=1, ended_seconds_ago=5)

    assert plan_of(state_of(given, failed)) == JobPlan(make=(1,))
    assert plan_of(state_of(given, failed, pod("b", index=1))) == JobPlan(wait_seconds=15.0)


def test_no_more_than_five_hundred_pods_of_a_job_are_created_in_one_reconcile() -> None:
    plan = plan_of(state_of(indexed(parallelism=900, completions=900)))

    assert plan.make == tuple(range(MAX_PODS_PER_RECONCILE))
