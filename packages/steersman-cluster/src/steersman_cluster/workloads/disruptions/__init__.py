"""PodDisruptionBudgets: the disruption controller, which maintains their status.

Takes:     budgets, the Pods that they select, and the controllers of those
Gives:     the budgets' status, by which the server allows or rejects evictions
Promises:  - a budget counts what its Pods controllers want and not what exists
           - an evicted Pod is not healthy any more
           - an evicted Pod that stays counts again after two minutes
           - a charge of the server in the meantime is never overwritten
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
    """The disruption controller."""
    return (controller(),)
