"""Claims that are made for a Pod, and go with it."""

from typing import Final

from steersman.controller import CacheReader, Context, Done, Later, Outcome, controller_of
from steersman.errors import AlreadyExists, Forbidden, Invalid
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.volumes.claim_users import CLAIM_INDEX

# As for all that a quota or a webhook refuses: nobody tells us when they have changed their mind.
_REFUSED_SECONDS: Final = 15.0


def is_to_be_served(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    """Whether it is a new Pod with such a claim: one that is there already cannot get any."""
    return old is None and any(
        each.ephemeral is not None
        for each in (new.spec.volumes if new.spec is not None else None) or ()
    )


def users_of(claim: core_v1.PersistentVolumeClaim, cached: CacheReader) -> list[core_v1.Pod]:
    """Whom the end of a claim is about: those who may have to be given another one."""
    return cached.by_index(core_v1.Pod, CLAIM_INDEX, f"{claim.namespace}/{claim.name}")


async def reconcile(pod: core_v1.Pod, ctx: Context) -> Outcome:
    """Make the claims that a Pod is to have for itself."""
    for volume in (pod.spec.volumes if pod.spec is not None else None) or ():
        if volume.ephemeral is None:
            continue
        problem = await _served(ctx, pod, volume)
        if problem is not None:
            note = f"ephemeral volume {volume.name}: {problem}"
            ctx.record("FailedBinding", note, type="Warning")
            return Later(after_seconds=_REFUSED_SECONDS)
    return Done()


async def _served(ctx: Context, pod: core_v1.Pod, volume: core_v1.Volume) -> str | None:
    """Make one claim; why not, if it cannot be."""
    name = f"{pod.name}-{volume.name}"
    there = ctx.get(core_v1.PersistentVolumeClaim, name)
    if there is None:
        try:
            await ctx.create_owned(_claim(name, volume))
        except AlreadyExists:
            there = await ctx.live.get(core_v1.PersistentVolumeClaim, name)
        except (Forbidden, Invalid) as error:
            return f"create PVC {name}: {error.message}"
    holder = controller_of(there) if there is not None else None
    if there is not None and (holder is None or holder.uid != pod.uid):
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
