"""The start of controllers: each controller waits for the caches of its own kinds only.

A kind that the API server does not serve, or whose list fails or hangs, delays only the controllers
that declare the kind. The other controllers start without delay, and the delayed ones start when
the kind has been listed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final, Protocol

from steersman.cache import Informer, background_tasks, sync_problem
from steersman.clock import Clock
from steersman.controller import Controller, SyncedController
from steersman.errors import CacheSyncTimeout
from steersman.observe import CacheSyncOverdue, Observer

# The time for the initial lists, before ready controllers start without the others: longer than a
# list of tens of thousands of objects, and shorter than a request to a hanging server. Until then,
# a replica with complete caches may be the better leader.
PATIENCE_SECONDS: Final = 10.0


class Prepare(Protocol):
    """A function that returns a context in which a controller is prepared."""

    def __call__(
        self,
        controller: Controller[Any],
        *,
        joined: Callable[[Mapping[type[Any], Informer[Any]]], None],
    ) -> AbstractAsyncContextManager[SyncedController[Any]]:
        """Return a context that prepares ``controller`` and yields it with its synced caches.

        ``joined`` is called with the informers of the controller before they have synced.
        """
        ...


class _Start:
    """The start progress of one controller."""

    def __init__(self, controller: Controller[Any]) -> None:
        self.controller = controller
        self.joined = asyncio.Event()
        self.is_ready = asyncio.Event()
        self.informers: Mapping[type[Any], Informer[Any]] = {}
        self.prepared: SyncedController[Any] | None = None
        # Ready, or delayed by a cause that may last forever.
        self.is_settled = False

    @property
    def pending(self) -> tuple[tuple[str, str], ...]:
        """The kinds that the controller waits for, each with the reason of the wait."""
        if self.prepared is not None:
            return ()
        return tuple(
            (str(kind.resource_type.gvk), sync_problem(informer.sync_error))
            for kind, informer in self.informers.items()
            if not informer.has_synced
        )


class Startup:
    """The concurrent start of all controllers of a manager.

    ``prepare`` prepares each controller, and ``filled`` is called once all controllers are ready.
    """

    def __init__(
        self,
        controllers: Sequence[Controller[Any]],
        *,
        prepare: Prepare,
        filled: Callable[[], None],
        sync_seconds: float,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._starts = tuple(map(_Start, controllers))
        self._prepare = prepare
        self._filled = filled
        self._sync_seconds = sync_seconds
        self._clock = clock
        self._observe = observe
        self._changed = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Startup {len(self.ready)} of {len(self._starts)} controllers ready>"

    @property
    def ready(self) -> tuple[SyncedController[Any], ...]:
        """The controllers that are ready to run, in the order of their declaration."""
        return tuple(each.prepared for each in self._starts if each.prepared is not None)

    @property
    def is_complete(self) -> bool:
        """Whether all controllers are ready."""
        return all(each.prepared is not None for each in self._starts)

    @property
    def pending(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        """The name of each controller that is not ready, with the kinds for which it waits.

        Each kind is a pair of its name and the reason why the controller still waits.
        """
        return tuple(
            (each.controller.name, each.pending) for each in self._starts if each.prepared is None
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Startup"]:
        """Prepare the controllers, and keep their caches running until the block ends."""
        if not self._starts:
            self._filled()
        ended = asyncio.Event()
        # One task for each controller: the failure of one ends the operator, and at the end all
        # write their last events concurrently.
        async with asyncio.TaskGroup() as group:
            kept = [
                group.create_task(self._keep(each, ended), name=f"caches of {each.controller.name}")
                for each in self._starts
            ]
            yield self
            ended.set()
            for each, task in zip(self._starts, kept, strict=True):
                if each.prepared is None:
                    task.cancel()  # it waits for a kind that may never be served

    async def settled(self) -> None:
        """Wait until each controller is ready or is known to be delayed.

        A controller is delayed if the list of one of its kinds fails or takes long.
        """
        with suppress(TimeoutError):
            async with self._clock.timeout(PATIENCE_SECONDS):
                while not all(each.is_settled for each in self._starts):
                    await self._change()

    async def more(self, than: int) -> None:
        """Wait until more than ``than`` controllers are ready."""
        while len(self.ready) <= than:
            await self._change()

    async def _keep(self, start: _Start, ended: asyncio.Event) -> None:
        def joined(informers: Mapping[type[Any], Informer[Any]]) -> None:
            start.informers = informers
            start.joined.set()

        async with background_tasks() as background:
            name = f"cache sync of {start.controller.name}"
            background(self._attend(start), name=name)
            async with self._prepare(start.controller, joined=joined) as start.prepared:
                start.is_ready.set()
                if self.is_complete:
                    self._filled()
                self._settle(start)
                await ended.wait()

    async def _attend(self, start: _Start) -> None:
        try:
            async with self._clock.timeout(self._sync_seconds):
                await start.joined.wait()
                for informer in start.informers.values():
                    await informer.wait_synced_or_failed()
                self._settle(start)
                await start.is_ready.wait()
        except TimeoutError:
            error = CacheSyncTimeout(
                wanted=f"start the controller {start.controller.name}",
                pending=start.pending,
                waited_seconds=self._sync_seconds,
            )
            self._observe(CacheSyncOverdue(controller=start.controller.name, error=error))
            self._settle(start)

    def _settle(self, start: _Start) -> None:
        start.is_settled = True
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
