"""How many Pods there should be, by those who control the ones that are there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from steersman.controller import Context, controller_of
from steersman.errors import NotFound
from steersman.kinds import Unstructured, apps_v1, core_v1, meta_v1
from steersman.names import GroupResource, GroupVersionKind

Pod = core_v1.Pod

# These control Pods, and nobody can say of them how many there should be: no need to ask.
_WITHOUT_SCALE: Final = {("apps", "DaemonSet"): "daemonsets.apps", ("batch", "Job"): "jobs.batch"}


class NoScale(Exception):
    """It cannot be found out how many Pods there should be; the message says why, in Go's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many Pods the controllers want together, and which of the Pods have none."""

    pods: int
    unmanaged: tuple[str, ...]


class Scales:
    """Finds out how many Pods there should be, and remembers which kinds can be asked."""

    def __init__(self) -> None:
        self._scaled: dict[tuple[str, str], type[Unstructured]] = {}

    async def of(self, pods: Iterable[Pod], ctx: Context) -> Scale:
        """How many there should be where there are these Pods.

        Raises ``NoScale`` where one has a controller that does not say.
        """
        scales: dict[str, int] = {}  # by the uid of who says so
        seen: dict[str, None] = {}
        unmanaged: list[str] = []
        for pod in pods:
            holder = controller_of(pod)
            if holder is None:
                unmanaged.append(pod.name)
            elif holder.uid not in seen:
                seen[holder.uid] = None
                found = await self._scale(holder, ctx)
                if found is None:
                    raise NoScale(f'found no controllers for pod "{pod.name}"')
                uid, replicas = found
                scales[uid] = replicas
        return Scale(pods=sum(scales.values()), unmanaged=tuple(unmanaged))

    async def _scale(self, holder: meta_v1.OwnerReference, ctx: Context) -> tuple[str, int] | None:
        """Who says how many Pods there should be, and how many; ``None`` if nobody is there."""
        gvk = GroupVersionKind.of(holder.api_version, holder.kind)
        match gvk.group, gvk.kind:
            case "apps", "ReplicaSet":
                found = _replica_set(holder, ctx)
                return found or await _asked(apps_v1.ReplicaSet, holder, ctx)
            case "apps", "StatefulSet":
                found = _replicas(ctx.get(apps_v1.StatefulSet, holder.name), holder.uid)
                return found or await _asked(apps_v1.StatefulSet, holder, ctx)
            case place if place in _WITHOUT_SCALE:
                raise NoScale(f"{_WITHOUT_SCALE[place]} does not implement the scale subresource")
            case _:
                return await _asked(await self._kind(holder, ctx), holder, ctx)

    async def _kind(self, holder: meta_v1.OwnerReference, ctx: Context) -> type[Unstructured]:
        place = holder.api_version, holder.kind
        known = self._scaled.get(place)
        if known is not None:
            return known
        served = await ctx.live.served(*place)
        if served is None:
            raise NoScale(f'no matches for kind "{holder.kind}" in version "{holder.api_version}"')
        if "scale" not in served.subresources:
            where = served.resource_type
            resource = GroupResource(where.gvk.group, where.plural)
            raise NoScale(f"{resource} does not implement the scale subresource")
        found = self._scaled[place] = Unstructured.at(served.resource_type)
        return found


async def _asked(
    kind: type[Any], holder: meta_v1.OwnerReference, ctx: Context
) -> tuple[str, int] | None:
    """What the server says of an object of any kind, or of one that is not in memory yet."""
    try:
        scale = await ctx.live.scale(kind, holder.name)
    except NotFound:
        return None
    replicas = scale.spec.replicas if scale.spec is not None else None
    return (scale.uid, replicas or 0) if scale.uid == holder.uid else None


def _replica_set(holder: meta_v1.OwnerReference, ctx: Context) -> tuple[str, int] | None:
    replica_set = ctx.get(apps_v1.ReplicaSet, holder.name)
    own = _replicas(replica_set, holder.uid)
    if own is None or replica_set is None:
        return None
    above = controller_of(replica_set)
    if above is None or above.kind != "Deployment":
        return own
    # Without its Deployment it has to speak for itself.
    return _replicas(ctx.get(apps_v1.Deployment, above.name), above.uid) or own


def _replicas(
    found: apps_v1.ReplicaSet | apps_v1.StatefulSet | apps_v1.Deployment | None, uid: str
) -> tuple[str, int] | None:
    if found is None or found.uid != uid or found.spec is None:
        return None
    replicas = found.spec.replicas
    return uid, 1 if replicas is None else replicas
