"""``CacheReader``: reads from the caches of the kinds that a controller declares."""

from collections.abc import Mapping
from typing import Any, TypeVar

from steersman.cache import Lister
from steersman.client import Labels
from steersman.errors import NotInScope, UndeclaredRead
from steersman.kinds import Resource, Unstructured
from steersman.names import ResourceType

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# The index of each owned kind, by the uid of an object's controlling owner.
CONTROLLER_INDEX = "controller"


class CacheReader:
    """A reader of the caches of the kinds that a controller declares."""

    def __init__(self, controller: str, listers: Mapping[type[Any], Lister[Any]]) -> None:
        self._controller = controller
        self._listers = {same_kind(kind): lister for kind, lister in listers.items()}

    def __contains__(self, kind: type[Any]) -> bool:
        return same_kind(kind) in self._listers

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """Return the cached object; ``None`` if the cache does not contain it."""
        lister = self._listers.get(kind) or self.lister(kind)
        return lister.get(name, namespace=namespace)

    def find(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """Return the cached object; ``None`` if the cache does not contain it.

        Unlike ``get``, this method also returns ``None`` for a kind or a namespace that is not
        cached.
        """
        lister = self._listers.get(kind) or self._listers.get(same_kind(kind))
        if lister is None:
            return None
        try:
            return lister.get(name, namespace=namespace)
        except NotInScope:
            return None

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """Return the cached objects of ``kind`` that the index ``index`` lists under ``value``."""
        return self.lister(kind).by_index(index_name(self._controller, index), value)

    def controlled(self, kind: type[Obj], uid: str) -> "list[Obj]":
        """Return all cached objects of ``kind`` whose controlling owner has the uid ``uid``."""
        return self.lister(kind).by_index(CONTROLLER_INDEX, uid)

    def lister(self, kind: type[Obj]) -> Lister[Obj]:
        """Return the lister of ``kind``; raise ``UndeclaredRead`` if the kind is not declared."""
        found = self._listers.get(kind) or self._listers.get(same_kind(kind))
        if found is None:
            raise UndeclaredRead(
                controller=self._controller,
                wanted=f"read {kind.resource_type} from memory",
                what_now=f"Add it to the controller: watches=(Watch({kind.__name__}),), or"
                f" add reads=({kind.__name__},) and use ctx.live.",
            )
        return found

    # Last, because ``list`` means this method in the rest of the class body.

    def list(
        self, kind: type[Obj], *, namespace: str | None = None, labels: Labels | None = None
    ) -> list[Obj]:
        """Return the cached objects of ``kind`` that match ``labels``.

        The objects are in ``namespace``, or in all cached namespaces if it is ``None``.
        """
        return self.lister(kind).list(namespace=namespace, labels=labels)


def index_name(controller: str, index: str) -> str:
    """Return the name under which the cache stores the index ``index`` of ``controller``.

    Each controller has its own index names, because controllers may share a cache.
    """
    return f"{controller}/{index}"


def same_kind(kind: type[Any]) -> type[Any] | ResourceType:
    """Return a value that identifies ``kind``.

    The value is equal for all ``Unstructured`` classes of one kind.
    """
    return kind.resource_type if issubclass(kind, Unstructured) else kind
