"""The ReplicaSet controller.

Takes:     ReplicaSets, and the Pods that they select
Gives:     Pods created, deleted, adopted and released; statuses, conditions and events
Promises:  - a ReplicaSet has the desired number of Pods
           - a rejected creation is tried once and not a thousand times
           - no more than five hundred Pods are created in one reconcile
           - a settled ReplicaSet writes nothing
Never:     changes a Pod with another controller, or creates a Pod for a deleted ReplicaSet
"""

from typing import Any, Final

from steersman.cache import by_controller
from steersman.controller import Controller, Writes
from steersman.kinds import apps_v1, core_v1
from steersman_cluster.workloads.pods import (
    SELECTOR_INDEX,
    by_selector,
    is_counted_differently,
    watching_pods,
)
from steersman_cluster.workloads.replicasets.controller import SIBLING_INDEX, reconcile
from steersman_cluster.workloads.replicasets.plan import retry_seconds
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["SIBLING_INDEX", "controllers", "reconcile", "retry_seconds"]


# Created once: validation costs more than a reconcile.
_CONTROLLER: Final = Controller(
    apps_v1.ReplicaSet,
    name="replicaset-controller",
    event_source="replicaset-controller",
    reconcile=reconcile,
    watches=(watching_pods(apps_v1.ReplicaSet, when=is_counted_differently),),
    writes=(Writes(core_v1.Pod, verbs=("create", "patch", "delete")),),
    indexes={SELECTOR_INDEX: by_selector, SIBLING_INDEX: by_controller},
    while_deleting=True,
)


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the ReplicaSet controller."""
    del settings  # they do not depend on the settings
    return (_CONTROLLER,)
