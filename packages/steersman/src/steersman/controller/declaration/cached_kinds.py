"""The kinds that a controller caches, without duplicates. No I/O.

    own kind ─┐
    owns ─────┼──▶ one ``CachedKind`` for each kind ──▶ one informer
    watches ──┘

A kind can be owned and also watched, and watched for several reasons. All declarations of a kind
share one informer, so they must agree on the class and on the selectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from steersman.cache import IndexFunction, by_controller
from steersman.client import Fields, Labels
from steersman.controller.cache_reader import CONTROLLER_INDEX, same_kind
from steersman.controller.declaration.declaration import Declaration
from steersman.controller.declaration.watches import Owns, Watch
from steersman.errors import BadController

Indexes: TypeAlias = Mapping[str, IndexFunction[Any]]


class CachedKind(NamedTuple):
    """A kind that a controller caches: the selectors and the indexes of its informer.

    The indexes are those that the operator author declares. An owned kind also has an index by
    controlling owner.
    """

    kind: type[Any]
    labels: Labels
    fields: Fields
    indexes: Indexes
    is_owned: bool

    @property
    def own_indexes(self) -> Indexes:
        """The indexes that steersman adds to the operator author's indexes."""
        return {CONTROLLER_INDEX: by_controller} if self.is_owned else {}


def cached_kinds(controller: Declaration) -> tuple[CachedKind, ...]:
    """Return each kind that the controller caches.

    Raise ``BadController`` if two declarations of one kind contradict each other.
    """
    found: dict[tuple[str, str], CachedKind] = {}
    for each in _declared(controller):
        identity = _identity(each.kind)
        before = found.get(identity)
        found[identity] = each if before is None else _merged(before, each, controller.name)
    return tuple(found.values())


def check_repeated(
    controller: str, kind: type[Any], owned: Sequence[Owns], watches: Sequence[Watch[Any]]
) -> None:
    """Raise ``BadController`` if a controller declares a kind twice without need.

    A repeated kind is valid in a ``Watch`` with ``to`` or with indexes.
    """
    declared = {_identity(kind)}
    for owns in owned:
        if _identity(owns.kind) in declared:
            raise BadController(
                controller=controller,
                problem=f"it declares {owns.kind.resource_type} twice",
                what_now="Name each kind once in owns, and not the controller's own kind.",
            )
        declared.add(_identity(owns.kind))
    for watch in watches:
        if _identity(watch.kind) in declared and watch.to is None and not watch.indexes:
            raise BadController(
                controller=controller,
                problem=f"it declares {watch.kind.resource_type} twice, and its Watch has no `to`",
                what_now="Add a mapping, Watch(kind, to=…), or leave the Watch out: a declared"
                " kind can be read without it.",
            )
        declared.add(_identity(watch.kind))


def _declared(controller: Declaration) -> Iterator[CachedKind]:
    yield CachedKind(controller.kind, controller.labels, Fields(), controller.indexes, False)
    for owns in controller.owned:
        yield CachedKind(owns.kind, owns.labels, Fields(), {}, True)
    for watch in controller.watches:
        yield CachedKind(watch.kind, watch.labels, watch.fields, watch.indexes, False)


def _merged(one: CachedKind, other: CachedKind, controller: str) -> CachedKind:
    resource_type = other.kind.resource_type
    if same_kind(one.kind) != same_kind(other.kind):
        raise BadController(
            controller=controller,
            problem=f"it declares {resource_type} twice, by two classes, {one.kind.__name__} and"
            f" {other.kind.__name__}",
            what_now="A kind has one cache in a controller: use one class for it.",
        )
    if (one.labels, one.fields) != (other.labels, other.fields):
        raise BadController(
            controller=controller,
            problem=f"it declares {resource_type} twice, with different selectors",
            what_now="A kind has one cache in a controller: give all its declarations the same"
            " labels and fields, or none, and select with `when` or in the mapping.",
        )
    for name in one.indexes.keys() & other.indexes.keys():
        if one.indexes[name] is not other.indexes[name]:
            raise BadController(
                controller=controller,
                problem=f"it has two indexes {name!r} of {resource_type}",
                what_now="Give one of them another name.",
            )
    return one._replace(
        indexes={**one.indexes, **other.indexes}, is_owned=one.is_owned or other.is_owned
    )


def _identity(kind: type[Any]) -> tuple[str, str]:
    # Without the version, because all versions are the same object.
    gvk = kind.resource_type.gvk
    return gvk.group, gvk.kind
