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
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads.jobs.accessors import COMPLETION_INDEX, TRACKING
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


def run_steps(steps: Any, *, settings: Any = BATCH) -> None:
    """Run the steps in a new cluster."""
    simulate(steps, settings=settings)


def test_a_job_runs_its_parallelism_until_enough_pods_have_succeeded() -> None:
    seen: list[tuple[int, int, int]] = []

    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(parallelism=2, completions=5, runs={"run-seconds": "5"}))
        for _ in range(8):
            await cluster.clock.sleep(3.0)
            seen.append(await counts(cluster))
        await cluster.settle()

        assert await counts(cluster) == (0, 5, 0)
        assert await conditions(cluster) == [
            ("SuccessCriteriaMet", "True", "CompletionsReached"),
            ("Complete", "True", "CompletionsReached"),
        ]
        assert len(await pods(cluster, "Succeeded")) == 5
        recorded = await events(cluster)
        assert [reason for _, reason, _ in recorded] == ["SuccessfulCreate"] * 5 + ["Completed"]
        assert recorded[-1] == ("Normal", "Completed", "Job completed")

    run_steps(steps)

    assert list(dict.fromkeys(seen)) == [(2, 0, 0), (2, 2, 0), (1, 4, 0), (0, 5, 0)]


def test_a_failed_pod_is_replaced_after_ten_seconds_then_twice_as_long_each_time_in_a_cluster() -> (
    None
):
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(backoff_limit=3, runs={"exit-code": "1"}))
        await cluster.advance(120.0)
        await cluster.settle()

        made = sorted(
            pod.metadata.creation_timestamp
            for pod in await pods(cluster)
            if pod.metadata.creation_timestamp
        )
        waits = [(later - earlier).total_seconds() for earlier, later in pairwise(made)]
        assert waits == [10.0, 20.0, 40.0]
        assert await counts(cluster) == (0, 0, 4)
        assert await conditions(cluster) == [
            ("FailureTarget", "True", "BackoffLimitExceeded"),
            ("Failed", "True", "BackoffLimitExceeded"),
        ]
        assert (await events(cluster))[-1] == (
            "Warning",
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        )

    run_steps(steps)


def test_a_job_whose_containers_are_restarted_too_often_fails() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        given = job(backoff_limit=2, restart_policy="OnFailure", runs={"exit-code": "1"})
        await cluster.create(given)
        await cluster.advance(60.0)
        await cluster.settle()

        assert (await conditions(cluster))[-1] == ("Failed", "True", "BackoffLimitExceeded")
        assert await pods(cluster) == []

    run_steps(steps)


def test_each_index_of_a_job_has_a_pod_with_that_index() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(parallelism=2, completions=3, completion_mode="Indexed"))
        await cluster.settle()

        made = await pods(cluster)
        assert [pod.name[:7] for pod in made] == ["work-0-", "work-1-", "work-2-"]
        assert [pod.labels[COMPLETION_INDEX] for pod in made] == ["0", "1", "2"]
        assert [pod.spec.hostname for pod in made if pod.spec] == ["work-0", "work-1", "work-2"]
        status = await status_of(cluster)
        assert (status.completed_indexes, status.succeeded) == ("0-2", 3)

    run_steps(steps)


def test_a_failed_index_does_not_affect_the_others() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        given = job(
            parallelism=3, completions=3, completion_mode="Indexed", backoff_limit_per_index=1
        )
        await cluster.create(given)
        await cluster.settle()
        for _ in range(2):
            for pod in await pods(cluster, "Pending"):
                is_bad = pod.labels[COMPLETION_INDEX] == "1"
                await ended(
                    cluster, pod, "Failed" if is_bad else "Succeeded", exit_code=int(is_bad)
                )
            await cluster.settle()

        status = await status_of(cluster)
        assert (status.completed_indexes, status.failed_indexes) == ("0,2", "1")
        assert (status.succeeded, status.failed) == (2, 2)
        assert (await conditions(cluster))[-1] == ("Failed", "True", "FailedIndexes")

    run_steps(steps, settings=BY_HAND)


def test_a_failjob_rule_fails_a_job_at_the_first_matching_failure() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        codes = batch_v1.PodFailurePolicyOnExitCodesRequirement(operator="In", values=(42,))
        rule = batch_v1.PodFailurePolicyRule(action="FailJob", on_exit_codes=codes)
        policy = batch_v1.PodFailurePolicy(rules=(rule,))
        runs = {"run-seconds": "1", "exit-code": "42"}
        await cluster.create(job(parallelism=1, pod_failure_policy=policy, runs=runs))
        await cluster.settle()

        (failed,) = await pods(cluster)
        assert (await conditions(cluster))[-1] == ("Failed", "True", "PodFailurePolicy")
        assert (await events(cluster))[-1][2] == (
            f"Container main for pod default/{failed.name} failed with exit code 42"
            " matching FailJob rule at index 0"
        )

    run_steps(steps)


