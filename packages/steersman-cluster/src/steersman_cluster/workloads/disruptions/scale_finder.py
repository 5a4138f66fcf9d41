"""The number of Pods that should exist for a budget: the replicas of the Pods' controllers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from steersman.controller import Context, controller_of
from steersman.errors import NotFound
from steersman.kinds import Unstructured, apps_v1, core_v1, meta_v1
from steersman.names import GroupResource, GroupVersionKind

Pod = core_v1.Pod

# These control Pods and have no scale: no request is needed.
_WITHOUT_SCALE: Final = {("apps", "DaemonSet"): "daemonsets.apps", ("batch", "Job"): "jobs.batch"}


class NoScale(Exception):
    """The error if the number of Pods that should exist cannot be determined.

    Its message is the same as kube-controller-manager's.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The number of Pods that should exist, and the Pods without a controller.

    ``pods`` is the sum of the replicas of all controllers. ``unmanaged`` contains the names of the
    Pods that have no controller.
    """

    pods: int
    unmanaged: tuple[str, ...]


class ScaleFinder:
    """A finder for the number of Pods that the controllers of given Pods should maintain.

    It caches which kinds have a scale subresource.
    """

    def __init__(self) -> None:
        self._scaled: dict[tuple[str, str], type[Unstructured]] = {}

    async def of(self, pods: Iterable[Pod], ctx: Context) -> Scale:
        """Return the total replicas of the controllers of ``pods``.

        Raise ``NoScale`` if the controller of a Pod no longer exists, or if its kind has no scale
        subresource.
        """
        replica_counts: dict[str, int] = {}  # by the uid of the controller
        seen: dict[str, None] = {}
        unmanaged: list[str] = []
        for pod in pods:
            controller = controller_of(pod)
            if controller is None:
                unmanaged.append(pod.name)
            elif controller.uid not in seen:
                seen[controller.uid] = None
                found = await self._scale(controller, ctx)
                if found is None:
                    raise NoScale(f'found no controllers for pod "{pod.name}"')
                uid, replicas = found
                replica_counts[uid] = replicas
        return Scale(pods=sum(replica_counts.values()), unmanaged=tuple(unmanaged))

    async def _scale(
        self, controller: meta_v1.OwnerReference, ctx: Context
    ) -> tuple[str, int] | None:
        """Return the uid and the replicas of the scalable controller, or ``None`` if it no longer
        exists.
        """
        gvk = GroupVersionKind.of(controller.api_version, controller.kind)
        match gvk.group, gvk.kind:
            case "apps", "ReplicaSet":
                found = _replica_set(controller, ctx)
                return found or await _live(apps_v1.ReplicaSet, controller, ctx)
            case "apps", "StatefulSet":
                found = _replicas(ctx.get(apps_v1.StatefulSet, controller.name), controller.uid)
                return found or await _live(apps_v1.StatefulSet, controller, ctx)
            case place if place in _WITHOUT_SCALE:
                raise NoScale(f"{_WITHOUT_SCALE[place]} does not implement the scale subresource")
            case _:
                return await _live(await self._kind(controller, ctx), controller, ctx)

    async def _kind(self, controller: meta_v1.OwnerReference, ctx: Context) -> type[Unstructured]:
        place = controller.api_version, controller.kind
        known = self._scaled.get(place)
        if known is not None:
            return known
        served = await ctx.live.served(*place)
        if served is None:
            raise NoScale(
                f'no matches for kind "{controller.kind}" in version "{controller.api_version}"'
            )
        if "scale" not in served.subresources:
            where = served.resource_type
            resource = GroupResource(where.gvk.group, where.plural)
            raise NoScale(f"{resource} does not implement the scale subresource")
        found = self._scaled[place] = Unstructured.at(served.resource_type)
        return found


async def _live(
    kind: type[Any], controller: meta_v1.OwnerReference, ctx: Context
) -> tuple[str, int] | None:
    """Return the uid and the replicas of ``controller``, from its scale subresource on the server.

    This is for controllers that are not in the cache. Return ``None`` if the controller no longer
    exists.
    """
    try:
        scale = await ctx.live.scale(kind, controller.name)
    except NotFound:
        return None
    replicas = scale.spec.replicas if scale.spec is not None else None
    return (scale.uid, replicas or 0) if scale.uid == controller.uid else None


def _replica_set(controller: meta_v1.OwnerReference, ctx: Context) -> tuple[str, int] | None:
    replica_set = ctx.get(apps_v1.ReplicaSet, controller.name)
    own = _replicas(replica_set, controller.uid)
    if own is None or replica_set is None:
        return None
    above = controller_of(replica_set)
    if above is None or above.kind != "Deployment":
        return own
    # Without its Deployment, its own scale counts.
    return _replicas(ctx.get(apps_v1.Deployment, above.name), above.uid) or own


def _replicas(
    found: apps_v1.ReplicaSet | apps_v1.StatefulSet | apps_v1.Deployment | None, uid: str
) -> tuple[str, int] | None:
    if found is None or found.uid != uid or found.spec is None:
        return None
    replicas = found.spec.replicas
    return uid, 1 if replicas is None else replicas
