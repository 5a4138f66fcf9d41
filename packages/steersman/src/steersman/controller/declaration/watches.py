"""``Owns`` and ``Watch``: the other kinds whose changes wake a controller's objects."""

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

# Whom a change of another object is about: objects of the controller's own kind, or their keys.
Mapper: TypeAlias = Callable[[Other, CacheReader], Iterable[ObjectKey | Resource | Unstructured]]


@dataclass(frozen=True, slots=True)
class Owns:
    """A kind of which the controller makes objects: they have its object as controlling owner.

    Each change to one wakes its owner, unless ``when`` says that it does not matter. ``verbs`` are
    what the controller does to them: what server-side apply takes, unless ``verbs`` says otherwise.
    A controller that calls ``ctx.delete`` or ``ctx.prune`` needs ``delete``; the garbage collector
    has rights of its own.
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
    """A kind that the controller reads, and whose changes ``to`` maps to objects of its own.

    Without ``to``, the kind is there to be read from memory and wakes nobody. The kind may be one
    that the controller owns, or its own kind, or one that another ``Watch`` has: each declaration
    has its own ``when``, and all share one informer, so that they have the same selectors.
    """

    kind: type[Other]
    to: Mapper[Other] | None = field(default=None, kw_only=True)
    when: Predicate[Other] | None = field(default=None, kw_only=True)
    labels: Labels = field(default=Labels(), kw_only=True)
    fields: Fields = field(default=Fields(), kw_only=True)
    indexes: Mapping[str, IndexFunction[Other]] = field(
        default_factory=dict, kw_only=True, hash=False
    )
