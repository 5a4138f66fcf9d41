"""The controller of PersistentVolumeClaims."""

from typing import Final

from steersman.client import MergePatch
from steersman.controller import CacheReader, Context, Done, Later, Outcome
from steersman.errors import AlreadyExists, NotFound
from steersman.kinds import core_v1, replace, storage_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.status_writer import plain, put_status
from steersman_cluster.workloads.volumes.binder import (
    bind,
    put_claim_phase,
    without_finalizer,
)
from steersman_cluster.workloads.volumes.claim_users import has_consumer, is_in_use
from steersman_cluster.workloads.volumes.provisioner import (
    is_external,
    unsupported_reason,
    volume_for,
    volume_name,
)
from steersman_cluster.workloads.volumes.volume_match import (
    BIND_COMPLETED,
    PROVISIONER,
    PROVISIONER_BETA,
    SELECTED_NODE,
    Claim,
    StorageClass,
    Volume,
    best_match,
    class_of,
    default_among,
    is_default,
    is_for,
    mismatch,
    size_of,
    wanted_size,
)

PROTECTION: Final = "kubernetes.io/pvc-protection"

#: The index of unbound claims, by class.
UNBOUND_INDEX: Final = "waiting"
#: The index of volumes: free ones by class, the others by claim.
CLAIM_OR_CLASS_INDEX: Final = "place"

_NO_CLASS: Final = "no class named"


async def reconcile(claim: Claim, ctx: Context) -> Outcome:
    """Bind ``claim`` to an existing or a provisioned volume.

    If the claim is being deleted and is not in use, remove its finalizer instead.
    """
    if claim.deletion_time is not None:
        if not is_in_use(ctx, claim):
            await without_finalizer(ctx, claim, PROTECTION)
        return Later()
    if BIND_COMPLETED in claim.annotations:
        return await _sync_bound(ctx, claim)
    if claim.spec is not None and claim.spec.volume_name:
        return await _take_named(ctx, claim, claim.spec.volume_name)
    return await _find(ctx, claim)


def needs_reconcile(old: Claim | None, new: Claim) -> bool:
    """Return whether a claim must be reconciled after the change from ``old`` to ``new``.

    Writes of this controller itself need no reconcile.
    """
    if old is None or new.deletion_time is not None or BIND_COMPLETED not in new.annotations:
        return True
    return new.status is None or new.status.phase != "Bound" or old.spec != new.spec


def by_class_if_unbound(claim: Claim) -> tuple[str, ...]:
    """Return the index key of ``claim``: its storage class. A bound claim has no key."""
    if BIND_COMPLETED in claim.annotations:
        return ()
    name = class_of(claim)
    return (_NO_CLASS if name is None else f"class {name}",)


def by_claim_or_class(volume: Volume) -> tuple[str, ...]:
    """Return the index key of ``volume``: its claim, or else its storage class.

    The claim is the one for which the volume is reserved.
    """
    reference = volume.spec.claim_ref if volume.spec is not None else None
    if reference is not None:
        return (f"claim {reference.namespace}/{reference.name}",)
    return (f"class {class_of(volume) or ''}",)


