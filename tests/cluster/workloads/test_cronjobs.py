"""CronJobs on a simulated cluster, over hours and days."""

from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import batch_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.batch import CronJob, Job, cron_job, events, job

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
# Without the garbage collector: a day of garbage collection would slow down the tests.
BATCH = WorkloadSettings(parts=("nodes", "scheduler", "jobs", "cronjobs"))
# Its Jobs never end, because no kubelet runs their Pods.
ALONE = WorkloadSettings(parts=("cronjobs",))
HOUR, DAY = 3600.0, 86400.0


def run_steps(steps: Any, *, settings: WorkloadSettings = BATCH) -> None:
    simulate(steps, settings=settings)


async def due_times(cluster: SimulatedCluster) -> list[str]:
    """The scheduled time of each of its Jobs."""
    return sorted(each.annotations[SCHEDULED] for each in await cluster.list(Job))


async def status_of(cluster: SimulatedCluster) -> batch_v1.CronJobStatus:
    found = await cluster.get(CronJob, "tick")
    return found.status or batch_v1.CronJobStatus()


def test_each_scheduled_time_has_one_job_however_often_it_is_tried() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        given = cron_job("*/20 * * * *", successful_jobs_history_limit=10)
        await cluster.create(given)
        await cluster.advance(HOUR + 60.0)
        await cluster.settle()

        jobs = sorted(await cluster.list(Job), key=lambda each: each.name)
        first = datetime(2030, 1, 1, 0, 20, tzinfo=UTC)
        assert [each.name for each in jobs] == [
            f"tick-{int(first.timestamp()) // 60 + minutes}" for minutes in (0, 20, 40)
        ]
        assert await due_times(cluster) == [
            "2030-01-01T00:20:00Z",
            "2030-01-01T00:40:00Z",
            "2030-01-01T01:00:00Z",
        ]
        status = await status_of(cluster)
        assert status.active is None
        assert status.last_schedule_time == first + timedelta(minutes=40)
        assert status.last_successful_time is not None
        assert await events(cluster, "tick") == [
            event
            for each in jobs
            for event in (
                ("Normal", "SuccessfulCreate", f"Created job {each.name}"),
                (
                    "Normal",
                    "SawCompletedJob",
                    f"Saw completed job: {each.name}, condition: Complete",
                ),
            )
        ]

    run_steps(steps)


def test_a_daily_schedule_follows_its_time_zone() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(
            cron_job("0 0 * * *", time_zone="Asia/Kolkata", successful_jobs_history_limit=9)
        )
        await cluster.advance(DAY)
        await cluster.settle()

        assert await due_times(cluster) == ["2030-01-02T00:00:00+05:30"]
        (made,) = await cluster.list(Job)
        assert made.metadata.creation_timestamp == datetime(2030, 1, 1, 18, 30, tzinfo=UTC)

    run_steps(steps)


def test_no_more_jobs_are_kept_than_the_history_limits_allow_in_a_day() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 */3 * * *"))
        await cluster.advance(DAY)
        await cluster.settle()

        assert await due_times(cluster) == [
            "2030-01-01T18:00:00Z",
            "2030-01-01T21:00:00Z",
            "2030-01-02T00:00:00Z",
        ]
        assert "SuccessfulDelete" in [reason for _, reason, _ in await events(cluster, "tick")]

    run_steps(steps)


def test_with_forbid_no_two_jobs_run_at_once() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        given = cron_job("*/10 * * * *", concurrency_policy="Forbid")
        await cluster.create(given)
        await cluster.advance(HOUR)
        await cluster.settle()

        assert await due_times(cluster) == ["2030-01-01T00:10:00Z"]
        assert (
            "Normal",
            "JobAlreadyActive",
            "Not starting job because prior execution is running and concurrency policy is Forbid",
        ) in await events(cluster, "tick")

    run_steps(steps, settings=ALONE)


def test_with_forbid_a_delayed_job_starts_when_its_predecessor_finishes() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        runs = {"run-seconds": "1500"}
        given = cron_job("*/10 * * * *", concurrency_policy="Forbid", runs=runs)
        await cluster.create(given)
        await cluster.clock.sleep(3000.0)

        # The Job of ten past runs until thirty-five past, so the one of half past starts late.
        assert await due_times(cluster) == ["2030-01-01T00:10:00Z", "2030-01-01T00:30:00Z"]

    run_steps(steps)


def test_with_allow_two_jobs_run_at_once() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("*/10 * * * *"))
        await cluster.advance(1850.0)
        await cluster.settle()

        assert len(await due_times(cluster)) == 3
        assert len((await status_of(cluster)).active or ()) == 3

    run_steps(steps, settings=ALONE)


