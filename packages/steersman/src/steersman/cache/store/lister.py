"""``Lister``: typed get and list operations on objects in memory."""

from collections.abc import Callable
from typing import Generic, TypeVar

from steersman.cache.scope import Scope
from steersman.cache.store.indexer import Indexer
from steersman.client import Labels
from steersman.errors import BadName, NotInScope, NotSynced
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ResourceType

Obj = TypeVar("Obj", bound=Resource | Unstructured)

_new_key = tuple.__new__  # as in ``keys``, for every read


class Lister(Generic[Obj]):
    """A reader of the objects in an informer's cache, which include the operator's own writes.

    The objects belong to the cache and must not be changed. To change an ``Unstructured`` object,
    make a copy with its method ``changed``.
    """

    def __init__(
        self,
        objects: Indexer[Obj],
        *,
        resource_type: ResourceType,
        scope: Scope,
        has_listed: Callable[[], bool],
    ) -> None:
        self._objects = objects
        self._resource_type = resource_type
        self._scope = scope
        self._has_listed = has_listed
        self._had_listed = False  # once true, it stays true

    def __repr__(self) -> str:
        return f"<Lister {len(self._objects)} of {self._resource_type}, {self._scope}>"

    def get(self, name: str, *, namespace: str | None = None) -> Obj | None:
        """Return one object; ``None`` if the cache has no such object."""
        if self._resource_type.namespaced != (namespace is not None):
            # No such object can exist, and ``None`` would look like a valid result.
            scope = "namespaced; pass a namespace" if namespace is None else "cluster-scoped"
            raise BadName(
                wanted=f"a namespace for {self._resource_type}",
                value=namespace,
                rule=f"this kind is {scope}",
            )
        if not self._had_listed or self._scope.namespaces:
            self._check(namespace)
        return self._objects.get(_new_key(ObjectKey, (namespace, name)))

    def by_index(self, index: str, value: str) -> list[Obj]:
        """Return the cached objects that the index ``index`` lists under ``value``."""
        if not self._had_listed:
            self._check_listed()
        return self._objects.by_index(index, value)

    def _check(self, namespace: str | None) -> None:
        if not self._had_listed:
            self._check_listed()
        if not self._scope.holds(namespace):
            where = f"of namespace {namespace}" if namespace else "without a namespace"
            raise NotInScope(
                wanted=f"read {self._resource_type} {where} from memory",
                problem=f"the cache contains only objects {self._scope}",
                what_now="Widen the scope of the cache, or read it with a Client.",
            )

    def _check_listed(self) -> None:
        # In an incomplete cache, the missing objects would look deleted.
        self._had_listed = self._has_listed()
        if not self._had_listed:
            raise NotSynced(
                wanted=f"read {self._resource_type} from memory",
                problem=f"the first list, {self._scope}, is not complete",
                what_now="Wait for the informer: `await informer.synced()`.",
            )

    # Last, because ``list`` means this method in the rest of the class body.

    def list(self, *, namespace: str | None = None, labels: Labels | None = None) -> list[Obj]:
        """Return the cached objects whose labels match the selector ``labels``.

        With ``namespace``, return only objects of that namespace; otherwise return objects of all
        cached namespaces.
        """
        if namespace is None:
            if not self._had_listed:
                self._check_listed()
            found = list(self._objects)
        else:
            self._check(namespace)
            found = self._objects.in_namespace(namespace)
        if labels is None or not labels.requirements:
            return found
        return [obj for obj in found if labels.matches(obj.labels)]
