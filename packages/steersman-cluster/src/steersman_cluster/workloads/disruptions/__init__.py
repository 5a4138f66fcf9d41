"""PodDisruptionBudgets: how many Pods may go just now, so that enough of them stay.

Takes:     budgets, the Pods that they select, and the controllers of those
Gives:     the budgets' status, by which the server lets Pods go or refuses to
Promises:  - a budget counts what its Pods' controllers want and not what is there
           - a Pod that the server has let go is not healthy any more
           - a Pod that was let go and stayed counts again after two minutes
           - what the server has charged in the meantime is never given back
           - a budget that cannot be worked out lets nobody go
Never:     deletes a Pod, or decides whether one may be evicted: the server does
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
    """The controller of disruption budgets."""
    return (controller(),)
