"""The persistent volume controllers, with a provisioner that stores nothing.

Takes:     PersistentVolumeClaims, PersistentVolumes and StorageClasses, and the Pods that use them
Gives:     Bound claims, provisioned volumes, and a default class ``standard``
Promises:  - a claim is bound to the smallest volume that fits
           - a claim whose class has a provisioner gets a volume of its own
           - a claim that waits for its first consumer is bound after the consumer exists
           - a claim without a class gets the default class
           - an ephemeral claim is created and deleted with its Pod
           - a claim in use is not deleted before its last Pod
           - a released volume is deleted or kept by its reclaim policy
           - a class of another provisioner is left alone
Never:     binds one volume to two claims, or scans all volumes for one claim
"""

from typing import Any, Final

from steersman.controller import Controller, Watch, Writes
from steersman.kinds import core_v1, storage_v1
from steersman.manager import Runnable
from steersman_cluster.workloads.pods import only_deletions
from steersman_cluster.workloads.settings import WorkloadSettings
from steersman_cluster.workloads.volumes import claim_controller, ephemeral, volume_controller
from steersman_cluster.workloads.volumes.claim_users import (
    CLAIM_INDEX,
    by_claim,
    keys_of_claims,
    matters_to_claims,
)
from steersman_cluster.workloads.volumes.default_class import create_standard_class

__all__ = ["controllers", "runnables"]

_CLAIMS: Final = Controller(
    core_v1.PersistentVolumeClaim,
    reconcile=claim_controller.reconcile,
    watches=(
        Watch(
            core_v1.PersistentVolume,
            to=claim_controller.claims_for_volume,
            indexes={claim_controller.CLAIM_OR_CLASS_INDEX: claim_controller.by_claim_or_class},
        ),
        Watch(storage_v1.StorageClass, to=claim_controller.claims_for_class),
        Watch(
            core_v1.Pod,
            to=keys_of_claims,
            when=matters_to_claims,
            indexes={CLAIM_INDEX: by_claim},
        ),
    ),
    writes=(
        core_v1.PersistentVolume,
        Writes(core_v1.PersistentVolume, subresource="status"),
        Writes(core_v1.PersistentVolumeClaim, verbs=("patch",)),
    ),
    indexes={claim_controller.UNBOUND_INDEX: claim_controller.by_class_if_unbound},
    when=claim_controller.needs_reconcile,
    while_deleting=True,
    name="persistentvolume-controller",
    event_source="persistentvolume-controller",
)

_VOLUMES: Final = Controller(
    core_v1.PersistentVolume,
    reconcile=volume_controller.reconcile,
    watches=(
        Watch(
            core_v1.PersistentVolumeClaim,
            to=volume_controller.volume_of_claim,
            when=volume_controller.is_of_volume,
        ),
    ),
    writes=(Writes(core_v1.PersistentVolume, verbs=("patch", "delete")),),
    while_deleting=True,
    name="persistentvolume-binder-controller",
    event_source="persistentvolume-controller",
)

_FOR_PODS: Final = Controller(
    core_v1.Pod,
    reconcile=ephemeral.reconcile,
    watches=(Watch(core_v1.PersistentVolumeClaim, to=ephemeral.users_of, when=only_deletions),),
    writes=(Writes(core_v1.PersistentVolumeClaim, verbs=("create",)),),
    indexes={CLAIM_INDEX: by_claim},
    when=ephemeral.needs_claims,
    name="ephemeral-volume-controller",
    event_source="ephemeral_volume",
)


def controllers(_settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the controllers of claims and volumes, and of ephemeral claims."""
    return (_CLAIMS, _VOLUMES, _FOR_PODS)


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """Return the runnable that creates the default class, if the settings enable it."""
    if not settings.storage_class:
        return ()
    return (Runnable(create_standard_class, name="standard storage class"),)
