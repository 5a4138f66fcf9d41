"""Transforms each object before it is stored in the cache.

``managedFields`` are dropped, because they are often a third of an object and are rarely read. Only
the entries of the field managers that the controllers use are kept: a controller compares them to
determine whether an apply would change anything. Then the operator author's own ``transform`` is
called. Fields that the Python class does not declare are not decoded in the first place.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Generic, TypeVar, cast

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from steersman._collector import gc_paused
from steersman.cache.store.deduplicator import Deduplicator
from steersman.client import DecodeFailure, ObjectDeleted, ObjectWritten, WatchEvent
from steersman.errors import AUTHOR_ERRORS, InvalidObject, failure_of
from steersman.kinds import (
    Codec,
    DecodedList,
    MetadataOnly,
    Resource,
    Unstructured,
    without_managed_fields,
)
from steersman.names import ObjectRef
from steersman.watch import ListerWatcher

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# Below this number of objects, the saved memory is not worth the time.
FEW: Final = 100

# The check of the field names is omitted, because it takes six times as long as the copy.
_replace: Callable[..., Any] = msgspec.structs.replace


class Transformer(Generic[Obj]):
    """A converter of received objects into the objects to cache."""

    def __init__(
        self,
        kind: type[Obj],
        *,
        transform: Callable[[Obj], Obj] | None,
        keep_managed_fields: bool,
        kept_managers: frozenset[str] = frozenset(),
    ) -> None:
        self._kind = kind
        self._transform = transform
        self._keep_managed_fields = keep_managed_fields
        self._kept_managers = kept_managers
        self._codec = Codec()
        self._deduplicator = Deduplicator()
        self._count = 0
        self._has_fields_of: dict[type[Resource], bool] = {}

    def transform_new(self, obj: Obj) -> Obj:
        """Transform an object of a list or watch, in place if possible."""
        obj = self._transform_any(obj)
        self._count += 1
        if self._count <= FEW or not isinstance(obj, Resource):
            return obj
        return self._deduplicator.deduplicate(obj)

    def _transform_any(self, obj: Obj) -> Obj:
        if not self._keep_managed_fields:
            obj = without_managed_fields(obj, but=self._kept_managers)
        return obj if self._transform is None else self._transformed(obj, self._transform)

    def transform_answer(self, obj: Resource | Unstructured) -> Obj | None:
        """Return a transformed copy of ``obj``, the response to a write; ``obj`` is not changed.

        The response may be of another Python class for the same kind. If that class lacks fields of
        the cached class, return ``None``, because these fields would appear to be unset.
        """
        mine = self._kind
        if self._transform is None and (copy := _copied(obj, mine)) is not None:
            return self._transform_any(copy)
        if issubclass(mine, MetadataOnly):
            body: object = {"metadata": obj.metadata}
        elif isinstance(obj, Unstructured) or self._has_all_fields(type(obj)):
            body = obj
        else:
            return None
        # Decoded again, because a transform may change its argument at any depth.
        data = self._codec.encode(body)
        return self._transform_any(self._codec.decode(mine, data, wanted=f"keep {obj.ref}"))

    def _has_all_fields(self, other: type[Resource]) -> bool:
        """Whether the class ``other`` has all fields of the cached class."""
        if other not in self._has_fields_of:
            mine: type[Resource] | type[Unstructured] = self._kind  # type: ignore[assignment]
            self._has_fields_of[other] = _has_all_fields_of(other, mine)
        return self._has_fields_of[other]

    def _transformed(self, obj: Obj, transform: Callable[[Obj], Obj]) -> Obj:
        before = _identity(obj)
        try:
            after = transform(obj)
            changed = _identity(after) != before
        except AUTHOR_ERRORS as error:
            failure_of(error)
            raise self._refusal(obj, f"its transform raised {type(error).__name__}") from error
        if changed:
            raise self._refusal(obj, "its transform changed the name, uid or resourceVersion")
        return after

    def _refusal(self, obj: Obj, problem: str) -> InvalidObject:
        metadata = {
            "name": obj.name,
            "namespace": obj.namespace,
            "uid": obj.uid,
            "resourceVersion": obj.resource_version,
        }
        return InvalidObject(
            ref=str(obj.ref), into=self._kind.__name__, problem=problem, body={"metadata": metadata}
        )


def _identity(obj: Resource | Unstructured) -> tuple[str | None, str, str, str]:
    return obj.namespace, obj.name, obj.uid, obj.resource_version


def _copied(obj: Resource | Unstructured, kind: type[Obj]) -> Obj | None:
    """Return a copy of ``obj`` with separate metadata; ``None`` if ``obj`` is of another class.

    Only the metadata is changed in place, so the other fields may be shared.
    """
    if isinstance(obj, Unstructured):
        if not issubclass(kind, Unstructured):
            return None
        return kind({**obj.body, "metadata": dict(obj.metadata)})
    is_same = type(obj) is kind
    return cast(Obj, _replace(obj, metadata=_replace(obj.metadata))) if is_same else None


class TransformedSource(Generic[Obj]):
    """A source of lists and watches that transforms each object for the cache."""

    def __init__(self, source: ListerWatcher[Obj], transformer: Transformer[Obj]) -> None:
        self._source = source
        self._transform = transformer.transform_new

    @property
    def resource(self) -> str:
        """The plural name of the kind."""
        return self._source.resource

    @property
    def ref(self) -> ObjectRef:
        """The listed and watched objects in readable form, such as ``Pod default/*``."""
        return self._source.ref

    async def probe(self, version: str) -> None:
        """Raise ``TooLargeResourceVersion`` if the API server has not reached ``version`` yet."""
        await self._source.probe(version)

    async def pages(self, *, page_size: int | None) -> AsyncIterator[DecodedList[Obj]]:
        """Yield each page of a list, transformed; only one page is in memory untransformed."""
        async for page in self._source.pages(page_size=page_size):
            kept: list[Obj] = []
            invalid = list(page.invalid)
            with gc_paused():
                for obj in page.items:
                    try:
                        kept.append(self._transform(obj))
                    except InvalidObject as error:
                        invalid.append(error)
            yield replace(page, items=tuple(kept), invalid=tuple(invalid))

    def watch(
        self, *, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[Obj]]]:
        """Provide the watch events after resourceVersion ``version``, with transformed objects."""
        return self._watch(version, initial_events, timeout_seconds)

    @asynccontextmanager
    async def _watch(
        self, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AsyncIterator[AsyncIterator[WatchEvent[Obj]]]:
        async with self._source.watch(
            version=version, initial_events=initial_events, timeout_seconds=timeout_seconds
        ) as events:
            yield _TransformedEvents(events, self._transform)


class _TransformedEvents(Generic[Obj]):
    """An iterator of watch events with transformed objects.

    It is not a generator, because a generator would have to be closed.
    """

    def __init__(
        self, events: AsyncIterator[WatchEvent[Obj]], transform: Callable[[Obj], Obj]
    ) -> None:
        self._next = events.__anext__
        self._transform = transform

    def __aiter__(self) -> "_TransformedEvents[Obj]":
        return self

    async def __anext__(self) -> WatchEvent[Obj]:
        event = await self._next()
        if not isinstance(event, (ObjectWritten, ObjectDeleted)):
            return event
        before = event.obj
        try:
            obj = self._transform(before)
        except InvalidObject as error:
            return DecodeFailure(error, before.resource_version, isinstance(event, ObjectDeleted))
        if obj is before:
            return event
        return (
            ObjectDeleted(obj)
            if isinstance(event, ObjectDeleted)
            else ObjectWritten(obj, event.is_new)
        )


def _has_all_fields_of(wide: type[Resource], narrow: type[Resource] | type[Unstructured]) -> bool:
    """Whether ``wide`` has every field of ``narrow``, at any depth.

    An object of a class with fewer fields cannot replace an object of a class with more fields.
    """
    if issubclass(narrow, Unstructured):
        return False  # It has every field that the server sends.
    return _has_all_fields_in(inspect.type_info(wide), inspect.type_info(narrow), set())


def _has_all_fields_in(wide: Any, narrow: Any, seen: set[tuple[type, type]]) -> bool:
    wide, narrow = _not_none(wide), _not_none(narrow)
    match wide, narrow:
        case inspect.StructType(), inspect.StructType():
            both = (wide.cls, narrow.cls)
            if wide.cls is narrow.cls or both in seen:
                return True
            seen.add(both)
            theirs = {field.encode_name: field.type for field in wide.fields}
            return all(
                field.encode_name in theirs
                and _has_all_fields_in(theirs[field.encode_name], field.type, seen)
                for field in narrow.fields
            )
        case inspect.VarTupleType(), inspect.VarTupleType():
            return _has_all_fields_in(wide.item_type, narrow.item_type, seen)
        case inspect.DictType(), inspect.DictType():
            return _has_all_fields_in(wide.value_type, narrow.value_type, seen)
        case ((inspect.StructType() | inspect.VarTupleType() | inspect.DictType()), _):
            return False  # The other type may have more fields.
        case _:
            return True  # A single value; the decoder checks its type.


def _not_none(info: Any) -> Any:
    """Return the type without ``None``."""
    if isinstance(info, inspect.UnionType):
        types = [each for each in info.types if not isinstance(each, inspect.NoneType)]
        if len(types) == 1:
            return types[0]
    return info
