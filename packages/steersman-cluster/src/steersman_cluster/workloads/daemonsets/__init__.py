"""The DaemonSet controller: it maintains one Pod on each node that fits.

Takes:     DaemonSets, nodes, and the Pods that the DaemonSets select
Gives:     Pods with an affinity to one node each; revisions; the DaemonSets' status
Promises:  - each node that fits has one Pod and no other node has any
           - a Pod stays on a node that no longer fits unless a taint evicts it
           - an update never exceeds maxUnavailable
           - with maxSurge the new Pod is available before the old one is deleted
           - a failed Pod is replaced with backoff
Never:     binds a Pod to its node, or counts Pods that it has not processed
"""

from typing import Any

from steersman.controller import Controller
from steersman_cluster.workloads.daemonsets.controller import controller
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


def controllers(_: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the DaemonSet controller."""
    return (controller(),)
