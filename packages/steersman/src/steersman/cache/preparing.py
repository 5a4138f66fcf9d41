"""What is done to each object before the cache keeps it.

``managedFields`` go, because they often are a third of an object and hardly anyone reads them; what
the kept managers applied stays, because that is how they know whether it is still theirs. Then the
author's own transform has its turn. What the class does not name was never decoded.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Generic, TypeVar, cast

import msgspec
from msgspec.structs import replace

from steersman._collector import nothing_collected
from steersman.cache.covering import names_all_of
from steersman.cache.sharing import Sharing
from steersman.client import Misfit, Removed, WatchEvent, Wrote
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
from steersman.watch import Source

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# Of so few objects, the memory that they could share is worth less than the time to find it.
FEW: Final = 100

# Without the look at the names of the fields, which takes six times as long as the copy.
_replace: Callable[..., Any] = msgspec.structs.replace


class Preparation(Generic[Obj]):
    """Makes of an object what the cache keeps."""

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
        self._sharing = Sharing()
        self._seen = 0
        self._covering: dict[type[Resource], bool] = {}

    def of_fresh(self, obj: Obj) -> Obj:
        """From an object that nobody else has seen."""
        obj = self._kept(obj)
        self._seen += 1
        if self._seen <= FEW or not isinstance(obj, Resource):
            return obj
        return self._sharing.share(obj)

    def _kept(self, obj: Obj) -> Obj:
        if not self._keep_managed_fields:
            obj = without_managed_fields(obj, but=self._kept_managers)
        return obj if self._transform is None else self._transformed(obj, self._transform)

    def of_answer(self, obj: Resource | Unstructured) -> Obj | None:
        """From the answer to a write, which somebody else has, and which stays as it is.

        It may be of another class for the same kind; ``None`` if that class may not name all that
        is kept here, so that something would seem to be missing which is there.
        """
        mine = self._kind
        if self._transform is None and (copy := _copied(obj, mine)) is not None:
            return self._kept(copy)
        if issubclass(mine, MetadataOnly):
            body: object = {"metadata": obj.metadata}
        elif isinstance(obj, Unstructured) or self._is_in(type(obj)):
            body = obj
        else:
            return None
        # Decoded anew, because a transform may reach deep into what it is given.
        data = self._codec.encode(body)
        return self._kept(self._codec.decode(mine, data, wanted=f"keep {obj.ref}"))

    def _is_in(self, other: type[Resource]) -> bool:
        """Whether the other class names all that this one does."""
        if other not in self._covering:
            mine: type[Resource] | type[Unstructured] = self._kind  # type: ignore[assignment]
            self._covering[other] = names_all_of(other, mine)
        return self._covering[other]

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
    """A copy whose metadata is its own, which is all that is changed in place."""
    if isinstance(obj, Unstructured):
        if not issubclass(kind, Unstructured):
            return None
        return kind({**obj.body, "metadata": dict(obj.metadata)})
    is_same = type(obj) is kind
    return cast(Obj, _replace(obj, metadata=_replace(obj.metadata))) if is_same else None


class PreparedSource(Generic[Obj]):
    """A source whose objects are ready to be kept."""

    def __init__(self, source: Source[Obj], preparation: Preparation[Obj]) -> None:
        self._source = source
        self._prepare = preparation.of_fresh

    @property
    def resource(self) -> str:
        """The plural of the kind."""
        return self._source.resource

    @property
    def ref(self) -> ObjectRef:
        """What is followed, as people write it."""
        return self._source.ref

    async def probe(self, version: str) -> None:
        """Ask whether the server has got as far as this version."""
        await self._source.probe(version)

    async def pages(self, *, page_size: int | None) -> AsyncIterator[DecodedList[Obj]]:
        """Prepared page by page, so that no more than one is ever held as it came."""
        async for page in self._source.pages(page_size=page_size):
            kept: list[Obj] = []
            refused = list(page.invalid)
            with nothing_collected():
                for obj in page.items:
                    try:
                        kept.append(self._prepare(obj))
                    except InvalidObject as error:
                        refused.append(error)
            yield replace(page, items=tuple(kept), invalid=tuple(refused))

    def watch(
        self, *, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[Obj]]]:
        """What happens from ``version`` on."""
        return self._watch(version, initial_events, timeout_seconds)

    @asynccontextmanager
    async def _watch(
        self, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AsyncIterator[AsyncIterator[WatchEvent[Obj]]]:
        async with self._source.watch(
            version=version, initial_events=initial_events, timeout_seconds=timeout_seconds
        ) as events:
            yield _Prepared(events, self._prepare)


class _Prepared(Generic[Obj]):
    """Not a generator, which somebody would have to close."""

    def __init__(
        self, events: AsyncIterator[WatchEvent[Obj]], prepare: Callable[[Obj], Obj]
    ) -> None:
        self._next = events.__anext__
        self._prepare = prepare

    def __aiter__(self) -> "_Prepared[Obj]":
        return self

    async def __anext__(self) -> WatchEvent[Obj]:
        event = await self._next()
        if not isinstance(event, (Wrote, Removed)):
            return event
        before = event.obj
        try:
            obj = self._prepare(before)
        except InvalidObject as error:
            return Misfit(error, before.resource_version, isinstance(event, Removed))
        if obj is before:
            return event
        return Removed(obj) if isinstance(event, Removed) else Wrote(obj, event.is_new)
