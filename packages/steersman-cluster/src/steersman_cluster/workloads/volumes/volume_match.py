"""The check whether a volume fits a claim: by class, size, modes and labels. No I/O."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, TypeAlias

from steersman.kinds import core_v1, storage_v1
from steersman.units import Quantity
from steersman_cluster.workloads.pods import selects

Claim: TypeAlias = core_v1.PersistentVolumeClaim
Volume: TypeAlias = core_v1.PersistentVolume
StorageClass: TypeAlias = storage_v1.StorageClass

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
PROVISIONER_BETA: Final = "volume.beta.kubernetes.io/storage-provisioner"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"

_CLASS_BETA: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS_BETA: Final = "storageclass.beta.kubernetes.io/is-default-class"
_NOTHING: Final = Quantity("0")


def class_of(obj: Claim | Volume) -> str | None:
    """Return the storage class of ``obj``, a claim or a volume.

    The result is ``""`` for no class, and ``None`` if the field is not set.
    """
    said = obj.annotations.get(_CLASS_BETA)
    if said is not None:
        return said
    return obj.spec.storage_class_name if obj.spec is not None else None


def is_default(storage_class: StorageClass) -> bool:
    """Return whether ``storage_class`` is marked as a default class."""
    annotations = storage_class.annotations
    return "true" in (annotations.get(DEFAULT_CLASS), annotations.get(_DEFAULT_CLASS_BETA))


def default_among(classes: Iterable[StorageClass]) -> StorageClass | None:
    """Return the newest default class in ``classes``, or ``None`` if there is no default class.

    Of several with the same creation time, return the first by name.
    """
    found = sorted((each for each in classes if is_default(each)), key=lambda each: each.name)
    return max(found, key=_made_at, default=None)


def is_for(volume: Volume, claim: Claim) -> bool:
    """Return whether ``volume`` is bound to ``claim``, or reserved for a claim with its name."""
    reference = volume.spec.claim_ref if volume.spec is not None else None
    return (
        reference is not None
        and reference.name == claim.name
        and reference.namespace == claim.namespace
        and reference.uid in (None, "", claim.uid)
    )


def mismatch(volume: Volume, claim: Claim) -> str | None:
    """Return why ``volume``, to which ``claim`` refers, does not fit, or ``None`` if it fits."""
    if volume.deletion_time is not None:
        return f'the volume is marked for deletion "{volume.name}"'
    if size_of(volume) < wanted_size(claim):
        return "requested PV is too small"
    if (class_of(volume) or "") != (class_of(claim) or ""):
        return "storageClassName does not match"
    if _attributes_class(volume) != _attributes_class(claim):
        return "volumeAttributesClassName does not match"
    if _mode(volume) != _mode(claim):
        return "incompatible volumeMode"
    if not _has_access_modes(volume, claim):
        return "incompatible accessMode"
    return None


def best_match(volumes: Iterable[Volume], claim: Claim) -> Volume | None:
    """Return the volume that is reserved for ``claim``, or else the best volume that fits.

    The best volume has the fewest access modes. Of several, the smallest is the best, then the
    first by name. Return ``None`` if no volume fits.
    """
    fitting: list[Volume] = []
    for volume in volumes:
        if not _may_fit(volume, claim):
            continue
        if is_for(volume, claim):
            return volume
        if _is_free(volume, claim):
            fitting.append(volume)
    return min(fitting, key=_worth, default=None)


def wanted_size(claim: Claim) -> Quantity:
    """Return the storage size that ``claim`` requests."""
    resources = claim.spec.resources if claim.spec is not None else None
    return ((resources.requests if resources is not None else None) or {}).get("storage", _NOTHING)


def size_of(volume: Volume) -> Quantity:
    """Return the storage capacity of ``volume``."""
    return ((volume.spec.capacity if volume.spec is not None else None) or {}).get(
        "storage", _NOTHING
    )


def _may_fit(volume: Volume, claim: Claim) -> bool:
    return (
        volume.deletion_time is None
        and size_of(volume) >= wanted_size(claim)
        and _mode(volume) == _mode(claim)
        and _attributes_class(volume) == _attributes_class(claim)
        and _has_access_modes(volume, claim)
    )


def _is_free(volume: Volume, claim: Claim) -> bool:
    if volume.spec is None or volume.spec.claim_ref is not None:
        return False
    if volume.status is None or volume.status.phase != "Available":
        return False
    if (class_of(volume) or "") != (class_of(claim) or ""):
        return False
    selector = claim.spec.selector if claim.spec is not None else None
    return selector is None or selects(selector, volume.labels)


def _worth(volume: Volume) -> tuple[int, Decimal, str]:
    modes = (volume.spec.access_modes if volume.spec is not None else None) or ()
    return len(modes), size_of(volume).value, volume.name


def _mode(obj: Claim | Volume) -> str:
    return (obj.spec.volume_mode if obj.spec is not None else None) or "Filesystem"


def _attributes_class(obj: Claim | Volume) -> str:
    return (obj.spec.volume_attributes_class_name if obj.spec is not None else None) or ""


def _has_access_modes(volume: Volume, claim: Claim) -> bool:
    has = (volume.spec.access_modes if volume.spec is not None else None) or ()
    wants = (claim.spec.access_modes if claim.spec is not None else None) or ()
    return all(each in has for each in wants)


def _made_at(storage_class: StorageClass) -> float:
    made = storage_class.metadata.creation_timestamp
    return made.timestamp() if made is not None else 0.0
