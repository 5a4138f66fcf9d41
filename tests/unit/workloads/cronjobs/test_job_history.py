"""The Jobs in the status of a CronJob, and the history limits."""

from datetime import timedelta

from steersman.kinds import batch_v1
from steersman_cluster.workloads.cronjobs.job_history import (
    SCHEDULED,
    is_active,
    job_for,
    surplus,
    with_started,
    with_success,
    without,
)
from tests.unit.workloads.cronjobs.samples import CREATED, cron_job, ended


def test_a_job_has_the_template_and_its_scheduled_time() -> None:
    given = cron_job(time_zone="Europe/Berlin")

    made = job_for(given, CREATED)

    assert made.name == f"tick-{int(CREATED.timestamp()) // 60}"
    assert made.labels == {"a": "b"}
    assert made.annotations == {"c": "d", SCHEDULED: "2026-01-01T13:00:30+01:00"}
    assert made.spec == given.spec.job_template.spec


def test_no_more_jobs_are_kept_than_the_history_limits_allow() -> None:
    jobs = [
        ended("d", "Complete", minutes=4),
        ended("a", "Complete", minutes=1),
        ended("b", "Complete", minutes=1),
        ended("e", "Failed", minutes=2),
        ended("f", "Failed", minutes=1),
        ended("g", None, minutes=0),
    ]
    given = cron_job(successful_jobs_history_limit=1, failed_jobs_history_limit=1)

    assert [job.name for job in surplus(given, jobs)] == ["a", "b", "f"]


def test_without_history_limits_all_jobs_are_kept() -> None:
    jobs = [ended(name, "Complete") for name in "abcdef"]

    assert surplus(cron_job(), jobs) == []
    assert len(surplus(cron_job(successful_jobs_history_limit=0), jobs)) == 6


def test_a_job_without_a_start_time_is_deleted_last() -> None:
    jobs = [ended("a", "Failed", minutes=None), ended("b", "Failed", minutes=9)]

    assert [job.name for job in surplus(cron_job(failed_jobs_history_limit=1), jobs)] == ["b"]


def test_the_status_lists_active_jobs() -> None:
    job = ended("a", None)

    running = with_started(batch_v1.CronJobStatus(), job, CREATED)
    over = without(running, ("a",))

    assert is_active(running, job)
    assert [(each.kind, each.name, each.uid) for each in running.active or ()] == [
        ("Job", "a", "a")
    ]
    assert running.last_schedule_time == CREATED
    assert (over.active, over.last_schedule_time) == (None, CREATED)


def test_the_status_has_the_last_successful_time() -> None:
    status = batch_v1.CronJobStatus()
    for job in (
        ended("a", "Complete", minutes=3),
        ended("b", "Complete", minutes=1),
        ended("c", "Failed", minutes=9),
    ):
        status = with_success(status, job)

    assert status.last_successful_time == CREATED + timedelta(minutes=3)
