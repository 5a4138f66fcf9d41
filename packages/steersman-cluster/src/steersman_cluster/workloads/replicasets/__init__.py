"""As many Pods of one template as a ReplicaSet wants, no more and no fewer.

Takes:     ReplicaSets, and the Pods that they select
Gives:     Pods made and deleted, adopted and released; statuses, conditions and events
Promises:  - a ReplicaSet has as many Pods as it wants
           - what cannot be made is tried once and not a thousand times
           - no more than five hundred Pods are made at once
           - a ReplicaSet at rest writes nothing
Never:     touches a Pod that another one controls, or makes one for a ReplicaSet that is going
"""

from typing import Any, Final

from steersman.cache import by_controller
from steersman.controller import Controller, Writes
from steersman.kinds import apps_v1, core_v1
from steersman_cluster.workloads.pods import (
    SELECTOR_INDEX,
    by_selector,
    is_counted_anew,
    watching_pods,
)
from steersman_cluster.workloads.replicasets.controller import SIBLING_INDEX, reconcile
from steersman_cluster.workloads.replicasets.plan import retry_seconds
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["SIBLING_INDEX", "controllers", "reconcile", "retry_seconds"]


# Made once: it takes longer to check than an object to be looked at.
_CONTROLLER: Final = Controller(
    apps_v1.ReplicaSet,
    name="replicaset-controller",
    event_source="replicaset-controller",
    reconcile=reconcile,
    watches=(watching_pods(apps_v1.ReplicaSet, when=is_counted_anew),),
    writes=(Writes(core_v1.Pod, verbs=("create", "patch", "delete")),),
    indexes={SELECTOR_INDEX: by_selector, SIBLING_INDEX: by_controller},
    while_deleting=True,
)


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The controller of ReplicaSets."""
    del settings  # they are the same on every cluster
    return (_CONTROLLER,)