def test_a_success_policy_completes_a_job_and_deletes_its_running_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        policy = batch_v1.SuccessPolicy(rules=(batch_v1.SuccessPolicyRule(succeeded_count=1),))
        given = job(parallelism=2, completions=2, completion_mode="Indexed", success_policy=policy)
        await cluster.create(given)
        await cluster.settle()
        first, _ = await pods(cluster)
        await ended(cluster, first, "Succeeded")
        await cluster.settle()

        assert await counts(cluster) == (0, 1, 0)
        assert (await conditions(cluster))[-1] == ("Complete", "True", "SuccessPolicy")
        assert [pod.name for pod in await pods(cluster)] == [first.name]

    run_steps(steps, settings=BY_HAND)


def test_a_job_fails_after_its_active_deadline_and_its_pods_are_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        runs = {"run-seconds": "1000"}
        await cluster.create(job(parallelism=2, active_deadline_seconds=30, runs=runs))
        await cluster.clock.sleep(29.0)
        assert await counts(cluster) == (2, 0, 0)

        await cluster.settle()

        assert await counts(cluster) == (0, 0, 2)
        assert (await conditions(cluster))[-1] == ("Failed", "True", "DeadlineExceeded")
        assert await pods(cluster) == []
        status = await status_of(cluster)
        assert status.conditions is not None
        assert status.start_time is not None
        decided = status.conditions[0].last_transition_time
        assert decided == status.start_time + timedelta(seconds=30)

    run_steps(steps)


def test_a_suspended_job_has_no_pods_and_continues_after_its_resumption() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        runs = {"run-seconds": "10"}
        await cluster.create(job(parallelism=1, completions=2, runs=runs))
        await cluster.clock.sleep(15.0)
        assert await counts(cluster) == (1, 1, 0)

        await cluster.patch(Job, "work", MergePatch({"spec": {"suspend": True}}))
        await cluster.settle()
        assert await counts(cluster) == (0, 1, 0)
        assert await conditions(cluster) == [("Suspended", "True", "JobSuspended")]
        assert (await status_of(cluster)).start_time is None

        resumed_time = cluster.clock.now().replace(microsecond=0)
        await cluster.patch(Job, "work", MergePatch({"spec": {"suspend": False}}))
        await cluster.settle()
        assert await counts(cluster) == (0, 2, 0)
        assert (await conditions(cluster))[0] == ("Suspended", "False", "JobResumed")
        assert (await status_of(cluster)).start_time == resumed_time
        reasons = [reason for _, reason, _ in await events(cluster)]
        assert sorted(reasons) == [
            *("Completed", "Resumed"),
            *("SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete"),
            "Suspended",
        ]

    run_steps(steps)


def test_a_pod_that_is_deleted_has_failed_and_is_replaced_after_ten_seconds() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(runs={"run-seconds": "3000"}))
        await cluster.clock.sleep(5.0)
        (first,) = await pods(cluster)
        await cluster.delete(Pod, first.name)

        await cluster.clock.sleep(9.0)
        assert await counts(cluster) == (0, 0, 1)
        assert await pods(cluster) == []

        await cluster.clock.sleep(3.0)
        assert await counts(cluster) == (1, 0, 1)
        assert len(await pods(cluster)) == 1

    run_steps(steps)


def test_with_the_failed_replacement_policy_a_pod_is_replaced_after_it_has_ended() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(pod_replacement_policy="Failed"))
        await cluster.settle()
        (first,) = await pods(cluster)
        hold = MergePatch({"metadata": {"finalizers": [TRACKING, "example.com/hold"]}})
        await cluster.patch(Pod, first.name, hold)
        await cluster.delete(Pod, first.name)
        await cluster.settle()
        status = await status_of(cluster)
        assert (status.active, status.terminating, status.failed) == (None, 1, None)

        await ended(cluster, first, "Failed", exit_code=1)
        await cluster.settle()

        status = await status_of(cluster)
        assert (status.active, status.terminating, status.failed) == (1, 0, 1)

    run_steps(steps, settings=BY_HAND)


def test_a_lower_parallelism_deletes_running_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(parallelism=3, completions=6, runs={"run-seconds": "50"}))
        await cluster.clock.sleep(5.0)
        await cluster.patch(Job, "work", MergePatch({"spec": {"parallelism": 1}}))
        await cluster.clock.sleep(5.0)

        assert await counts(cluster) == (1, 0, 0)
        assert len(await pods(cluster)) == 1

    run_steps(steps)


