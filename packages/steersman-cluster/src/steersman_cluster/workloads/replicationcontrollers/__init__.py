"""The controller of ReplicationControllers, the predecessors of ReplicaSets.

Takes:     ReplicationControllers, and the Pods that they select
Gives:     Pods created, deleted, adopted and released; statuses, conditions and events
Promises:  - a ReplicationController has the desired number of Pods
           - a settled ReplicationController writes nothing
Never:     changes a Pod with another controller
"""

from typing import Any, Final

from steersman.cache import by_controller
from steersman.controller import Controller, Writes
from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import (
    SELECTOR_INDEX,
    by_selector,
    is_counted_differently,
    watching_pods,
)
from steersman_cluster.workloads.replicasets import SIBLING_INDEX, reconcile
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


# Created once: validation costs more than a reconcile.
_CONTROLLER: Final = Controller(
    core_v1.ReplicationController,
    name="replication-controller",
    event_source="replication-controller",
    reconcile=reconcile,
    watches=(watching_pods(core_v1.ReplicationController, when=is_counted_differently),),
    writes=(Writes(core_v1.Pod, verbs=("create", "patch", "delete")),),
    indexes={SELECTOR_INDEX: by_selector, SIBLING_INDEX: by_controller},
    while_deleting=True,
)


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the ReplicationController controller."""
    del settings  # they do not depend on the settings
    return (_CONTROLLER,)
