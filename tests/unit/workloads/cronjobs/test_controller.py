"""The schedules that the CronJob controller has reconciled."""

from steersman.kinds import batch_v1, core_v1, meta_v1
from steersman_cluster.workloads.cronjobs.controller import SeenSchedules


def cron_job(schedule: str, *, uid: str = "one", zone: str | None = None) -> batch_v1.CronJob:
    template = core_v1.PodTemplateSpec()
    return batch_v1.CronJob(
        metadata=meta_v1.ObjectMeta(name="tick", uid=uid),
        spec=batch_v1.CronJobSpec(
            schedule=schedule,
            time_zone=zone,
            job_template=batch_v1.JobTemplateSpec(spec=batch_v1.JobSpec(template=template)),
        ),
    )


def test_a_schedule_is_new_until_it_is_recorded() -> None:
    schedules = SeenSchedules()
    schedules.note(cron_job("@daily"))

    assert not schedules.is_new(cron_job("@daily"))
    assert schedules.is_new(cron_job("@hourly"))
    assert schedules.is_new(cron_job("@daily", zone="Europe/Berlin"))

    schedules.note(cron_job("@hourly"))
    assert not schedules.is_new(cron_job("@hourly"))


def test_the_first_schedule_of_a_cron_job_is_not_new() -> None:
    schedules = SeenSchedules()
    schedules.note(cron_job("@daily"))

    assert not schedules.is_new(cron_job("@hourly", uid="another"))


def test_the_least_recently_used_schedule_is_dropped() -> None:
    schedules = SeenSchedules(most=2)
    for uid in ("one", "two", "one", "three"):
        schedules.note(cron_job("@daily", uid=uid))

    assert len(schedules) == 2
    assert schedules.is_new(cron_job("@hourly", uid="one"))
    assert not schedules.is_new(cron_job("@hourly", uid="two"))
