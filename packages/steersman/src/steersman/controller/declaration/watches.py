"""``Owns`` and ``Watch``: the other kinds whose changes enqueue a controller's objects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from steersman.cache import IndexFunction
from steersman.client import Fields, Labels
from steersman.controller.cache_reader import CacheReader
from steersman.controller.changed import Predicate
from steersman.controller.declaration.writes import (
    APPLY,
    Kind,
    WriteVerb,
    check_is_kind,
    check_verbs,
)
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey

Other = TypeVar("Other", bound=Resource | Unstructured)

# Maps a changed object to the objects of the controller's kind to enqueue, or their keys.
Mapper: TypeAlias = Callable[[Other, CacheReader], Iterable[ObjectKey | Resource | Unstructured]]


@dataclass(frozen=True, slots=True)
class Owns:
    """A kind of which the controller creates objects that the reconciled object controls.

    Each change of such an object enqueues its controlling owner, unless the predicate ``when`` is
    false. ``verbs`` are the RBAC verbs that the controller needs, by default the verbs of
    server-side apply. A controller that calls ``ctx.delete`` or ``ctx.prune`` needs ``delete``.
    When an owner is deleted, the cluster's garbage collector deletes the owned objects with its own
    permissions, so the controller needs no verb for this.
    """

    kind: Kind
    verbs: tuple[WriteVerb, ...] = field(default=APPLY, kw_only=True)
    when: Predicate[Any] | None = field(default=None, kw_only=True)
    labels: Labels = field(default=Labels(), kw_only=True)

    def __post_init__(self) -> None:
        name = check_is_kind(self.kind, wanted="the kind of an Owns")
        check_verbs(self.verbs, wanted=f"the verbs of Owns({name})")


@dataclass(frozen=True, slots=True)
class Watch(Generic[Other]):
    """A kind whose objects the controller reads, and whose changes enqueue its own objects.

    ``to`` is a function that maps a changed object to keys of the controller's own kind. Without
    ``to``, the watched kind is only cached for reads, and its changes enqueue nothing. The watched
    kind may also be owned, be the controller's own kind, or appear in another ``Watch``. Each
    declaration has a separate ``when``. All declarations of a kind share one informer, so they must
    have the same selectors.
    """

    kind: type[Other]
    to: Mapper[Other] | None = field(default=None, kw_only=True)
    when: Predicate[Other] | None = field(default=None, kw_only=True)
    labels: Labels = field(default=Labels(), kw_only=True)
    fields: Fields = field(default=Fields(), kw_only=True)
    indexes: Mapping[str, IndexFunction[Other]] = field(
        default_factory=dict, kw_only=True, hash=False
    )
