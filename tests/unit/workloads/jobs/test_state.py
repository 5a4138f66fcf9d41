"""The state of a Job."""

from datetime import timedelta

import pytest

from steersman.kinds import batch_v1
from steersman_cluster.workloads.jobs.state import FinishReason, is_complete
from tests.unit.workloads.jobs.samples import NOW, indexed, job, names, pod, state_of
from tests.unit.workloads.jobs.test_policies import on_codes, policy


def uncounted(
    *, succeeded: tuple[str, ...] = (), failed: tuple[str, ...] = ()
) -> batch_v1.JobStatus:
    return batch_v1.JobStatus(
        succeeded=3,
        failed=2,
        uncounted_terminated_pods=batch_v1.UncountedTerminatedPods(
            succeeded=succeeded, failed=failed
        ),
    )


def test_an_ended_pod_counts_at_each_stage_of_tracking() -> None:
    given = job(completions=9, status=uncounted(succeeded=("a",), failed=("b",)))

    job_state = state_of(
        given,
        pod("a", "Succeeded"),  # being counted
        pod("b", "Failed"),  # being counted
        pod("c", "Succeeded"),  # new
        pod("d", "Failed"),  # new
        pod("e", "Succeeded", is_tracked=False),  # counted
        pod("f", "Failed", is_tracked=False),  # counted
        pod("g", is_ready=True),
        pod("h", "Pending"),
    )

    assert (job_state.succeeded, job_state.failed) == (5, 4)
    assert (names(job_state.active), job_state.ready) == (["g", "h"], 1)


def test_a_terminating_pod_has_failed_unless_only_failed_pods_are_replaced() -> None:
    going = pod("a", is_going=True)

    eager = state_of(job(completions=1), going)
    patient = state_of(job(completions=1, pod_replacement_policy="Failed"), going)

    assert (eager.failed, eager.terminating) == (1, 1)
    assert (patient.failed, patient.terminating) == (0, 1)


def test_a_job_fails_after_its_backoff_limit() -> None:
    pods = [pod(f"p{number}", "Failed") for number in range(3)]

    assert state_of(job(backoff_limit=3), *pods).finish_reason is None
    assert state_of(job(backoff_limit=2), *pods).finish_reason == FinishReason(
        is_success=False,
        reason="BackoffLimitExceeded",
        message="Job has reached the specified backoff limit",
    )


@pytest.mark.parametrize(
    ("limit", "restarts", "is_over"), [(3, 2, False), (3, 3, True), (0, 1, True)]
)
def test_restarts_count_where_containers_are_restarted(
    limit: int, restarts: int, is_over: bool
) -> None:
    given = job(backoff_limit=limit, restart_policy="OnFailure")

    assert (state_of(given, pod("p", restarts=restarts)).finish_reason is not None) == is_over


def test_a_job_fails_after_its_active_deadline() -> None:
    def after(seconds: int, **spec: bool) -> FinishReason | None:
        status = batch_v1.JobStatus(start_time=NOW - timedelta(seconds=seconds))
        return state_of(job(active_deadline_seconds=30, status=status, **spec)).finish_reason

    assert after(29) is None
    assert after(30, suspend=True) is None
    assert after(30) == FinishReason(
        is_success=False,
        reason="DeadlineExceeded",
        message="Job was active longer than specified deadline",
    )


def test_the_state_contains_the_time_until_the_active_deadline() -> None:
    status = batch_v1.JobStatus(start_time=NOW - timedelta(seconds=12))

    assert state_of(job(active_deadline_seconds=30, status=status)).deadline_seconds == 18.0
    assert state_of(job(active_deadline_seconds=30)).deadline_seconds == 30.0
    assert state_of(job()).deadline_seconds is None


def test_a_failjob_rule_fails_a_job_at_the_first_failure() -> None:
    given = job(pod_failure_policy=policy(on_codes("FailJob", "In", 3)))

    finish_reason = state_of(given, pod("p", "Failed", exit_code=3)).finish_reason

    assert finish_reason == FinishReason(
        is_success=False,
        reason="PodFailurePolicy",
        message="Container main for pod here/p failed with exit code 3"
        " matching FailJob rule at index 0",
    )


