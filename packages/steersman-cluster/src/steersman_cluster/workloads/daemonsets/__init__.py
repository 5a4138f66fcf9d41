"""DaemonSets: one Pod on each node where one belongs.

Takes:     DaemonSets, nodes, and the Pods that the DaemonSets select
Gives:     Pods that the scheduler binds to one node each; revisions; the DaemonSets' status
Promises:  - each node that fits has one Pod and no other node has any
           - a Pod that may not come to a node may stay unless a taint drives it away
           - an update never makes more Pods unavailable than it may
           - a surging update has the new Pod available before the old one goes
           - a Pod that failed is replaced later each time
Never:     binds a Pod to its node, or counts what has not been looked at
"""

from typing import Any

from steersman.controller import Controller
from steersman_cluster.workloads.daemonsets.controller import controller
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


def controllers(_: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The controller of DaemonSets, with no memory of failures yet."""
    return (controller(),)
