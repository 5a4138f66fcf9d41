"""A volume made for a claim, as a provisioner would. Pure."""

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

#: The class that claims get which name none.
STANDARD: Final = "standard"
#: Who makes its volumes.
OUR_PROVISIONER: Final = "volumes.steersman.dev"
#: On a class whose volumes somebody else makes: ``"false"``.
PLAYED: Final = "volumes.steersman.dev/provision"

# Where a volume would be; nothing is ever kept there.
_PLACE: Final = "/var/lib/steersman/volumes"


def volume_name(claim: Claim) -> str:
    """What the volume is called that is made for a claim: there can only be one."""
    return f"pvc-{claim.uid}"


def volume_for(claim: Claim, storage_class: StorageClass) -> Volume:
    """A volume as large as the claim asks for, and set aside for it."""
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
    """How a volume names the claim that it is bound to."""
    # Without the version that real provisioners add: nobody reads it, and it would make two worlds
    # differ that are alike.
    return core_v1.ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
    )


def not_played(storage_class: StorageClass) -> str | None:
    """Why nobody makes volumes of a class, as the real controller would say; ``None`` if we do."""
    if storage_class.provisioner == "kubernetes.io/no-provisioner":
        return f"no volume plugin matched name: {storage_class.provisioner}"
    return None


def is_left_to_others(storage_class: StorageClass) -> bool:
    """Whether somebody else makes the volumes of a class."""
    return storage_class.annotations.get(PLAYED) == "false"


def standard_class() -> StorageClass:
    """The class that a development cluster has."""
    return StorageClass(
        metadata=meta_v1.ObjectMeta(name=STANDARD, annotations={DEFAULT_CLASS: "true"}),
        provisioner=OUR_PROVISIONER,
        reclaim_policy="Delete",
        volume_binding_mode="Immediate",
        allow_volume_expansion=True,
    )
