"""Ephemeral PersistentVolumeClaims: each is created for one Pod, and deleted with this Pod."""

from typing import Final

from steersman.controller import CacheReader, Context, Done, Later, Outcome, controller_of
from steersman.errors import AlreadyExists, Forbidden, Invalid
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.volumes.claim_users import CLAIM_INDEX

# When a request is retried that a quota or a webhook has rejected.
_REFUSED_SECONDS: Final = 15.0


def needs_claims(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    """Return whether ``new`` is a newly created Pod with an ephemeral volume.

    Volumes cannot be added to an existing Pod.
    """
    return old is None and any(
        each.ephemeral is not None
        for each in (new.spec.volumes if new.spec is not None else None) or ()
    )


def users_of(claim: core_v1.PersistentVolumeClaim, cached: CacheReader) -> list[core_v1.Pod]:
    """Return the cached Pods that use ``claim``, and may need a new one after its deletion."""
    return cached.by_index(core_v1.Pod, CLAIM_INDEX, f"{claim.namespace}/{claim.name}")


async def reconcile(pod: core_v1.Pod, ctx: Context) -> Outcome:
    """Create the ephemeral PersistentVolumeClaims of ``pod``."""
    for volume in (pod.spec.volumes if pod.spec is not None else None) or ():
        if volume.ephemeral is None:
            continue
        problem = await _create_claim(ctx, pod, volume)
        if problem is not None:
            note = f"ephemeral volume {volume.name}: {problem}"
            ctx.record("FailedBinding", note, type="Warning")
            return Later(after_seconds=_REFUSED_SECONDS)
    return Done()


async def _create_claim(ctx: Context, pod: core_v1.Pod, volume: core_v1.Volume) -> str | None:
    """Create one claim, and return an error message if this fails."""
    name = f"{pod.name}-{volume.name}"
    there = ctx.get(core_v1.PersistentVolumeClaim, name)
    if there is None:
        try:
            await ctx.create_owned(_claim(name, volume))
        except AlreadyExists:
            there = await ctx.live.get(core_v1.PersistentVolumeClaim, name)
        except (Forbidden, Invalid) as error:
            return f"create PVC {name}: {error.message}"
    controller = controller_of(there) if there is not None else None
    if there is not None and (controller is None or controller.uid != pod.uid):
        place, whose = f"{pod.namespace}/{name}", f"{pod.namespace}/{pod.name}"
        return f"PVC {place} was not created for pod {whose} (pod is not owner)"
    return None


def _claim(name: str, volume: core_v1.Volume) -> core_v1.PersistentVolumeClaim:
    template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
    inner = (template.metadata if template is not None else None) or meta_v1.ObjectMeta()
    return core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(name=name, labels=inner.labels, annotations=inner.annotations),
        spec=template.spec if template is not None else None,
    )
