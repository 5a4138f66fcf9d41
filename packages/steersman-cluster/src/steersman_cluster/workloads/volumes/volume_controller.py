"""The controller of PersistentVolumes."""

from typing import Any, Final

from steersman.client import MergePatch
from steersman.controller import Context, Done, Outcome
from steersman.errors import NotFound
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.volumes.binder import put_phase, without_finalizer
from steersman_cluster.workloads.volumes.provisioner import volume_name
from steersman_cluster.workloads.volumes.volume_match import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    Claim,
    Volume,
)

PROTECTION: Final = "kubernetes.io/pv-protection"


async def reconcile(volume: Volume, ctx: Context) -> Outcome:
    """Update the phase of ``volume``; after its claim is deleted, apply the reclaim policy."""
    volume = await _sync_volume(ctx, volume)
    if volume.deletion_time is not None and _phase(volume) != "Bound":
        await without_finalizer(ctx, volume, PROTECTION)
    return Done()


def volume_of_claim(claim: Claim, _cached: object) -> list[ObjectKey]:
    """Return the key of the volume to which ``claim`` refers.

    If the claim refers to no volume, return the key of the volume that is provisioned for it.
    """
    name = claim.spec.volume_name if claim.spec is not None else None
    # A claim may be deleted before it names its provisioned volume.
    return [ObjectKey(None, name or volume_name(claim))]


def is_of_volume(old: Claim | None, new: Claim) -> bool:
    """Return whether the change of a claim from ``old`` to ``new`` affects a volume.

    Deletions of claims always enqueue the volume, regardless of this predicate.
    """
    before = old.spec.volume_name if old is not None and old.spec is not None else None
    return new.spec is not None and new.spec.volume_name != before


async def _sync_volume(ctx: Context, volume: Volume) -> Volume:
    reference = volume.spec.claim_ref if volume.spec is not None else None
    if reference is None or not reference.uid:
        return await put_phase(ctx, volume, "Available")
    claim = await _claim(ctx, volume, reference)
    if claim is None:
        return await _reclaim(ctx, volume)
    name = claim.spec.volume_name if claim.spec is not None else None
    if not name:
        return volume  # the claim controller binds it
    if name == volume.name:
        return await put_phase(ctx, volume, "Bound")
    if PROVISIONED_BY in volume.annotations and _policy(volume) == "Delete":
        return await _reclaim(ctx, volume)
    return await _unbound(ctx, volume)


async def _claim(ctx: Context, volume: Volume, reference: core_v1.ObjectReference) -> Claim | None:
    """Return the claim that the volume is bound to, or ``None`` if this claim does not exist."""
    kind, name, namespace = core_v1.PersistentVolumeClaim, reference.name or "", reference.namespace
    found = ctx.get(kind, name, namespace=namespace)
    if found is not None and found.uid == reference.uid:
        return found
    if _phase(volume) in ("Released", "Failed"):
        return None
    # Read the live claim, because reclaiming is final.
    try:
        found = await ctx.live.get(kind, name, namespace=namespace)
    except NotFound:
        return None
    return found if found.uid == reference.uid else None


async def _reclaim(ctx: Context, volume: Volume) -> Volume:
    if _phase(volume) not in ("Released", "Failed"):
        volume = await put_phase(ctx, volume, "Released")
    match _policy(volume):
        case "Delete":
            if volume.deletion_time is None:
                await ctx.delete(volume)
        case "Recycle":
            if _phase(volume) != "Failed":
                note = "No recycler plugin found for the volume!"
                volume = await put_phase(ctx, volume, "Failed", note)
                ctx.record("VolumeFailedRecycle", note, type="Warning")
        case _:
            pass  # kept for manual reclamation
    return volume


async def _unbound(ctx: Context, volume: Volume) -> Volume:
    """Unbind a volume whose claim is bound to another volume.

    The volume becomes available again. If it was reserved for the claim before, it stays reserved.
    """
    metadata: dict[str, Any] = {"resourceVersion": volume.resource_version}
    spec: dict[str, Any] = {"claimRef": {"uid": None, "resourceVersion": None}}
    if BOUND_BY_CONTROLLER in volume.annotations:
        metadata["annotations"] = {BOUND_BY_CONTROLLER: None}
        spec = {"claimRef": None}
    freed = await ctx.patch(volume, MergePatch({"metadata": metadata, "spec": spec}))
    return await put_phase(ctx, freed, "Available")


def _phase(volume: Volume) -> str:
    return (volume.status.phase if volume.status is not None else None) or "Pending"


def _policy(volume: Volume) -> str:
    policy = volume.spec.persistent_volume_reclaim_policy if volume.spec is not None else None
    return policy or "Retain"
