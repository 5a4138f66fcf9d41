"""How many Pods each ReplicaSet of a Deployment gets next. Pure.

All of it is arithmetic over ``Group``, which is what matters of a ReplicaSet. In a rolling update
there are never more Pods wanted than ``replicas + surge``, and nothing that is available is given
up below ``replicas - unavailable``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a Deployment wants: so many Pods, and by how much that may be missed meanwhile."""

    replicas: int
    surge: int = 0
    unavailable: int = 0

    @property
    def most(self) -> int:
        """No more Pods than these at any time."""
        return self.replicas + self.surge

    @property
    def least(self) -> int:
        """No fewer available Pods than these, if it is up to the Deployment."""
        return self.replicas - self.unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A ReplicaSet, as far as its size goes.

    ``desired`` and ``most`` are what its annotations say of the Deployment when it was last sized.
    """

    name: str
    size: int
    available: int = 0
    created: datetime | None = None
    desired: int | None = None
    most: int | None = None

    @property
    def age_order(self) -> tuple[float, str]:
        """Sorts the oldest first, and by name those of one moment."""
        return self.created.timestamp() if self.created is not None else 0.0, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """A ReplicaSet is to have another size, or only to be told what the Deployment wants now."""

    name: str
    before: int
    after: int


def first_size(terms: Terms, olds: Iterable[Group], *, is_rolling: bool) -> int:
    """How large a new ReplicaSet is made."""
    if not is_rolling:
        return terms.replicas
    return _grown(terms, 0, _total(olds))


def rolling_step(terms: Terms, new: Group, olds: Sequence[Group]) -> list[Resize]:
    """What a rolling update does next; nothing if it has to wait, or is done.

    The new one grows as far as it may. If it cannot, the old ones give up first what is not
    available anyway, and then what can be spared.
    """
    if new.size != terms.replicas:
        size = terms.replicas
        if new.size < terms.replicas:
            size = _grown(terms, new.size, new.size + _total(olds))
        if size != new.size:
            return [Resize(name=new.name, before=new.size, after=size)]
    active = sorted((old for old in olds if old.size > 0), key=_age_order)
    spare = _total(active) + new.size - terms.least - (new.size - new.available)
    if not active or spare <= 0:
        return []
    active, cleaned = _without_unhealthy(active, spare)
    return [*cleaned, *_without_spare(terms, new, active)]


def recreate_step(olds: Iterable[Group]) -> list[Resize]:
    """All that is old goes at once."""
    return [Resize(name=old.name, before=old.size, after=0) for old in olds if old.size > 0]


def is_scaled(terms: Terms, groups: Iterable[Group]) -> bool:
    """Whether the Deployment was given another size since its ReplicaSets were last sized."""
    return any(
        group.desired is not None and group.desired != terms.replicas
        for group in groups
        if group.size > 0
    )


def scaling_step(
    terms: Terms,
    new: Group | None,
    olds: Sequence[Group],
    *,
    is_rolling: bool,
    pods: int,
) -> list[Resize]:
    """What becomes of the sizes when the Deployment gets another one, or is paused.

    With several ReplicaSets in the middle of a rolling update each gets its share, so that the
    update is no further than before. ``pods`` is how many the Deployment has according to its
    status.
    """
    only = _only_active_or_latest(new, olds)
    if only is not None:
        if only.size == terms.replicas:
            return []
        return [Resize(name=only.name, before=only.size, after=terms.replicas)]
    if new is not None and _is_saturated(terms, new):
        return [Resize(name=old.name, before=old.size, after=0) for old in olds if old.size > 0]
    if not is_rolling:
        return []
    active = _active(new, olds)
    to_add = (terms.most if terms.replicas > 0 else 0) - _total(active)
    # From large to small. Of one size, the newer grow first and the older shrink first.
    active.sort(key=_age_order, reverse=to_add > 0)
    active.sort(key=lambda each: -each.size)
    sizes, added = [], 0
    for each in active:
        share = _share(terms, each, to_add, added, pods)
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
    """Those that have Pods, or should; the new one last."""
    groups = [*olds] if new is None else [*olds, new]
    return [group for group in groups if group.size > 0]


def _total(groups: Iterable[Group]) -> int:
    return sum(group.size for group in groups)


def _grown(terms: Terms, size: int, total: int) -> int:
    room = terms.most - total
    return size if room <= 0 else size + min(room, terms.replicas - size)


def _without_unhealthy(active: list[Group], most: int) -> tuple[list[Group], list[Resize]]:
    """The groups without what is not available, up to so many; what that takes."""
    left, resizes = [], []
    for group in active:
        count = min(most, group.size - group.available)
        if count > 0:
            after = group.size - count
            resizes.append(Resize(name=group.name, before=group.size, after=after))
            group = replace(group, size=after)
            most -= count
        left.append(group)
    return left, resizes


def _without_spare(terms: Terms, new: Group, active: list[Group]) -> list[Resize]:
    spare = new.available + sum(group.available for group in active) - terms.least
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


def _is_saturated(terms: Terms, new: Group) -> bool:
    return new.size == new.desired == new.available == terms.replicas


def _share(terms: Terms, group: Group, to_add: int, added: int, pods: int) -> int:
    """How many of those to be added, or taken away if negative, are this one's."""
    if to_add in (0, added):
        return 0
    share, left = _fraction(terms, group, pods), to_add - added
    return min(share, left) if to_add > 0 else max(share, left)


def _fraction(terms: Terms, group: Group, pods: int) -> int:
    if terms.replicas == 0:
        return -group.size
    # Its annotation may be gone, or spoilt: then by the Pods there are.
    before = group.most or pods
    if before == 0:
        return 0
    # To the nearest, half away from zero; what is divided here is never negative.
    return (2 * group.size * terms.most + before) // (2 * before) - group.size
