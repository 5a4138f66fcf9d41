"""Nodes, the scheduler and the kubelet: Pods get a node and live there, without a single process.

Takes:     how many nodes there are and how large, and what Pods say by annotation
Gives:     Node objects, Pods bound to them, and the statuses, events and ends that a kubelet gives
Promises:  - a Pod that starts at once costs one binding and one status
           - a Pod goes only where it may and where there is room
           - what fits nowhere is told why, and tried again when that may have changed
           - many Pods of one sort that fit nowhere starve nobody
           - no two Pods have one address
           - a node that is deleted comes back
           - a Pod of another scheduler or another kubelet is left alone
Never:     runs a process, preempts a Pod, probes a container, or reads the clock of the machine
"""

from typing import Any

from steersman.controller import Controller
from steersman.manager import Runnable
from steersman.workloads.nodes.evicting import EVICTION
from steersman.workloads.nodes.kubelet import kubelet
from steersman.workloads.nodes.machines import machines
from steersman.workloads.nodes.motion import in_motion
from steersman.workloads.nodes.scheduler import scheduler
from steersman.workloads.settings import WorkloadSettings

__all__ = ["controllers", "in_motion", "runnables"]


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The kubelet stand-in, and what has Pods leave."""
    return kubelet(settings), EVICTION


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """What keeps the nodes, and the scheduler."""
    return machines(settings), scheduler(settings)
