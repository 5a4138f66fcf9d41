"""StatefulSets: the StatefulSet controller, with ordered Pods that have stable names and
PersistentVolumeClaims.

Takes:     StatefulSets, with their Pods, claims and revisions
Gives:     Pods from the lowest ordinal on, claims from their templates, and the set's status
Promises:  - ordered Pods are created one after the other and deleted in reverse order
           - parallel Pods do not wait for each other
           - an update replaces Pods from the highest ordinal down to the partition
           - with OnDelete a Pod is replaced only after it is deleted
           - an ended Pod is recreated with the same name
           - a recreated Pod gets its previous claims
           - claims are deleted with their set or their Pod only by the retention policy
           - a settled StatefulSet writes nothing
Never:     creates two Pods with the same name, or deletes a claim itself
"""

from typing import Any, Final

from steersman.controller import CacheReader, Controller, Watch, Writes, changed
from steersman.kinds import apps_v1, core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.pods import (
    SELECTOR_INDEX,
    by_selector,
    objects_selecting,
    only_deletions,
    watching_pods,
)
from steersman_cluster.workloads.revisions import WATCHED
from steersman_cluster.workloads.settings import WorkloadSettings
from steersman_cluster.workloads.statefulsets.controller import reconcile

__all__ = ["controllers"]


def _sets_of_claim(claim: core_v1.PersistentVolumeClaim, cached: CacheReader) -> list[ObjectKey]:
    return objects_selecting(apps_v1.StatefulSet, claim, cached)


_CONTROLLER: Final = Controller(
    apps_v1.StatefulSet,
    reconcile=reconcile,
    watches=(
        watching_pods(apps_v1.StatefulSet),
        WATCHED,
        Watch(core_v1.PersistentVolumeClaim, to=_sets_of_claim, when=only_deletions),
    ),
    writes=(
        Writes(core_v1.Pod, verbs=("create", "patch", "delete")),
        core_v1.PersistentVolumeClaim,
        Writes(apps_v1.ControllerRevision, verbs=("create", "patch", "delete")),
    ),
    indexes={SELECTOR_INDEX: by_selector},
    when=changed.generation,
    while_deleting=True,
    name="statefulset-controller",
    event_source="statefulset-controller",
)


def controllers(_settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the StatefulSet controller."""
    return (_CONTROLLER,)
