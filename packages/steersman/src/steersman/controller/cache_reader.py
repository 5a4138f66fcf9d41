"""``CacheReader``: what a controller may read from memory, and nothing else."""

from collections.abc import Mapping
from typing import Any, TypeVar

from steersman.cache import Lister
from steersman.client import Labels
from steersman.errors import NotInScope, UndeclaredRead
from steersman.kinds import Resource, Unstructured
from steersman.names import ResourceType

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# The index that every kind a controller owns has: by the uid of whoever controls an object.
CONTROLLER_INDEX = "controller"


class CacheReader:
    """Reads from the caches of the kinds that a controller declares."""

    def __init__(self, controller: str, listers: Mapping[type[Any], Lister[Any]]) -> None:
        self._controller = controller
        self._listers = {same_kind(kind): lister for kind, lister in listers.items()}

    def __contains__(self, kind: type[Any]) -> bool:
        return same_kind(kind) in self._listers

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """One object, or ``None``."""
        lister = self._listers.get(kind) or self.lister(kind)
        return lister.get(name, namespace=namespace)

    def find(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """The same, and ``None`` as well for what is not in memory, and need not be."""
        lister = self._listers.get(kind) or self._listers.get(same_kind(kind))
        if lister is None:
            return None
        try:
            return lister.get(name, namespace=namespace)
        except NotInScope:
            return None

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """All objects for which the function of this index gave this value."""
        return self.lister(kind).by_index(index_name(self._controller, index), value)

    def controlled(self, kind: type[Obj], uid: str) -> "list[Obj]":
        """All objects of the kind that the object with this uid controls."""
        return self.lister(kind).by_index(CONTROLLER_INDEX, uid)

    def lister(self, kind: type[Obj]) -> Lister[Obj]:
        """What reads this kind; ``UndeclaredRead`` if the controller does not declare it."""
        found = self._listers.get(kind) or self._listers.get(same_kind(kind))
        if found is None:
            raise UndeclaredRead(
                controller=self._controller,
                wanted=f"read {kind.resource_type} from memory",
                what_now=f"Add it to the controller: watches=(Watch({kind.__name__}),), or read it"
                f" live after reads=({kind.__name__},).",
            )
        return found

    # The last one, because from here on ``list`` means this in the class.

    def list(
        self, kind: type[Obj], *, namespace: str | None = None, labels: Labels | None = None
    ) -> list[Obj]:
        """All objects, in one namespace or in all that are held, that match the selector."""
        return self.lister(kind).list(namespace=namespace, labels=labels)


def index_name(controller: str, index: str) -> str:
    """The index under a name that no other controller which shares the cache has."""
    return f"{controller}/{index}"


def same_kind(kind: type[Any]) -> type[Any] | ResourceType:
    """What stands for a class: those that Unstructured.of made for one kind are as good as one."""
    return kind.resource_type if issubclass(kind, Unstructured) else kind
