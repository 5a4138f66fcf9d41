"""Counting of ended Pods in the status of a Job."""

from itertools import count

import pytest

from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.jobs import status
from steersman_cluster.workloads.jobs.accessors import status_of
from steersman_cluster.workloads.jobs.state import FinishReason, completed
from steersman_cluster.workloads.jobs.status import (
    MAX_UNCOUNTED,
    count_ended,
    finished,
    with_counts,
    with_finish_reason,
    with_suspension,
)
from tests.unit.workloads.jobs.samples import (
    NOW,
    indexed,
    job,
    names,
    pod,
    released,
    state_of,
    with_status,
)
from tests.unit.workloads.jobs.test_policies import on_codes, policy

FAILED = FinishReason(is_success=False, reason="DeadlineExceeded", message="too long")


def counts(status: batch_v1.JobStatus) -> tuple[int, int]:
    return status.succeeded or 0, status.failed or 0


def uncounted(status: batch_v1.JobStatus) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pods = status.uncounted_terminated_pods
    return ((pods.succeeded or ()), (pods.failed or ())) if pods else ((), ())


class Crash(Exception):
    pass


def walked(
    given: batch_v1.Job, pods: list[core_v1.Pod], *, steps: int
) -> tuple[batch_v1.Job, list[core_v1.Pod]]:
    """A Job and its Pods after so many writes of one reconcile; then the controller crashes."""
    left = count(steps, -1)

    def written() -> None:
        if next(left) == 0:
            raise Crash

    state = list(pods)
    try:
        job_state = state_of(given, *state)
        first = count_ended(job_state, status_of(given), None)
        if first.status != status_of(given):
            written()
            given = with_status(given, first.status)
        gone: dict[str, None] = {}
        for place in range(len(state)):
            if state[place] in first.release:
                written()
                gone[state[place].uid] = None
                state[place] = released(state[place])
        second = status.released(status_of(given), job_state, gone)
        if second != status_of(given):
            written()
            given = with_status(given, second)
    except Crash:
        pass
    return given, state


@pytest.mark.parametrize("steps", range(8))
def test_each_ended_pod_is_counted_once_despite_crashes(steps: int) -> None:
    given = job(completions=9, backoff_limit=9, status=batch_v1.JobStatus(succeeded=1, failed=1))
    pods = [pod("a", "Succeeded"), pod("b", "Failed"), pod("c", "Succeeded"), pod("d")]

    given, pods = walked(given, pods, steps=steps)
    given, pods = walked(given, pods, steps=100)

    assert counts(status_of(given)) == (3, 2)
    assert uncounted(status_of(given)) == ((), ())
    assert names([each for each in pods if each.metadata.finalizers]) == ["d"]


@pytest.mark.parametrize("steps", range(6))
def test_each_ended_index_is_counted_once_despite_crashes(steps: int) -> None:
    given = indexed(completions=5, backoff_limit=9)
    pods = [pod("a", "Succeeded", index=1), pod("b", "Failed", index=2), pod("c", index=3)]

    given, pods = walked(given, pods, steps=steps)
    given, pods = walked(given, pods, steps=100)

    assert counts(status_of(given)) == (1, 1)
    assert status_of(given).completed_indexes == "1"
    assert names([each for each in pods if each.metadata.finalizers]) == ["c"]


def test_running_pods_of_a_failed_job_count_as_failed() -> None:
    job_state = state_of(job(), pod("a"), pod("b", "Succeeded"))

    found = count_ended(job_state, status_of(job_state.job), FAILED)

    assert uncounted(found.status) == (("b",), ("a",))
    assert names(found.release) == ["a", "b"]


def test_running_pods_of_a_succeeded_job_are_not_counted() -> None:
    job_state = state_of(job(), pod("a"), pod("b", "Succeeded"))

    found = count_ended(job_state, status_of(job_state.job), completed())

    assert uncounted(found.status) == (("b",), ())
    assert names(found.release) == ["a", "b"]


def test_an_ignored_failure_loses_its_finalizer_without_being_counted() -> None:
    given = job(pod_failure_policy=policy(on_codes("Ignore", "In", 3)))
    job_state = state_of(given, pod("a", "Failed", exit_code=3))

    found = count_ended(job_state, status_of(job_state.job), None)

    assert uncounted(found.status) == ((), ())
    assert names(found.release) == ["a"]


def test_the_last_failed_pod_of_an_index_is_kept_until_it_is_replaced() -> None:
    given = indexed(completions=2, backoff_limit_per_index=3)
    failed = pod("a", "Failed", index=0, failures=1)

    before = count_ended(state_of(given, failed), status_of(given), None)
    after = count_ended(
        state_of(given, failed, pod("b", index=0, failures=2)), status_of(given), None
    )

    assert (names(before.release), names(after.release)) == ([], ["a"])


def test_the_number_of_uids_in_a_status_is_limited() -> None:
    pods = [pod(f"p{number:03}", "Succeeded") for number in range(MAX_UNCOUNTED + 10)]
    job_state = state_of(job(completions=600), *pods)

    found = count_ended(job_state, status_of(job_state.job), None)

    assert (len(uncounted(found.status)[0]), found.is_all) == (MAX_UNCOUNTED, False)
    assert len(found.release) == MAX_UNCOUNTED


def test_a_job_is_not_finished_while_pods_are_uncounted_or_terminating() -> None:
    ending = batch_v1.JobStatus(terminating=1)
    counting = batch_v1.JobStatus(
        uncounted_terminated_pods=batch_v1.UncountedTerminatedPods(failed=("a",))
    )

    assert finished(ending, FAILED, NOW) is None
    assert finished(counting, FAILED, NOW) is None
    assert finished(batch_v1.JobStatus(), FAILED, NOW) is not None


def test_an_interim_condition_announces_how_a_job_finishes() -> None:
    met = with_finish_reason(batch_v1.JobStatus(), completed(), NOW)
    over = finished(met, completed(), NOW)

    assert over is not None
    assert [(each.type, each.reason) for each in over.conditions or ()] == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert over.completion_time == NOW


def test_a_failed_job_has_no_completion_time() -> None:
    over = finished(with_finish_reason(batch_v1.JobStatus(), FAILED, NOW), FAILED, NOW)

    assert over is not None
    assert [each.type for each in over.conditions or ()] == ["FailureTarget", "Failed"]
    assert over.completion_time is None


def test_a_resumed_job_has_a_new_start_time() -> None:
    suspended, is_news = with_suspension(state_of(job(suspend=True)), batch_v1.JobStatus())
    again, is_old_news = with_suspension(state_of(job(suspend=True)), suspended)
    resumed, _ = with_suspension(state_of(job()), suspended)

    assert (is_news, is_old_news) == (True, False)
    assert again == suspended
    assert suspended.start_time is None
    assert [(each.type, each.status, each.reason) for each in resumed.conditions or ()] == [
        ("Suspended", "False", "JobResumed")
    ]
    assert resumed.start_time == NOW


def test_a_job_that_was_never_suspended_has_no_suspended_condition() -> None:
    assert with_suspension(state_of(job()), batch_v1.JobStatus()) == (batch_v1.JobStatus(), False)


def test_zero_counts_are_omitted_as_in_kubernetes() -> None:
    status = with_counts(state_of(job()), active=0, ready=0, terminating=0)

    assert (status.active, status.ready, status.terminating) == (None, 0, 0)
