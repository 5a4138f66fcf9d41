"""The simulated provisioner: it creates a volume for a claim. No I/O."""

from typing import Final

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.volumes.volume_match import (
    DEFAULT_CLASS,
    PROVISIONED_BY,
    Claim,
    StorageClass,
    Volume,
    wanted_size,
)

#: The default class.
STANDARD: Final = "standard"
#: The provisioner of that class.
OUR_PROVISIONER: Final = "volumes.steersman.dev"
#: An annotation of a class: ``"false"`` if an external provisioner serves it.
PROVISIONED_HERE: Final = "volumes.steersman.dev/provision"

# The path of a volume; nothing is ever stored there.
_PLACE: Final = "/var/lib/steersman/volumes"


def volume_name(claim: Claim) -> str:
    """Return the name of the volume that is provisioned for ``claim``.

    The name contains the claim's uid.
    """
    return f"pvc-{claim.uid}"


def volume_for(claim: Claim, storage_class: StorageClass) -> Volume:
    """Return a volume that is reserved for ``claim`` and has the size that it requests."""
    name = volume_name(claim)
    spec = claim.spec or core_v1.PersistentVolumeClaimSpec()
    return core_v1.PersistentVolume(
        metadata=meta_v1.ObjectMeta(
            name=name, annotations={PROVISIONED_BY: storage_class.provisioner}
        ),
        spec=core_v1.PersistentVolumeSpec(
            access_modes=spec.access_modes,
            capacity={"storage": wanted_size(claim)},
            claim_ref=reference_to(claim),
            host_path=core_v1.HostPathVolumeSource(
                path=f"{_PLACE}/{name}", type="DirectoryOrCreate"
            ),
            mount_options=storage_class.mount_options,
            persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
            storage_class_name=storage_class.name,
            volume_attributes_class_name=spec.volume_attributes_class_name,
            volume_mode=spec.volume_mode,
        ),
    )


def reference_to(claim: Claim) -> core_v1.ObjectReference:
    """Return the reference to ``claim`` that its volume contains."""
    # Without the resource version that real provisioners add: it is not used, and differs between
    # simulations that are equal otherwise.
    return core_v1.ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
    )


def unsupported_reason(storage_class: StorageClass) -> str | None:
    """Return why no volume can be provisioned for ``storage_class``, or ``None`` if it can.

    The text is the same as kube-controller-manager's.
    """
    if storage_class.provisioner == "kubernetes.io/no-provisioner":
        return f"no volume plugin matched name: {storage_class.provisioner}"
    return None


def is_external(storage_class: StorageClass) -> bool:
    """Return whether an external provisioner provisions the volumes of ``storage_class``."""
    return storage_class.annotations.get(PROVISIONED_HERE) == "false"


def standard_class() -> StorageClass:
    """Return the storage class ``standard``, which is marked as the default class."""
    return StorageClass(
        metadata=meta_v1.ObjectMeta(name=STANDARD, annotations={DEFAULT_CLASS: "true"}),
        provisioner=OUR_PROVISIONER,
        reclaim_policy="Delete",
        volume_binding_mode="Immediate",
        allow_volume_expansion=True,
    )
