"""The disruption controller, which maintains the status of PodDisruptionBudgets.

Takes:     budgets, the Pods that they select, and the controllers of these Pods
Gives:     the budgets' status, by which the server allows or rejects evictions
Promises:  - a budget counts the desired replicas and not the existing Pods
           - an evicted Pod does not count as healthy
           - an evicted Pod that still exists counts again after two minutes
           - a concurrent status update by the server is never overwritten
           - a budget that cannot be computed allows no disruption
Never:     deletes a Pod, or decides about an eviction: the server does
"""

from typing import Any

from steersman.controller import Controller
from steersman_cluster.workloads.disruptions.controller import controller
from steersman_cluster.workloads.disruptions.status import (
    counted,
    desired_healthy,
    disrupted,
    failed,
    healthy,
)
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers", "counted", "desired_healthy", "disrupted", "failed", "healthy"]


def controllers(_: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the disruption controller."""
    return (controller(),)
