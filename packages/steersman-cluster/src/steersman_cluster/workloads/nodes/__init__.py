"""Nodes and the kubelet: Pods that have a node live there, without a single process.

Takes:     how many nodes there are and how large, and what Pods say by annotation
Gives:     Node objects, and the statuses, events and ends that a kubelet gives to Pods
Promises:  - a Pod that starts at once costs one binding and one status
           - no two Pods have one address
           - a node that is deleted comes back
           - a Pod of another scheduler or another kubelet is left alone
Never:     runs a process, probes a container, or reads the clock of the machine
"""

from typing import Any

from steersman.controller import Controller
from steersman.manager import Runnable
from steersman_cluster.workloads.nodes.evicting import EVICTION
from steersman_cluster.workloads.nodes.kubelet import kubelet
from steersman_cluster.workloads.nodes.machines import machines
from steersman_cluster.workloads.nodes.motion import in_motion
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers", "in_motion", "runnables"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The kubelet stand-in, and what has Pods leave."""
    return kubelet(settings), EVICTION


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """What keeps the nodes."""
    return (machines(settings),)
