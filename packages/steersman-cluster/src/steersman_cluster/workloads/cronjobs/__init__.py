"""The CronJob controller: it creates a Job at each scheduled time.

Takes:     CronJobs, and the Jobs that they control
Gives:     Jobs started, replaced and deleted; statuses and events
Promises:  - each scheduled time has one Job however often it is tried
           - with Forbid no two Jobs run at once
           - only the last missed time starts a Job
           - no more Jobs are kept than the history limits allow
           - a new schedule starts no Job for earlier times
Never:     starts a Job after its deadline, or while the CronJob is suspended
"""

from functools import partial
from typing import Any

from steersman.controller import Controller, Owns
from steersman.kinds import batch_v1
from steersman_cluster.workloads.cronjobs.controller import (
    SeenSchedules,
    cron_job_matters,
    job_matters,
    reconcile,
)
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the CronJob controller."""
    del settings  # they do not depend on the settings
    return (
        Controller(
            batch_v1.CronJob,
            name="cronjob-controller",
            event_source="cronjob-controller",
            reconcile=partial(reconcile, memories=PerRun(SeenSchedules)),
            when=cron_job_matters,
            owns=(Owns(batch_v1.Job, verbs=("create", "delete"), when=job_matters),),
            while_deleting=True,
        ),
    )