def test_a_finished_job_is_deleted_after_its_ttl_and_not_before() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(ttl_seconds_after_finished=600))
        await cluster.advance(500.0)
        await cluster.settle()
        assert await cluster.find(Job, "work") is not None

        await cluster.advance(200.0)
        await cluster.settle()

        assert await cluster.find(Job, "work") is None
        assert await pods(cluster) == []

    run_steps(steps)


def test_a_job_with_an_increased_ttl_is_kept() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(ttl_seconds_after_finished=600))
        await cluster.advance(500.0)
        await cluster.settle()
        longer = MergePatch({"spec": {"ttlSecondsAfterFinished": 6000}})
        await cluster.patch(Job, "work", longer)
        await cluster.advance(1000.0)
        await cluster.settle()

        assert await cluster.find(Job, "work") is not None

    run_steps(steps)


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
def test_a_pod_that_no_job_will_count_loses_its_finalizer(propagation: Any) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(parallelism=2, runs={"run-seconds": "1000"}))
        await cluster.clock.sleep(5.0)
        await cluster.delete(Job, "work", propagation=propagation)
        await cluster.settle()

        with pytest.raises(NotFound):
            await cluster.get(Job, "work")
        left = await pods(cluster)
        assert len(left) == (2 if propagation == "Orphan" else 0)
        assert [pod.metadata.finalizers for pod in left] == [None] * len(left)

    run_steps(steps)


def test_a_pod_without_a_controller_is_adopted_and_counted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        selector = meta_v1.LabelSelector(match_labels={"app": "mine"})
        given = job(completions=2, parallelism=2, manual_selector=True, selector=selector)
        assert given.spec is not None
        template = given.spec.template
        labelled = replace(template, metadata=meta_v1.ObjectMeta(labels={"app": "mine"}))
        metadata = meta_v1.ObjectMeta(name="stray", labels={"app": "mine"})
        await cluster.create(Pod(metadata=metadata, spec=template.spec))
        await cluster.create(replace(given, spec=replace(given.spec, template=labelled)))
        await cluster.settle()

        found = await cluster.get(Pod, "stray")
        assert [owner.name for owner in found.metadata.owner_references or ()] == ["work"]
        assert found.metadata.finalizers == (TRACKING,)
        assert len(await pods(cluster)) == 2

        await ended(cluster, found, "Succeeded")
        await cluster.settle()
        assert await counts(cluster) == (1, 1, 0)

    run_steps(steps, settings=BY_HAND)


def test_a_job_of_another_controller_is_left_alone() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(managed_by="example.com/queue"))
        await cluster.settle()

        assert await pods(cluster) == []
        assert (await cluster.get(Job, "work")).status in (None, batch_v1.JobStatus())

    run_steps(steps)


def test_a_job_without_permission_to_create_pods_reports_it_and_continues_later() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        hard = {"pods": Quantity("0")}
        await cluster.create(
            core_v1.ResourceQuota(
                metadata=meta_v1.ObjectMeta(name="none"),
                spec=core_v1.ResourceQuotaSpec(hard=hard),
            )
        )
        status = MergePatch({"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})
        await cluster.patch(core_v1.ResourceQuota, "none", status, subresource="status")
        await cluster.create(job())
        await cluster.settle()
        assert await pods(cluster) == []
        type_, reason, note = (await events(cluster))[0]
        assert (type_, reason) == ("Warning", "FailedCreate")
        assert note.startswith('Error creating: pods "work-')
        assert "exceeded quota: none" in note

        await cluster.delete(core_v1.ResourceQuota, "none")
        await cluster.advance(60.0)
        await cluster.settle()
        assert await counts(cluster) == (1, 0, 0)

    run_steps(steps, settings=BY_HAND)


def test_ended_pods_are_counted_while_other_pods_keep_changing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(parallelism=2, completions=2))
        await cluster.settle()
        done, restless = await pods(cluster)
        await ended(cluster, done, "Succeeded")
        for number in range(6):
            ready = {"type": "Ready", "status": "False" if number % 2 else "True"}
            patch = MergePatch({"status": {"phase": "Running", "conditions": [ready]}})
            await cluster.patch(Pod, restless.name, patch, subresource="status")
            await cluster.clock.sleep(0.4)

        assert await counts(cluster) == (1, 1, 0)

    run_steps(steps, settings=BY_HAND)


def test_a_settled_job_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(job(completions=3, parallelism=1))
        await cluster.settle()
        before = cluster.history_position()
        await cluster.advance(3600.0)
        await cluster.settle()

        assert cluster.history.writes(since=before) == []

    run_steps(steps, settings=BY_HAND)
