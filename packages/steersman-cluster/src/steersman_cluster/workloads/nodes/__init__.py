"""Node lifecycle: eviction of Pods by taints, and deletion of Pods whose node does not exist.

Takes:     Pods that are bound to a node, and the taints of nodes
Gives:     evictions, and the ``DisruptionTarget`` conditions that say why
Promises:  - the pods of a deleted node are deleted
           - a taint evicts pods that do not tolerate it
Never:     runs a Pod, or registers a node
"""

from typing import Any

from steersman.controller import Controller
from steersman_cluster.workloads.nodes.taint_eviction import EVICTION
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the controller that evicts Pods."""
    del settings  # eviction has none
    return (EVICTION,)
