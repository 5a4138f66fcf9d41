"""The indexer, the local store: objects by key, and by the values of index functions. No I/O.

The returned objects belong to the indexer and are frozen. The returned lists belong to the caller.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from steersman.cache.store.indexes import IndexFunction
from steersman.errors import AUTHOR_ERRORS, UnknownIndex, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.watch import key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class Indexer(Generic[Obj]):
    """A store of objects by key and by index.

    If an index function raises an exception for an object, the object is missing from that index
    only, and ``failed`` is called with the name of the index, the object's key and the exception.
    For the same index and object, ``failed`` is called again only after the function has succeeded
    or the object was deleted.
    """

    def __init__(
        self,
        *,
        failed: Callable[[str, ObjectKey, Exception], None],
        indexes: Mapping[str, IndexFunction[Obj]] | None = None,
    ) -> None:
        self._failed = failed
        # By namespace, the most frequent query, at no extra cost.
        self._namespaces: defaultdict[str | None, dict[ObjectKey, Obj]] = defaultdict(dict)
        self._indexes: dict[str, _Index[Obj]] = {}
        for name, function in (indexes or {}).items():
            self.add_index(name, function)

    def add_index(self, name: str, function: IndexFunction[Obj]) -> None:
        """Add an index called ``name`` that lists stored and future objects by ``function``."""
        there = self._indexes.get(name)
        if there is not None and there.function == function:
            return
        if there is not None:
            raise ValueError(
                f"the index {name!r} already exists with another function."
                f" Choose another name for this index"
            )
        index = self._indexes[name] = _Index(name, function, self._failed)
        for objects in self._namespaces.values():
            for key, obj in objects.items():
                index.put(key, obj)

    def put(self, obj: Obj, key: ObjectKey | None = None) -> None:
        """Store ``obj`` under its key; a caller that has already computed ``key`` may pass it."""
        if key is None:
            key = key_of(obj)
        self._namespaces[key.namespace][key] = obj
        if self._indexes:
            for index in self._indexes.values():
                index.put(key, obj)

    def put_all(self, objects: Iterable[tuple[ObjectKey, Obj]]) -> None:
        """Store many objects, each under the given key."""
        namespaces, indexes = self._namespaces, tuple(self._indexes.values())
        for key, obj in objects:
            namespaces[key.namespace][key] = obj
            for index in indexes:
                index.put(key, obj)

    def remove(self, key: ObjectKey) -> Obj | None:
        """Remove and return the object with this key; ``None`` if there is no such object."""
        objects = self._namespaces.get(key.namespace)
        obj = objects.pop(key, None) if objects is not None else None
        if obj is not None:
            if not objects:
                del self._namespaces[key.namespace]
            for index in self._indexes.values():
                index.remove(key)
        return obj

    def get(self, key: ObjectKey) -> Obj | None:
        """Return the object with this key; ``None`` if there is no such object."""
        objects = self._namespaces.get(key.namespace)
        return None if objects is None else objects.get(key)

    def keys(self) -> list[ObjectKey]:
        """The keys of all objects."""
        return [key for objects in self._namespaces.values() for key in objects]

    def in_namespace(self, namespace: str) -> list[Obj]:
        """All objects of one namespace."""
        return list(self._namespaces.get(namespace, {}).values())

    def by_index(self, name: str, value: str) -> list[Obj]:
        """Return the objects that the index ``name`` lists under ``value``."""
        bucket = self._index(name).buckets.get(value)
        return [] if bucket is None else list(bucket.values())

    def index_values(self, name: str) -> list[str]:
        """Return all values that the index ``name`` contains at present."""
        return list(self._index(name).buckets)

    @property
    def index_names(self) -> list[str]:
        """The names of all indexes."""
        return sorted(self._indexes)

    def _index(self, name: str) -> "_Index[Obj]":
        index = self._indexes.get(name)
        if index is None:
            raise UnknownIndex(name=name, known=self.index_names)
        return index

    def __contains__(self, key: object) -> bool:
        return isinstance(key, ObjectKey) and self.get(key) is not None

    def __iter__(self) -> Iterator[Obj]:
        return iter([obj for objects in self._namespaces.values() for obj in objects.values()])

    def __len__(self) -> int:
        return sum(map(len, self._namespaces.values()))

    def __repr__(self) -> str:
        indexes = f", indexed {', '.join(self.index_names)}" if self._indexes else ""
        return f"<Indexer {len(self)} objects{indexes}>"


class _Index(Generic[Obj]):
    __slots__ = ("_failed", "_failing", "_name", "_values", "buckets", "function")

    def __init__(
        self,
        name: str,
        function: IndexFunction[Obj],
        failed: Callable[[str, ObjectKey, Exception], None],
    ) -> None:
        self.function = function
        self.buckets: dict[str, dict[ObjectKey, Obj]] = {}
        self._name = name
        self._failed = failed
        # The last values, because the function may return others for the same object.
        self._values: dict[ObjectKey, tuple[str, ...]] = {}
        self._failing: set[ObjectKey] = set()

    def put(self, key: ObjectKey, obj: Obj) -> None:
        before = self._values.get(key, ())
        now = self._values_for(key, obj)
        if before != now:
            self._leave(key, [value for value in before if value not in now])
            if now:
                self._values[key] = now
            else:
                del self._values[key]
        for value in now:
            bucket = self.buckets.get(value)
            if bucket is None:
                self.buckets[value] = {key: obj}
            else:
                bucket[key] = obj

    def remove(self, key: ObjectKey) -> None:
        self._failing.discard(key)
        self._leave(key, self._values.pop(key, ()))

    def _leave(self, key: ObjectKey, values: tuple[str, ...] | list[str]) -> None:
        for value in values:
            bucket = self.buckets[value]
            del bucket[key]
            if not bucket:
                del self.buckets[value]

    def _values_for(self, key: ObjectKey, obj: Obj) -> tuple[str, ...]:
        try:
            values = self.function(obj)
            if isinstance(values, str):
                # Its characters would be indexed one by one.
                raise TypeError(
                    "an index function must return a collection of strings, not one string"
                )
            found = tuple(values)
            if len(found) > 1:
                found = tuple(dict.fromkeys(found))
            for value in found:
                if not isinstance(value, str):
                    raise TypeError(
                        f"an index function must return strings, not {type(value).__name__}"
                    )
        except AUTHOR_ERRORS as error:
            failure = failure_of(error)
            if key not in self._failing:
                self._failing.add(key)
                self._failed(self._name, key, failure)
            return ()
        if self._failing:
            self._failing.discard(key)
        return found
