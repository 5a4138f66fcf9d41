"""The next number of replicas of each ReplicaSet of a Deployment. No I/O.

All functions represent a ReplicaSet as a ``Group`` of replica counts. A rolling update never has
more than ``replicas + surge`` Pods, and never scales down below ``replicas - unavailable``
available Pods.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLimits:
    """The desired replicas of a Deployment, with its ``maxSurge`` and ``maxUnavailable``."""

    replicas: int
    surge: int = 0
    unavailable: int = 0

    @property
    def max_replicas(self) -> int:
        """Return the maximum number of Pods during a rolling update."""
        return self.replicas + self.surge

    @property
    def min_available(self) -> int:
        """Return the minimum number of available Pods during a rolling update."""
        return self.replicas - self.unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The replica counts of one ReplicaSet.

    ``size`` is the desired number of replicas in the ReplicaSet's own spec. ``desired`` and
    ``max_replicas`` are the Deployment's numbers at the time when the ReplicaSet was last scaled;
    they are read from the ReplicaSet's annotations.
    """

    name: str
    size: int
    available: int = 0
    created: datetime | None = None
    desired: int | None = None
    max_replicas: int | None = None

    @property
    def age_order(self) -> tuple[float, str]:
        """Return the key that sorts ReplicaSets by creation time, oldest first, then by name."""
        return self.created.timestamp() if self.created is not None else 0.0, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """The change of a ReplicaSet's replicas from ``before`` to ``after``.

    If both are equal, only the annotations of the ReplicaSet are updated.
    """

    name: str
    before: int
    after: int


def first_size(limits: ReplicaLimits, olds: Iterable[Group], *, is_rolling: bool) -> int:
    """Return the initial number of replicas of a new ReplicaSet.

    ``olds`` are the Deployment's old ReplicaSets.
    """
    if not is_rolling:
        return limits.replicas
    return _grown(limits, 0, _total(olds))


def rolling_step(limits: ReplicaLimits, new: Group, olds: Sequence[Group]) -> list[Resize]:
    """Return the next step of a rolling update; an empty list if it waits or is complete.

    ``new``, the new ReplicaSet, is scaled up as far as ``maxSurge`` permits. If it cannot be scaled
    up, the old ReplicaSets ``olds`` are scaled down: first by their unavailable Pods, then as far
    as ``maxUnavailable`` permits.
    """
    if new.size != limits.replicas:
        size = limits.replicas
        if new.size < limits.replicas:
            size = _grown(limits, new.size, new.size + _total(olds))
        if size != new.size:
            return [Resize(name=new.name, before=new.size, after=size)]
    active = sorted((old for old in olds if old.size > 0), key=_age_order)
    spare = _total(active) + new.size - limits.min_available - (new.size - new.available)
    if not active or spare <= 0:
        return []
    active, cleaned = _without_unhealthy(active, spare)
    return [*cleaned, *_without_spare(limits, new, active)]


def recreate_step(olds: Iterable[Group]) -> list[Resize]:
    """Return the step that scales all old ReplicaSets, ``olds``, to zero."""
    return [Resize(name=old.name, before=old.size, after=0) for old in olds if old.size > 0]


def is_scaled(limits: ReplicaLimits, groups: Iterable[Group]) -> bool:
    """Return whether the Deployment was scaled after its ReplicaSets were last scaled.

    The Deployment's replicas in ``limits`` are compared with those recorded on each ReplicaSet that
    has replicas.
    """
    return any(
        group.desired is not None and group.desired != limits.replicas
        for group in groups
        if group.size > 0
    )


def scaling_step(
    limits: ReplicaLimits,
    new: Group | None,
    olds: Sequence[Group],
    *,
    is_rolling: bool,
    pods: int,
) -> list[Resize]:
    """Return the new sizes of the ReplicaSets after the Deployment was scaled or paused.

    During a rolling update, all ReplicaSets with replicas share the change in proportion to their
    sizes. ``pods`` is the number of Pods in the Deployment's status.
    """
    only = _only_active_or_latest(new, olds)
    if only is not None:
        if only.size == limits.replicas:
            return []
        return [Resize(name=only.name, before=only.size, after=limits.replicas)]
    if new is not None and _is_saturated(limits, new):
        return [Resize(name=old.name, before=old.size, after=0) for old in olds if old.size > 0]
    if not is_rolling:
        return []
    active = _active(new, olds)
    to_add = (limits.max_replicas if limits.replicas > 0 else 0) - _total(active)
    # From large to small. Of equal size, the newer grow first and the older shrink first.
    active.sort(key=_age_order, reverse=to_add > 0)
    active.sort(key=lambda each: -each.size)
    sizes, added = [], 0
    for each in active:
        share = _share(limits, each, to_add, added, pods)
        sizes.append(each.size + share)
        added += share
    if sizes:
        sizes[0] = max(0, sizes[0] + to_add - added)
    return [
        Resize(name=each.name, before=each.size, after=size)
        for each, size in zip(active, sizes, strict=True)
    ]


def _age_order(group: Group) -> tuple[float, str]:
    return group.age_order


def _active(new: Group | None, olds: Iterable[Group]) -> list[Group]:
    """Return the ReplicaSets with replicas, the new one last."""
    groups = [*olds] if new is None else [*olds, new]
    return [group for group in groups if group.size > 0]


def _total(groups: Iterable[Group]) -> int:
    return sum(group.size for group in groups)


def _grown(limits: ReplicaLimits, size: int, total: int) -> int:
    room = limits.max_replicas - total
    return size if room <= 0 else size + min(room, limits.replicas - size)


def _without_unhealthy(active: list[Group], limit: int) -> tuple[list[Group], list[Resize]]:
    """Return the groups after removal of at most ``limit`` unavailable Pods, and the resizes
    that remove them.
    """
    left, resizes = [], []
    for group in active:
        count = min(limit, group.size - group.available)
        if count > 0:
            after = group.size - count
            resizes.append(Resize(name=group.name, before=group.size, after=after))
            group = replace(group, size=after)
            limit -= count
        left.append(group)
    return left, resizes


def _without_spare(limits: ReplicaLimits, new: Group, active: list[Group]) -> list[Resize]:
    spare = new.available + sum(group.available for group in active) - limits.min_available
    resizes = []
    for group in active:
        count = min(group.size, spare)
        if count > 0:
            resizes.append(Resize(name=group.name, before=group.size, after=group.size - count))
            spare -= count
    return resizes


def _only_active_or_latest(new: Group | None, olds: Sequence[Group]) -> Group | None:
    active = _active(new, olds)
    if len(active) == 1:
        return active[0]
    if active:
        return None
    if new is not None or not olds:
        return new
    return max(olds, key=_age_order)


def _is_saturated(limits: ReplicaLimits, new: Group) -> bool:
    return new.size == new.desired == new.available == limits.replicas


def _share(limits: ReplicaLimits, group: Group, to_add: int, added: int, pods: int) -> int:
    """Return by how many replicas to change this ReplicaSet: its share of ``to_add``, which is
    negative when the Deployment is scaled down.
    """
    if to_add in (0, added):
        return 0
    share, left = _fraction(limits, group, pods), to_add - added
    return min(share, left) if to_add > 0 else max(share, left)


def _fraction(limits: ReplicaLimits, group: Group, pods: int) -> int:
    if limits.replicas == 0:
        return -group.size
    # Its annotation may be missing or invalid: then its current size counts.
    before = group.max_replicas or pods
    if before == 0:
        return 0
    # Rounded half away from zero; the dividend is never negative.
    return (2 * group.size * limits.max_replicas + before) // (2 * before) - group.size
