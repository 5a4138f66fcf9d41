"""The Deployment controller, with rolling updates and rollbacks.

Takes:     Deployments, their ReplicaSets, and the Pods of these ReplicaSets
Gives:     ReplicaSets created, scaled and cleaned up; revisions, conditions and events
Promises:  - a rolling update never exceeds maxSurge
           - a rolling update never exceeds maxUnavailable
           - a rollback keeps the old ReplicaSet and gives it a new revision
           - a paused Deployment rolls nothing out
           - a settled Deployment writes nothing
Never:     changes a ReplicaSet with another controller, or creates Pods itself
"""

from collections.abc import Iterable
from typing import Any, Final

from steersman.controller import CacheReader, Controller, Watch, Writes, controller_of
from steersman.kinds import apps_v1, core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.deployments.accessors import is_rolling
from steersman_cluster.workloads.deployments.controller import reconcile
from steersman_cluster.workloads.pods import (
    CONTROLLER_INDEX,
    SELECTOR_INDEX,
    by_controller_or_labels,
    by_selector,
    is_counted_differently,
    watching,
)
from steersman_cluster.workloads.settings import WorkloadSettings

__all__ = ["controllers"]


def _recreating(pod: core_v1.Pod, cached: CacheReader) -> Iterable[ObjectKey]:
    """Return the Deployment with strategy ``Recreate`` that waits for the end of this Pod."""
    controller = controller_of(pod)
    if controller is None or controller.kind != "ReplicaSet":
        return ()
    rs = cached.get(apps_v1.ReplicaSet, controller.name, namespace=pod.namespace)
    owner = controller_of(rs) if rs is not None else None
    if owner is None or owner.kind != "Deployment":
        return ()
    deployment = cached.get(apps_v1.Deployment, owner.name, namespace=pod.namespace)
    if deployment is None or deployment.spec is None or is_rolling(deployment):
        return ()
    return (ObjectKey(deployment.namespace, deployment.name),)


# Created once: validation costs more than a reconcile.
_CONTROLLER: Final = Controller(
    apps_v1.Deployment,
    name="deployment-controller",
    event_source="deployment-controller",
    reconcile=reconcile,
    watches=(
        watching(apps_v1.ReplicaSet, controller=apps_v1.Deployment),
        Watch(
            core_v1.Pod,
            to=_recreating,
            when=is_counted_differently,
            indexes={CONTROLLER_INDEX: by_controller_or_labels},
        ),
    ),
    writes=(Writes(apps_v1.ReplicaSet, verbs=("create", "patch", "delete")),),
    indexes={SELECTOR_INDEX: by_selector},
    while_deleting=True,
)


def controllers(settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the Deployment controller."""
    del settings  # they do not depend on the settings
    return (_CONTROLLER,)
