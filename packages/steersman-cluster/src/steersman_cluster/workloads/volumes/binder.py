"""The binding of a volume and a claim: the volume is written first, then the claim."""

from typing import Any

from steersman.client import MergePatch
from steersman.controller import Context
from steersman.kinds import core_v1, replace
from steersman_cluster.workloads.status_writer import plain, put_status
from steersman_cluster.workloads.volumes.provisioner import reference_to
from steersman_cluster.workloads.volumes.volume_match import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    PROVISIONER,
    PROVISIONER_BETA,
    Claim,
    Volume,
    is_for,
)


async def bind(ctx: Context, volume: Volume, claim: Claim) -> None:
    """Bind ``volume`` and ``claim`` to each other.

    Raise ``Conflict`` if the volume has changed since it was read, because another claim may be
    bound to it.
    """
    volume = await _bound_volume(ctx, volume, claim)
    await put_phase(ctx, volume, "Bound")
    claim = await _bound_claim(ctx, volume, claim)
    await _put_bound(ctx, claim, volume)


async def put_phase(ctx: Context, volume: Volume, phase: str, message: str = "") -> Volume:
    """Set the phase of ``volume`` to ``phase``, unless it already has this phase."""
    before = volume.status or core_v1.PersistentVolumeStatus()
    if before.phase == phase:
        return volume
    return await put_status(ctx, volume, replace(before, phase=phase, message=message or None))


async def put_claim_phase(ctx: Context, claim: Claim, phase: str) -> Claim:
    """Set the phase of ``claim``, which is not bound, to ``phase``."""
    before = claim.status or core_v1.PersistentVolumeClaimStatus()
    status = replace(before, phase=phase, access_modes=None, capacity=None)
    return await put_status(ctx, claim, status)


async def without_finalizer(ctx: Context, obj: Claim | Volume, finalizer: str) -> None:
    """Remove ``finalizer`` from ``obj``, if the object has it."""
    there = obj.metadata.finalizers or ()
    if finalizer not in there:
        return
    # With the version, because a list is replaced as a whole.
    rest = [each for each in there if each != finalizer]
    metadata = {"finalizers": rest, "resourceVersion": obj.resource_version}
    await ctx.patch(obj, MergePatch({"metadata": metadata}))


async def _bound_volume(ctx: Context, volume: Volume, claim: Claim) -> Volume:
    reference = volume.spec.claim_ref if volume.spec is not None else None
    if reference is not None and reference.uid == claim.uid:
        return volume
    metadata: dict[str, Any] = {"resourceVersion": volume.resource_version}
    if not is_for(volume, claim):
        metadata["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
    spec = {"claimRef": plain(reference_to(claim))}
    return await ctx.patch(volume, MergePatch({"metadata": metadata, "spec": spec}))


async def _bound_claim(ctx: Context, volume: Volume, claim: Claim) -> Claim:
    patch: dict[str, Any] = {}
    wanted: dict[str, str] = {}
    # From the volume itself: it may have been provisioned before a restart.
    provisioner = volume.annotations.get(PROVISIONED_BY)
    if provisioner is not None:
        wanted = {PROVISIONER_BETA: provisioner, PROVISIONER: provisioner}
    if claim.spec is None or claim.spec.volume_name != volume.name:
        patch["spec"] = {"volumeName": volume.name}
        wanted[BOUND_BY_CONTROLLER] = "yes"
    wanted[BIND_COMPLETED] = "yes"
    missing = {name: value for name, value in wanted.items() if name not in claim.annotations}
    if missing:
        patch["metadata"] = {"annotations": missing}
    return await ctx.patch(claim, MergePatch(patch)) if patch else claim


async def _put_bound(ctx: Context, claim: Claim, volume: Volume) -> None:
    before = claim.status or core_v1.PersistentVolumeClaimStatus()
    spec = volume.spec or core_v1.PersistentVolumeSpec()
    status = replace(before, phase="Bound", access_modes=spec.access_modes)
    if before.phase != "Bound":
        # Once bound, the capacity is that of the file system, which can be smaller for a while.
        status = replace(status, capacity=spec.capacity)
    await put_status(ctx, claim, status)
