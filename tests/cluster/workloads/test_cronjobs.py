"""CronJobs on a simulated cluster, over hours and days."""

from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import batch_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.batch import CronJob, Job, cron_job, events, job

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
# What is cleared away takes no more than is asked: the garbage of a day would take longer to tell.
BATCH = WorkloadSettings(parts=("nodes", "scheduler", "jobs", "cronjobs"))
# Its Jobs never end: nobody runs them.
ALONE = WorkloadSettings(parts=("cronjobs",))
HOUR, DAY = 3600.0, 86400.0


def run_steps(steps: Any, *, settings: WorkloadSettings = BATCH) -> None:
    simulate(steps, settings=settings)


async def due_times(cluster: SimulatedCluster) -> list[str]:
    """For when each of its Jobs was due."""
    return sorted(each.annotations[SCHEDULED] for each in await cluster.list(Job))


async def status_of(cluster: SimulatedCluster) -> batch_v1.CronJobStatus:
    found = await cluster.get(CronJob, "tick")
    return found.status or batch_v1.CronJobStatus()


def test_each_time_of_a_schedule_has_one_job_however_often_it_is_tried() -> None:
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


def test_a_day_in_another_zone_begins_when_it_begins_there() -> None:
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


def test_what_was_held_up_by_another_starts_when_that_is_over() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        runs = {"run-seconds": "1500"}
        given = cron_job("*/10 * * * *", concurrency_policy="Forbid", runs=runs)
        await cluster.create(given)
        await cluster.clock.sleep(3000.0)

        # From ten past to a little after thirty-five past: the one of half past is late.
        assert await due_times(cluster) == ["2030-01-01T00:10:00Z", "2030-01-01T00:30:00Z"]

    run_steps(steps)


def test_what_may_run_twice_at_once_does() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("*/10 * * * *"))
        await cluster.advance(1850.0)
        await cluster.settle()

        assert len(await due_times(cluster)) == 3
        assert len((await status_of(cluster)).active or ()) == 3

    run_steps(steps, settings=ALONE)


def test_what_replaces_its_predecessor_runs_alone() -> None:
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


def test_a_suspended_one_starts_nothing_and_then_only_the_last_that_was_missed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(cron_job("0 * * * *", suspend=True))
        await cluster.advance(5 * HOUR + 600.0)
        await cluster.settle()
        assert await due_times(cluster) == []

        await cluster.patch(CronJob, "tick", MergePatch({"spec": {"suspend": False}}))
        await cluster.settle()

        assert await due_times(cluster) == ["2030-01-01T05:00:00Z"]

    run_steps(steps)


def test_what_is_too_late_is_not_started() -> None:
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


def test_more_than_a_hundred_missed_are_told_and_the_last_is_started() -> None:
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


def test_a_new_schedule_does_not_make_up_for_times_before_it() -> None:
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


def test_a_new_schedule_that_comes_with_much_else_does_not_make_up_for_its_past_either() -> None:
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


def test_a_job_that_went_missing_is_told_and_forgotten() -> None:
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


def test_a_job_that_another_client_slipped_in_is_told() -> None:
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


def test_the_31st_of_february_is_told_to_be_no_day() -> None:
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
