"""The scheduler: it binds Pods to nodes, as kube-scheduler does.

Takes:     Pods without a node, nodes, and the volume claims of these Pods
Gives:     bindings, and conditions and events that say why a Pod is unschedulable
Promises:  - a Pod is bound only to a node on which it fits
           - an unschedulable Pod has the reason in its status and is retried after a change
           - many identical unschedulable Pods do not block others
Never:     preempts a Pod, or binds a Pod that names another scheduler
"""

from steersman.manager import Runnable
from steersman_cluster.workloads.scheduler.scheduler import scheduler
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["runnables"]


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """Return the scheduler."""
    return (scheduler(settings),)
