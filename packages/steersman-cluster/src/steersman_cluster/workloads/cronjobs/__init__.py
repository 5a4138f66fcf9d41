"""CronJobs: a Job at each moment of a schedule.

Takes:     CronJobs, and the Jobs that they control
Gives:     Jobs started, replaced and cleared away; statuses and events
Promises:  - each moment of a schedule has one Job, however often it is tried
           - what is forbidden to run twice at once never does
           - of what was missed only the last is made up for
           - no more Jobs are kept than the history has room for
           - a new schedule does not make up for its own past
Never:     starts what is too late, or anything while it is suspended
"""

from functools import partial
from typing import Any

from steersman.controller import Controller, Owns
from steersman.kinds import batch_v1
from steersman_cluster.workloads.cronjobs.controller import (
    cron_job_matters,
    job_matters,
    reconcile,
)
from steersman_cluster.workloads.cronjobs.seen_schedules import Schedules
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The controller of CronJobs."""
    del settings  # they are the same on every cluster
    return (
        Controller(
            batch_v1.CronJob,
            name="cronjob-controller",
            event_source="cronjob-controller",
            reconcile=partial(reconcile, memories=PerRun(Schedules)),
            when=cron_job_matters,
            owns=(Owns(batch_v1.Job, verbs=("create", "delete"), when=job_matters),),
            while_deleting=True,
        ),
    )
