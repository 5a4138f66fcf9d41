"""A read-only view of the current objects of some kinds, kept up to date by watches."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from steersman.cache import Caches, Informer, InformerSettings, background_tasks, handler_funcs
from steersman.client import Client
from steersman.kinds import Unstructured
from steersman.names import ResourceType
from steersman.observe import Observer

# The interval of the checks whether the view has caught up, and the limit of the wait.
_LOOK_SECONDS: Final = 0.05
_CATCH_UP_SECONDS: Final = 2.0


class ObjectView:
    """The current objects of the followed kinds; the event ``changed`` is set at each change."""

    def __init__(self, client: Client, *, observe: Observer) -> None:
        self.changed = asyncio.Event()
        self._client = client
        # Complete objects, because metadata does not contain their state.
        self._caches = Caches(client, observe=observe, settings=InformerSettings())
        self._informers: dict[ResourceType, Informer[Unstructured]] = {}
        self._asked: set[ResourceType] = set()
        self._start: Any = None

    def __repr__(self) -> str:
        return f"<ObjectView of {len(self._informers)} kinds>"

    @property
    def objects(self) -> tuple[Unstructured, ...]:
        """All current objects of the followed kinds."""
        return tuple(obj for each in self._informers.values() for obj in each.lister.list())

    @asynccontextmanager
    async def open(self) -> AsyncIterator["ObjectView"]:
        """Keep the view up to date, and permit calls of ``follow``, while the block runs."""
        async with self._caches.running(), background_tasks() as self._start:
            yield self

    def follow(self, kinds: Iterable[ResourceType]) -> None:
        """Add the objects of ``kinds`` to the view, each kind as soon as the server serves it."""
        for kind in kinds:
            if kind not in self._asked:
                self._asked.add(kind)
                self._start(self._following(kind), name=f"view of {kind}")

    async def catch_up(self) -> None:
        """Wait until the view shows all objects that the server currently has.

        If the objects change all the time, the wait ends after a limited time.
        """
        with suppress(TimeoutError):
            async with self._client.clock.timeout(_CATCH_UP_SECONDS):
                while not all([await self._is_seen(kind) for kind in tuple(self._asked)]):
                    await self._client.clock.sleep(_LOOK_SECONDS)

    async def _is_seen(self, kind: ResourceType) -> bool:
        if kind not in self._informers:
            return False
        there = await self._client.list(Unstructured.at(kind))
        seen = self._informers[kind].lister.list()
        return {each.resource_version for each in there.items} == {
            each.resource_version for each in seen
        }

    async def _following(self, kind: ResourceType) -> None:
        async with self._caches.informer(Unstructured.at(kind)) as informer:
            self._informers[kind] = informer
            informer.add_handler(
                handler_funcs(
                    added=lambda _: self.changed.set(),
                    updated=lambda _old, _new: self.changed.set(),
                    deleted=lambda _: self.changed.set(),
                )
            )
            self.changed.set()
            await asyncio.get_running_loop().create_future()
