"""Jobs on a simulated cluster."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from steersman.client import MergePatch
from steersman.errors import NotFound
from steersman.kinds import batch_v1, core_v1, meta_v1
from steersman.kinds.base import replace
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedWorld, simulate
from steersman_cluster.workloads.jobs.reading import COMPLETION_INDEX, TRACKING
from tests.cluster.workloads.batch import (
    BATCH,
    BY_HAND,
    Job,
    Pod,
    conditions,
    counts,
    ended,
    events,
    job,
    pods,
    status_of,
)


def told(story: Any, *, settings: Any = BATCH) -> None:
    """Have the story told in a world of its own."""
    simulate(story, settings=settings)


def test_a_job_runs_as_many_pods_at_once_as_it_may_until_enough_have_succeeded() -> None:
    seen: list[tuple[int, int, int]] = []

    async def story(world: SimulatedWorld) -> None:
        await world.create(job(parallelism=2, completions=5, runs={"run-seconds": "5"}))
        for _ in range(8):
            await world.clock.sleep(3.0)
            seen.append(await counts(world))
        await world.settle()

        assert await counts(world) == (0, 5, 0)
        assert await conditions(world) == [
            ("SuccessCriteriaMet", "True", "CompletionsReached"),
            ("Complete", "True", "CompletionsReached"),
        ]
        assert len(await pods(world, "Succeeded")) == 5
        told_of = await events(world)
        assert [reason for _, reason, _ in told_of] == ["SuccessfulCreate"] * 5 + ["Completed"]
        assert told_of[-1] == ("Normal", "Completed", "Job completed")

    told(story)

    assert list(dict.fromkeys(seen)) == [(2, 0, 0), (2, 2, 0), (1, 4, 0), (0, 5, 0)]


def test_a_failed_pod_is_replaced_after_ten_seconds_then_twice_as_long_each_time_in_a_cluster() -> (
    None
):
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(backoff_limit=3, runs={"exit-code": "1"}))
        await world.advance(120.0)
        await world.settle()

        made = sorted(
            pod.metadata.creation_timestamp
            for pod in await pods(world)
            if pod.metadata.creation_timestamp
        )
        waits = [(later - earlier).total_seconds() for earlier, later in pairwise(made)]
        assert waits == [10.0, 20.0, 40.0]
        assert await counts(world) == (0, 0, 4)
        assert await conditions(world) == [
            ("FailureTarget", "True", "BackoffLimitExceeded"),
            ("Failed", "True", "BackoffLimitExceeded"),
        ]
        assert (await events(world))[-1] == (
            "Warning",
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        )

    told(story)


def test_a_job_whose_containers_are_restarted_too_often_fails() -> None:
    async def story(world: SimulatedWorld) -> None:
        given = job(backoff_limit=2, restart_policy="OnFailure", runs={"exit-code": "1"})
        await world.create(given)
        await world.advance(60.0)
        await world.settle()

        assert (await conditions(world))[-1] == ("Failed", "True", "BackoffLimitExceeded")
        assert await pods(world) == []

    told(story)


def test_each_index_of_a_job_has_a_pod_that_knows_it() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(parallelism=2, completions=3, completion_mode="Indexed"))
        await world.settle()

        made = await pods(world)
        assert [pod.name[:7] for pod in made] == ["work-0-", "work-1-", "work-2-"]
        assert [pod.labels[COMPLETION_INDEX] for pod in made] == ["0", "1", "2"]
        assert [pod.spec.hostname for pod in made if pod.spec] == ["work-0", "work-1", "work-2"]
        status = await status_of(world)
        assert (status.completed_indexes, status.succeeded) == ("0-2", 3)

    told(story)


def test_an_index_that_fails_for_good_leaves_the_others_alone() -> None:
    async def story(world: SimulatedWorld) -> None:
        given = job(
            parallelism=3, completions=3, completion_mode="Indexed", backoff_limit_per_index=1
        )
        await world.create(given)
        await world.settle()
        for _ in range(2):
            for pod in await pods(world, "Pending"):
                is_bad = pod.labels[COMPLETION_INDEX] == "1"
                await ended(world, pod, "Failed" if is_bad else "Succeeded", exit_code=int(is_bad))
            await world.settle()

        status = await status_of(world)
        assert (status.completed_indexes, status.failed_indexes) == ("0,2", "1")
        assert (status.succeeded, status.failed) == (2, 2)
        assert (await conditions(world))[-1] == ("Failed", "True", "FailedIndexes")

    told(story, settings=BY_HAND)


def test_a_rule_ends_a_job_at_the_first_failure_of_its_sort() -> None:
    async def story(world: SimulatedWorld) -> None:
        codes = batch_v1.PodFailurePolicyOnExitCodesRequirement(operator="In", values=(42,))
        rule = batch_v1.PodFailurePolicyRule(action="FailJob", on_exit_codes=codes)
        policy = batch_v1.PodFailurePolicy(rules=(rule,))
        runs = {"run-seconds": "1", "exit-code": "42"}
        await world.create(job(parallelism=1, pod_failure_policy=policy, runs=runs))
        await world.settle()

        (failed,) = await pods(world)
        assert (await conditions(world))[-1] == ("Failed", "True", "PodFailurePolicy")
        assert (await events(world))[-1][2] == (
            f"Container main for pod default/{failed.name} failed with exit code 42"
            " matching FailJob rule at index 0"
        )

    told(story)


def test_enough_successes_end_a_job_and_what_still_runs() -> None:
    async def story(world: SimulatedWorld) -> None:
        policy = batch_v1.SuccessPolicy(rules=(batch_v1.SuccessPolicyRule(succeeded_count=1),))
        given = job(parallelism=2, completions=2, completion_mode="Indexed", success_policy=policy)
        await world.create(given)
        await world.settle()
        first, _ = await pods(world)
        await ended(world, first, "Succeeded")
        await world.settle()

        assert await counts(world) == (0, 1, 0)
        assert (await conditions(world))[-1] == ("Complete", "True", "SuccessPolicy")
        assert [pod.name for pod in await pods(world)] == [first.name]

    told(story, settings=BY_HAND)


def test_a_job_that_is_active_for_too_long_fails_and_its_pods_go() -> None:
    async def story(world: SimulatedWorld) -> None:
        runs = {"run-seconds": "1000"}
        await world.create(job(parallelism=2, active_deadline_seconds=30, runs=runs))
        await world.clock.sleep(29.0)
        assert await counts(world) == (2, 0, 0)

        await world.settle()

        assert await counts(world) == (0, 0, 2)
        assert (await conditions(world))[-1] == ("Failed", "True", "DeadlineExceeded")
        assert await pods(world) == []
        status = await status_of(world)
        assert status.conditions is not None
        assert status.start_time is not None
        decided = status.conditions[0].last_transition_time
        assert decided == status.start_time + timedelta(seconds=30)

    told(story)


def test_a_suspended_job_has_no_pods_and_goes_on_where_it_was() -> None:
    async def story(world: SimulatedWorld) -> None:
        runs = {"run-seconds": "10"}
        await world.create(job(parallelism=1, completions=2, runs=runs))
        await world.clock.sleep(15.0)
        assert await counts(world) == (1, 1, 0)

        await world.patch(Job, "work", MergePatch({"spec": {"suspend": True}}))
        await world.settle()
        assert await counts(world) == (0, 1, 0)
        assert await conditions(world) == [("Suspended", "True", "JobSuspended")]
        assert (await status_of(world)).start_time is None

        resumed_time = world.clock.now().replace(microsecond=0)
        await world.patch(Job, "work", MergePatch({"spec": {"suspend": False}}))
        await world.settle()
        assert await counts(world) == (0, 2, 0)
        assert (await conditions(world))[0] == ("Suspended", "False", "JobResumed")
        assert (await status_of(world)).start_time == resumed_time
        reasons = [reason for _, reason, _ in await events(world)]
        assert sorted(reasons) == [
            *("Completed", "Resumed"),
            *("SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete"),
            "Suspended",
        ]

    told(story)


def test_a_pod_that_is_deleted_has_failed_and_is_replaced_after_ten_seconds() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(runs={"run-seconds": "3000"}))
        await world.clock.sleep(5.0)
        (first,) = await pods(world)
        await world.delete(Pod, first.name)

        await world.clock.sleep(9.0)
        assert await counts(world) == (0, 0, 1)
        assert await pods(world) == []

        await world.clock.sleep(3.0)
        assert await counts(world) == (1, 0, 1)
        assert len(await pods(world)) == 1

    told(story)


def test_a_job_waits_with_a_new_pod_until_the_old_one_has_ended_if_told_so() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(pod_replacement_policy="Failed"))
        await world.settle()
        (first,) = await pods(world)
        hold = MergePatch({"metadata": {"finalizers": [TRACKING, "example.com/hold"]}})
        await world.patch(Pod, first.name, hold)
        await world.delete(Pod, first.name)
        await world.settle()
        status = await status_of(world)
        assert (status.active, status.terminating, status.failed) == (None, 1, None)

        await ended(world, first, "Failed", exit_code=1)
        await world.settle()

        status = await status_of(world)
        assert (status.active, status.terminating, status.failed) == (1, 0, 1)

    told(story, settings=BY_HAND)


def test_fewer_pods_run_when_fewer_may() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(parallelism=3, completions=6, runs={"run-seconds": "50"}))
        await world.clock.sleep(5.0)
        await world.patch(Job, "work", MergePatch({"spec": {"parallelism": 1}}))
        await world.clock.sleep(5.0)

        assert await counts(world) == (1, 0, 0)
        assert len(await pods(world)) == 1

    told(story)


def test_a_job_that_is_over_is_deleted_after_its_time_and_not_before() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(ttl_seconds_after_finished=600))
        await world.advance(500.0)
        await world.settle()
        assert await world.find(Job, "work") is not None

        await world.advance(200.0)
        await world.settle()

        assert await world.find(Job, "work") is None
        assert await pods(world) == []

    told(story)


def test_a_job_that_is_given_more_time_stays() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(ttl_seconds_after_finished=600))
        await world.advance(500.0)
        await world.settle()
        longer = MergePatch({"spec": {"ttlSecondsAfterFinished": 6000}})
        await world.patch(Job, "work", longer)
        await world.advance(1000.0)
        await world.settle()

        assert await world.find(Job, "work") is not None

    told(story)


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
def test_a_pod_that_no_job_will_count_any_more_is_let_go(propagation: Any) -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(parallelism=2, runs={"run-seconds": "1000"}))
        await world.clock.sleep(5.0)
        await world.delete(Job, "work", propagation=propagation)
        await world.settle()

        with pytest.raises(NotFound):
            await world.get(Job, "work")
        left = await pods(world)
        assert len(left) == (2 if propagation == "Orphan" else 0)
        assert [pod.metadata.finalizers for pod in left] == [None] * len(left)

    told(story)


def test_a_pod_that_nobody_owns_is_adopted_and_counted() -> None:
    async def story(world: SimulatedWorld) -> None:
        selector = meta_v1.LabelSelector(match_labels={"app": "mine"})
        given = job(completions=2, parallelism=2, manual_selector=True, selector=selector)
        assert given.spec is not None
        template = given.spec.template
        labelled = replace(template, metadata=meta_v1.ObjectMeta(labels={"app": "mine"}))
        metadata = meta_v1.ObjectMeta(name="stray", labels={"app": "mine"})
        await world.create(Pod(metadata=metadata, spec=template.spec))
        await world.create(replace(given, spec=replace(given.spec, template=labelled)))
        await world.settle()

        found = await world.get(Pod, "stray")
        assert [owner.name for owner in found.metadata.owner_references or ()] == ["work"]
        assert found.metadata.finalizers == (TRACKING,)
        assert len(await pods(world)) == 2

        await ended(world, found, "Succeeded")
        await world.settle()
        assert await counts(world) == (1, 1, 0)

    told(story, settings=BY_HAND)


def test_a_job_that_somebody_else_manages_is_left_alone() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(managed_by="example.com/queue"))
        await world.settle()

        assert await pods(world) == []
        assert (await world.get(Job, "work")).status in (None, batch_v1.JobStatus())

    told(story)


def test_a_job_that_may_not_make_pods_says_so_and_goes_on_when_it_may() -> None:
    async def story(world: SimulatedWorld) -> None:
        hard = {"pods": Quantity("0")}
        await world.create(
            core_v1.ResourceQuota(
                metadata=meta_v1.ObjectMeta(name="none"),
                spec=core_v1.ResourceQuotaSpec(hard=hard),
            )
        )
        status = MergePatch({"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})
        await world.patch(core_v1.ResourceQuota, "none", status, subresource="status")
        await world.create(job())
        await world.settle()
        assert await pods(world) == []
        type_, reason, note = (await events(world))[0]
        assert (type_, reason) == ("Warning", "FailedCreate")
        assert note.startswith('Error creating: pods "work-')
        assert "exceeded quota: none" in note

        await world.delete(core_v1.ResourceQuota, "none")
        await world.advance(60.0)
        await world.settle()
        assert await counts(world) == (1, 0, 0)

    told(story, settings=BY_HAND)


def test_a_job_whose_pods_never_rest_counts_those_that_have_ended_all_the_same() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(parallelism=2, completions=2))
        await world.settle()
        done, restless = await pods(world)
        await ended(world, done, "Succeeded")
        for number in range(6):
            ready = {"type": "Ready", "status": "False" if number % 2 else "True"}
            patch = MergePatch({"status": {"phase": "Running", "conditions": [ready]}})
            await world.patch(Pod, restless.name, patch, subresource="status")
            await world.clock.sleep(0.4)

        assert await counts(world) == (1, 1, 0)

    told(story, settings=BY_HAND)


def test_a_job_at_rest_writes_nothing() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(job(completions=3, parallelism=1))
        await world.settle()
        before = world.moment()
        await world.advance(3600.0)
        await world.settle()

        assert world.history.writes(since=before) == []

    told(story, settings=BY_HAND)
