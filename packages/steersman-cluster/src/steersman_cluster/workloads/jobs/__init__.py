"""Jobs, whose Pods run until enough of them have succeeded, or too many have failed.

Takes:     Jobs, and the Pods that they select
Gives:     Pods made, replaced and deleted; statuses, conditions and events
Promises:  - each Pod that ends is counted once, whatever happens in between
           - a failed Pod is replaced after ten seconds, then twice as long each time
           - an index is done once one Pod of it has succeeded
           - a suspended Job has no Pods, and goes on where it was
           - a Pod that no Job will count any more is let go
           - a Job that is over is deleted after its time, and not before
           - a Job that somebody else manages is left alone
Never:     makes a Pod for a Job that is over or going, or counts one that it has not written down
"""

from dataclasses import replace
from functools import partial
from typing import Any

from steersman.controller import Controller, Watch, Writes
from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.jobs import orphan_pods
from steersman_cluster.workloads.jobs.accessors import end_of
from steersman_cluster.workloads.jobs.controller import job_matters, pod_matters, reconcile
from steersman_cluster.workloads.jobs.local_state import Memory
from steersman_cluster.workloads.pods import SELECTOR_INDEX, by_selector, watching_pods
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers", "end_of"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The controller of Jobs, and the one that lets go of Pods that they have left behind."""
    del settings  # they are the same on every cluster
    return (
        Controller(
            batch_v1.Job,
            name="job-controller",
            event_source="job-controller",
            reconcile=partial(reconcile, memories=PerRun(Memory)),
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