def claims_for_volume(volume: Volume, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the claims that a change of ``volume`` affects.

    This is the claim for which the volume is reserved. If there is no such claim, and the volume is
    available, these are all unbound claims with the volume's storage class or without a class.
    """
    reference = volume.spec.claim_ref if volume.spec is not None else None
    if reference is not None:
        return [ObjectKey(reference.namespace, reference.name or "")]
    if volume.status is None or volume.status.phase != "Available":
        return []
    return _waiting(cached, f"class {class_of(volume) or ''}", _NO_CLASS)


def claims_for_class(storage_class: StorageClass, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the claims that a change of ``storage_class`` affects.

    These are the unbound claims with this class. If it is a default class, they include the unbound
    claims without a class.
    """
    among = (_NO_CLASS,) if is_default(storage_class) else ()
    return _waiting(cached, f"class {storage_class.name}", *among)


def _waiting(cached: CacheReader, *values: str) -> list[ObjectKey]:
    kind = core_v1.PersistentVolumeClaim
    found = [each for value in values for each in cached.by_index(kind, UNBOUND_INDEX, value)]
    return [ObjectKey(each.namespace, each.name) for each in found]


# Without a volume


async def _take_named(ctx: Context, claim: Claim, name: str) -> Outcome:
    volume = ctx.get(core_v1.PersistentVolume, name)
    if volume is None:
        return Later()
    if volume.spec is None or volume.spec.claim_ref is None:
        problem = mismatch(volume, claim)
        if problem is None:
            await bind(ctx, volume, claim)
            return Done()
        note = f'Cannot bind to requested volume "{name}": {problem}'
        ctx.record("VolumeMismatch", note, type="Warning")
        return Later()
    if is_for(volume, claim):
        await bind(ctx, volume, claim)
        return Done()
    note = f'volume "{name}" already bound to a different claim.'
    ctx.record("FailedBinding", note, type="Warning")
    return Later()


async def _find(ctx: Context, claim: Claim) -> Outcome:
    name = class_of(claim)
    storage_class = ctx.get(storage_v1.StorageClass, name) if name else None
    may_bind = (
        storage_class is None
        or storage_class.volume_binding_mode != "WaitForFirstConsumer"
        or SELECTED_NODE in claim.annotations
        or has_consumer(ctx, claim)
    )
    volume = best_match(_candidates(ctx, claim, may_bind=may_bind), claim)
    if volume is not None:
        await bind(ctx, volume, claim)
        return Done()
    if name is None:
        default = default_among(ctx.list(storage_v1.StorageClass, all_namespaces=True))
        if default is not None:
            patch = MergePatch({"spec": {"storageClassName": default.name}})
            return await _find(ctx, await ctx.patch(claim, patch))
    if not may_bind:
        note = "waiting for first consumer to be created before binding"
        ctx.record("WaitForFirstConsumer", note)
    elif name:
        return await _provision(ctx, claim, name, storage_class)
    else:
        note = "no persistent volumes available for this claim and no storage class is set"
        ctx.record("FailedBinding", note)
    return Later()


def _candidates(ctx: Context, claim: Claim, *, may_bind: bool) -> list[Volume]:
    kind = core_v1.PersistentVolume
    found = ctx.by_index(kind, CLAIM_OR_CLASS_INDEX, f"claim {claim.namespace}/{claim.name}")
    if may_bind:
        found += ctx.by_index(kind, CLAIM_OR_CLASS_INDEX, f"class {class_of(claim) or ''}")
    return found


async def _provision(
    ctx: Context, claim: Claim, name: str, storage_class: StorageClass | None
) -> Outcome:
    if storage_class is None:
        note = f'storageclass.storage.k8s.io "{name}" not found'
        ctx.record("ProvisioningFailed", note, type="Warning")
        return Later()
    problem = unsupported_reason(storage_class)
    if problem is not None:
        ctx.record("ProvisioningFailed", problem, type="Warning")
        return Later()
    provisioner = storage_class.provisioner
    if is_external(storage_class):
        if PROVISIONER not in claim.annotations:
            annotations = {PROVISIONER_BETA: provisioner, PROVISIONER: provisioner}
            await ctx.patch(claim, MergePatch({"metadata": {"annotations": annotations}}))
        note = (
            f"Waiting for a volume to be created either by the external provisioner"
            f" '{provisioner}' or manually by the system administrator. If volume creation is"
            f" delayed, please verify that the provisioner is running and correctly registered."
        )
        ctx.record("ExternalProvisioning", note)
        return Later()
    volume = await _create_volume(ctx, claim, storage_class)
    await bind(ctx, volume, claim)
    note = f"Successfully provisioned volume {volume.name} using {provisioner}"
    ctx.record("ProvisioningSucceeded", note)
    return Done()


async def _create_volume(ctx: Context, claim: Claim, storage_class: StorageClass) -> Volume:
    try:
        return await ctx.create(volume_for(claim, storage_class))
    except AlreadyExists:
        # Created by a request whose response was lost: the name contains the claim's uid.
        return await ctx.live.get(core_v1.PersistentVolume, volume_name(claim))


# With a volume


async def _sync_bound(ctx: Context, claim: Claim) -> Outcome:
    name = claim.spec.volume_name if claim.spec is not None else None
    if not name:
        reason = "ClaimLost"
        note = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
        return await _set_lost(ctx, claim, reason, note)
    volume = await _volume(ctx, name)
    if volume is None:
        note = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
        return await _set_lost(ctx, claim, "ClaimLost", note)
    reference = volume.spec.claim_ref if volume.spec is not None else None
    if reference is not None and reference.uid != claim.uid:
        note = "Two claims are bound to the same volume, this one is bound incorrectly"
        return await _set_lost(ctx, claim, "ClaimMisbound", note)
    await bind(ctx, volume, claim)
    await _resize(ctx, claim, volume)
    return Done()


async def _volume(ctx: Context, name: str) -> Volume | None:
    found = ctx.get(core_v1.PersistentVolume, name)
    if found is not None:
        return found
    # Read the live volume, because ``Lost`` is final.
    try:
        return await ctx.live.get(core_v1.PersistentVolume, name)
    except NotFound:
        return None


async def _set_lost(ctx: Context, claim: Claim, reason: str, note: str) -> Outcome:
    if claim.status is None or claim.status.phase != "Lost":
        await put_claim_phase(ctx, claim, "Lost")
        ctx.record(reason, note, type="Warning")
    return Done()


async def _resize(ctx: Context, claim: Claim, volume: Volume) -> None:
    """Resize a bound claim and its volume, if the claim requests more storage than it has.

    The API server has checked that the StorageClass permits this.
    """
    has = (claim.status.capacity if claim.status is not None else None) or {}
    wants = wanted_size(claim)
    if "storage" not in has or has["storage"] >= wants or claim.status is None:
        return
    if size_of(volume) < wants:
        spec = {"capacity": {"storage": plain(wants)}}
        await ctx.patch(volume, MergePatch({"spec": spec}))
    await put_status(ctx, claim, replace(claim.status, capacity={**has, "storage": wants}))
