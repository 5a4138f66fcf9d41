"""``CacheOptions``: which objects of a kind an operator caches, and in which form."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import msgspec

from steersman.cache.scope import Scope
from steersman.client import Fields, Labels
from steersman.errors import BadValue, NotAKind
from steersman.kinds import Resource, Unstructured
from steersman.names import check_label

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class _OfKind(msgspec.Struct, Generic[Obj], frozen=True):
    # Separate from the rest, because it is a positional argument.
    kind: type[Obj]


class CacheOptions(_OfKind[Obj], Generic[Obj], frozen=True, kw_only=True):
    """The cache options of one kind, for all controllers and runnables of a manager.

    - ``namespaces``, unless it is ``None``, is used instead of the manager's namespaces; ``()``
      means all namespaces. It does not apply to a runnable that passes its own namespaces.
    - ``labels`` and ``fields`` are selectors, added to the selectors that a controller declares.
    - ``transform`` receives each object before it is cached, and returns the object to cache.
      Use it to drop large fields that no controller reads. ``transform`` must be a pure
      function, and must not change the metadata. It applies to objects of this Python class:
      another class for the same kind has a separate cache.
    """

    namespaces: tuple[str, ...] | None = None
    labels: Labels = Labels()
    fields: Fields = Fields()
    transform: Callable[[Obj], Obj] | None = None

    def __post_init__(self) -> None:
        try:
            resource_type = self.kind.resource_type
        except (AttributeError, NotAKind) as error:
            raise BadValue(
                wanted="the kind of CacheOptions",
                value=self.kind,
                rule="pass the class of a kind; Unstructured.of creates one",
            ) from error
        if self.namespaces is not None:
            if not isinstance(self.namespaces, tuple):
                raise BadValue(
                    wanted=f"the namespaces of CacheOptions({resource_type})",
                    value=self.namespaces,
                    rule='they must be a tuple: namespaces=("one",)',
                )
            for namespace in self.namespaces:
                check_label(namespace, wanted="a namespace's name")
            Scope(namespaces=self.namespaces).check_fits(resource_type)
        if self.transform is not None and not callable(self.transform):
            raise BadValue(
                wanted=f"the transform of CacheOptions({resource_type})",
                value=self.transform,
                rule="it must be a function that takes an object and returns the object to cache",
            )

    @property
    def group_kind(self) -> tuple[str, str]:
        """The API group and kind of the options, which apply to every API version of the kind."""
        gvk = self.kind.resource_type.gvk
        return gvk.group, gvk.kind

    def limit(self, scope: Scope) -> Scope:
        """Return ``scope``, limited by these options.

        If ``scope`` names namespaces, the namespaces of ``scope`` apply, and those of the options
        do not.
        """
        return Scope(
            namespaces=scope.namespaces or self.namespaces or (),
            labels=scope.labels & self.labels,
            fields=scope.fields & self.fields,
        )


def options_of(kind: type[Any], options: Iterable[CacheOptions[Any]]) -> CacheOptions[Any] | None:
    """Return the element of ``options`` for ``kind``; ``None`` if there is no such element."""
    gvk = kind.resource_type.gvk
    return next((each for each in options if each.group_kind == (gvk.group, gvk.kind)), None)
