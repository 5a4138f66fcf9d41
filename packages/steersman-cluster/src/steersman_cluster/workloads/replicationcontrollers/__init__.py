"""As many Pods of one template as a ReplicationController wants: the ReplicaSet of old.

Takes:     ReplicationControllers, and the Pods that they select
Gives:     Pods made and deleted, adopted and released; statuses, conditions and events
Promises:  - a ReplicationController has as many Pods as it wants
           - a ReplicationController at rest writes nothing
Never:     touches a Pod that another one controls
"""

from typing import Any, Final

from steersman.cache import by_controller
from steersman.controller import Controller, Writes
from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import (
    SELECTOR_INDEX,
    by_selector,
    is_counted_anew,
    watching_pods,
)
from steersman_cluster.workloads.replicasets import SIBLING_INDEX, reconcile
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


# Made once: it takes longer to check than an object to be looked at.
_CONTROLLER: Final = Controller(
    core_v1.ReplicationController,
    name="replication-controller",
    event_source="replication-controller",
    reconcile=reconcile,
    watches=(watching_pods(core_v1.ReplicationController, when=is_counted_anew),),
    writes=(Writes(core_v1.Pod, verbs=("create", "patch", "delete")),),
    indexes={SELECTOR_INDEX: by_selector, SIBLING_INDEX: by_controller},
    while_deleting=True,
)


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """The controller of ReplicationControllers."""
    del settings  # they are the same on every cluster
    return (_CONTROLLER,)
