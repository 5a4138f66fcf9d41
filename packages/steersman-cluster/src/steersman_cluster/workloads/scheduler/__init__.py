"""The scheduler: it binds Pods to nodes, as kube-scheduler does.

Takes:     Pods without a node, nodes, and the volume claims of those Pods
Gives:     bindings, and conditions and events that say why a Pod has no node
Promises:  - a Pod goes only where it may and where there is node_info
           - what fits nowhere is told why, and tried again when that may have changed
           - many Pods of one sort that fit nowhere starve nobody
Never:     preempts a Pod, or binds one that names another scheduler
"""

from steersman.manager import Runnable
from steersman_cluster.workloads.scheduler.scheduler import scheduler
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["runnables"]


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """The scheduler."""
    return (scheduler(settings),)