def test_a_failure_that_is_ignored_is_not_counted() -> None:
    given = job(backoff_limit=0, pod_failure_policy=policy(on_codes("Ignore", "In", 3)))

    job_state = state_of(given, pod("p", "Failed", exit_code=3))

    assert (job_state.failed, job_state.finish_reason) == (0, None)


def test_an_earlier_finish_reason_is_final() -> None:
    condition = batch_v1.JobCondition(
        type="FailureTarget", status="True", reason="DeadlineExceeded", message="too long"
    )
    given = job(status=batch_v1.JobStatus(conditions=(condition,)))

    assert state_of(given).finish_reason == FinishReason(
        is_success=False, reason="DeadlineExceeded", message="too long", is_new=False
    )


def test_an_index_is_done_once_one_pod_of_it_has_succeeded() -> None:
    status = batch_v1.JobStatus(completed_indexes="0,1", succeeded=2)

    job_state = state_of(
        indexed(completions=5, status=status),
        pod("a", "Succeeded", index=0, is_tracked=False),
        pod("b", "Succeeded", index=3),
        pod("c", "Succeeded", index=3),
        pod("d", "Succeeded", index=7),  # no index of this Job
        pod("e", "Failed", index=4),
    )

    assert (str(job_state.counted_indexes), str(job_state.done_indexes)) == ("0,1", "0,1,3")
    assert (job_state.succeeded, job_state.failed) == (3, 1)


def test_an_index_fails_after_its_backoff_limit() -> None:
    given = indexed(completions=5, backoff_limit_per_index=1)

    job_state = state_of(
        given,
        pod("a", "Failed", index=0, failures=1),
        pod("b", "Failed", index=1, failures=0),
        pod("c", "Failed", index=2, failures=0),
        pod("d", "Running", index=2, failures=1),
    )

    assert str(job_state.failed_indexes) == "0"
    assert {index: each.name for index, each in job_state.replaced.items()} == {1: "b"}
    assert job_state.finish_reason is None


def test_a_job_with_failed_indexes_fails_when_all_have_ended() -> None:
    given = indexed(completions=2, backoff_limit_per_index=0)

    job_state = state_of(given, pod("a", "Failed", index=0), pod("b", "Succeeded", index=1))

    assert job_state.finish_reason is not None
    assert (job_state.finish_reason.reason, job_state.finish_reason.message) == (
        "FailedIndexes",
        "Job has failed indexes",
    )


def test_a_job_fails_when_maxfailedindexes_is_exceeded() -> None:
    given = indexed(completions=9, backoff_limit_per_index=0, max_failed_indexes=1)

    one = state_of(given, pod("a", "Failed", index=0))
    two = state_of(given, pod("a", "Failed", index=0), pod("b", "Failed", index=4))

    assert one.finish_reason is None
    assert two.finish_reason is not None
    assert two.finish_reason.reason == "MaxFailedIndexesExceeded"


def test_a_success_policy_completes_a_job() -> None:
    rule = batch_v1.SuccessPolicyRule(succeeded_indexes="0")
    given = indexed(completions=3, success_policy=batch_v1.SuccessPolicy(rules=(rule,)))

    job_state = state_of(given, pod("a", "Succeeded", index=0), pod("b", index=1))

    assert job_state.finish_reason == FinishReason(
        is_success=True, reason="SuccessPolicy", message="Matched rules at index 0"
    )


@pytest.mark.parametrize(
    ("completions", "succeeded", "active", "is_so"),
    [(2, 2, 0, True), (2, 1, 0, False), (2, 2, 1, False), (None, 1, 0, True), (None, 0, 0, False)],
)
def test_a_job_is_complete_when_enough_pods_have_succeeded_and_none_runs(
    completions: int | None, succeeded: int, active: int, is_so: bool
) -> None:
    job_state = state_of(
        job(completions=completions, status=batch_v1.JobStatus(succeeded=succeeded))
    )

    assert is_complete(job_state, active) == is_so
