"""The Job controller, and the controller that releases orphan Pods.

Takes:     Jobs, and the Pods that they select
Gives:     Pods created, replaced and deleted; statuses, conditions and events
Promises:  - each ended Pod is counted once despite crashes
           - a failed Pod is replaced after ten seconds, then twice as long each time
           - an index is done once one Pod of it has succeeded
           - a suspended Job has no Pods and continues after its resumption
           - a Pod that no Job will count loses its finalizer
           - a finished Job is deleted after its ttl and not before
           - a Job of another controller is left alone
Never:     creates a Pod for a finished or deleted Job, or counts a Pod whose uid is not in the
           status
"""

from dataclasses import replace
from functools import partial
from typing import Any

from steersman.controller import Controller, Watch, Writes
from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.jobs import orphan_pods
from steersman_cluster.workloads.jobs.accessors import end_of
from steersman_cluster.workloads.jobs.controller import job_matters, pod_matters, reconcile
from steersman_cluster.workloads.jobs.local_state import LocalState
from steersman_cluster.workloads.pods import SELECTOR_INDEX, by_selector, watching_pods
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers", "end_of"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the Job controller, and the controller of orphan Pods."""
    del settings  # they do not depend on the settings
    return (
        Controller(
            batch_v1.Job,
            name="job-controller",
            event_source="job-controller",
            reconcile=partial(reconcile, local_states=PerRun(LocalState)),
            when=job_matters,
            watches=(replace(watching_pods(batch_v1.Job), when=pod_matters),),
            writes=(
                Writes(core_v1.Pod, verbs=("create", "patch", "delete")),
                Writes(batch_v1.Job, verbs=("delete",)),
            ),
            indexes={SELECTOR_INDEX: by_selector},
            while_deleting=True,
        ),
        Controller(
            core_v1.Pod,
            name="job-orphans",
            reconcile=orphan_pods.reconcile,
            when=orphan_pods.may_be_orphan,
            watches=(Watch(batch_v1.Job, to=orphan_pods.pods_of, when=orphan_pods.has_ended),),
            writes=(Writes(core_v1.Pod, verbs=("patch",)),),
            indexes={orphan_pods.TRACKED_INDEX: orphan_pods.by_tracker},
            while_deleting=True,
        ),
    )