def test_with_replace_a_new_job_replaces_its_predecessor() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        given = cron_job("*/10 * * * *", concurrency_policy="Replace")
        await cluster.create(given)
        await cluster.advance(1850.0)
        await cluster.settle()

        assert await due_times(cluster) == ["2030-01-01T00:30:00Z"]
        assert [each.name for each in (await status_of(cluster)).active or ()] == [
            each.name for each in await cluster.list(Job)
        ]

    run_steps(steps, settings=ALONE)


def test_a_resumed_cron_job_starts_only_the_last_missed_job() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 * * * *", suspend=True))
        await cluster.advance(5 * HOUR + 600.0)
        await cluster.settle()
        assert await due_times(cluster) == []

        await cluster.patch(CronJob, "tick", MergePatch({"spec": {"suspend": False}}))
        await cluster.settle()

        assert await due_times(cluster) == ["2030-01-01T05:00:00Z"]

    run_steps(steps)


def test_no_job_starts_after_the_starting_deadline() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 * * * *", suspend=True, starting_deadline_seconds=300))
        await cluster.advance(5 * HOUR + 600.0)
        await cluster.settle()
        await cluster.patch(CronJob, "tick", MergePatch({"spec": {"suspend": False}}))
        await cluster.settle()
        assert await due_times(cluster) == []

        await cluster.advance(HOUR)
        await cluster.settle()
        assert await due_times(cluster) == ["2030-01-01T06:00:00Z"]

    run_steps(steps)


def test_more_than_a_hundred_missed_times_are_reported_and_the_last_starts() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("* * * * *", suspend=True))
        await cluster.advance(3 * HOUR + 30.0)
        await cluster.settle()
        await cluster.patch(CronJob, "tick", MergePatch({"spec": {"suspend": False}}))
        await cluster.clock.sleep(5.0)

        assert await due_times(cluster) == ["2030-01-01T03:00:00Z"]
        assert (
            "Warning",
            "TooManyMissedTimes",
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check"
            " clock skew",
        ) in await events(cluster, "tick")

    run_steps(steps, settings=ALONE)


def test_a_new_schedule_starts_no_job_for_earlier_times() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 0 1 1 *"))
        await cluster.advance(1850.0)
        await cluster.settle()
        await cluster.patch(CronJob, "tick", MergePatch({"spec": {"schedule": "*/10 * * * *"}}))
        await cluster.clock.sleep(60.0)
        assert await due_times(cluster) == []

        await cluster.advance(600.0)
        await cluster.settle()
        assert await due_times(cluster) == ["2030-01-01T00:40:00Z"]

    run_steps(steps)


def test_a_new_schedule_with_other_changes_starts_no_job_for_earlier_times() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 0 1 1 *"))
        await cluster.advance(1850.0)
        await cluster.settle()
        labels = {f"label-{number}": "new" for number in range(12)}
        template = {"spec": {"template": {"metadata": {"labels": labels}}}}
        change = {"schedule": "*/10 * * * *", "jobTemplate": template}
        await cluster.patch(CronJob, "tick", MergePatch({"spec": change}))
        await cluster.clock.sleep(60.0)

        assert await due_times(cluster) == []

    run_steps(steps)


def test_a_missing_active_job_is_reported_and_removed_from_the_status() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 * * * *"))
        await cluster.advance(HOUR)
        await cluster.settle()
        (running,) = await cluster.list(Job)
        await cluster.delete(Job, running.name)
        await cluster.settle()

        assert (await status_of(cluster)).active is None
        assert (await events(cluster, "tick"))[-1] == (
            "Normal",
            "MissingJob",
            f"Active job went missing: {running.name}",
        )

    run_steps(steps, settings=ALONE)


def test_a_job_that_a_user_created_is_reported_as_unexpected() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        made = await cluster.create(cron_job("0 * * * *"))
        await cluster.settle()
        owner = meta_v1.OwnerReference(
            api_version="batch/v1", kind="CronJob", name="tick", uid=made.uid, controller=True
        )
        slipped = job("by-hand")
        metadata = meta_v1.ObjectMeta(name="by-hand", owner_references=(owner,))
        await cluster.create(Job(metadata=metadata, spec=slipped.spec))
        await cluster.settle()

        assert await events(cluster, "tick") == [
            (
                "Warning",
                "UnexpectedJob",
                "Saw a job that the controller did not create or forgot: by-hand",
            )
        ]

    run_steps(steps, settings=ALONE)


def test_a_schedule_for_february_31_is_reported_as_unsatisfiable() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("59 23 31 2 *"))
        await cluster.settle()

        assert await events(cluster, "tick") == [
            (
                "Warning",
                "InvalidSchedule",
                "invalid schedule: 59 23 31 2 * : time difference between two schedules is less"
                " than 1 second",
            )
        ]

    run_steps(steps, settings=ALONE)
