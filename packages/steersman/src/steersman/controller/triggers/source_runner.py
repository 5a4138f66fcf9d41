"""Sources: reasons to look at an object that are not in the cluster.

``Every`` wakes objects by the clock, and ``Keys`` those that a stream from outside names. Both go
on for as long as the controller runs, whatever fails.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from random import Random
from typing import Any, TypeAlias

from steersman.cache import is_cancelled, key_of
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.sources import Every, Keys, Source
from steersman.controller.declaration.writes import Kind
from steersman.controller.triggers.keys import key_in, keys_in
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.names import ObjectKey, ResourceType
from steersman.observe import Observer, SourceFailed, Why
from steersman.workqueue import LOW_PRIORITY, BackoffPolicy

# Wakes an object: its key, why, and how urgent it is.
Add: TypeAlias = Callable[[ObjectKey, Why, int], None]

# Who is at the other end needs time to come back; people wait no longer than this for a restart.
_BACKOFF = BackoffPolicy(first_seconds=1.0, longest_seconds=60.0, jitter=0.1)

# A stream that was open for so long did work: what ends it is no failure in a row.
_STEADY_SECONDS = 60.0

# A stream, or a cache with many objects, may give without ever waiting; after so many, everybody
# else gets a turn.
_TURN = 500


async def run_source(
    source: Source,
    *,
    controller: str,
    cached: CacheReader,
    kind: Kind,
    add: Add,
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> None:
    """Wake what the source names, for ever. What it does wrong is observed, and tried again."""

    def failed(error: Exception | None, wait_seconds: float) -> None:
        observe(
            SourceFailed(
                controller=controller, source=source.title, error=error, wait_seconds=wait_seconds
            )
        )

    match source:
        case Every():
            timer = _Timer(source, cached=cached, kind=kind, add=add, clock=clock)
            await timer.run(rng=rng, failed=failed)
        case Keys():
            stream = _Stream(source, kind=kind.resource_type, add=add, clock=clock)
            await stream.run(rng=rng, failed=failed)


_Failed: TypeAlias = Callable[[Exception | None, float], None]


class _Timer:
    def __init__(
        self, source: Every, *, cached: CacheReader, kind: Kind, add: Add, clock: Clock
    ) -> None:
        self._source = source
        self._cached = cached
        self._kind = kind
        self._add = add
        self._clock = clock

    async def run(self, *, rng: Random, failed: _Failed) -> None:
        failures = 0
        wait_seconds = self._wait_seconds(rng)
        while True:
            await self._clock.sleep(wait_seconds)
            wait_seconds = self._wait_seconds(rng)
            try:
                keys = self._keys()
            except AUTHOR_ERRORS as error:
                failures += 1
                wait_seconds = min(wait_seconds, _BACKOFF.wait_seconds(failures, rng=rng))
                failed(failure_of(error), wait_seconds)
                continue
            failures = 0
            why = Why(about=None, event="timer")
            for count, key in enumerate(keys, start=1):
                self._add(key, why, LOW_PRIORITY)
                if count % _TURN == 0:
                    await self._clock.sleep(0)

    def _wait_seconds(self, rng: Random) -> float:
        # So that those with the same period do not all come at the same moment.
        return self._source.seconds * rng.uniform(0.9, 1.1)

    def _keys(self) -> Iterable[ObjectKey]:
        if self._source.keys is None:
            return [key_of(obj) for obj in self._cached.list(self._kind)]
        return keys_in(self._source.keys(self._cached), self._kind.resource_type)


class _Stream:
    def __init__(self, source: Keys, *, kind: ResourceType, add: Add, clock: Clock) -> None:
        self._source = source
        self._kind = kind
        self._add = add
        self._clock = clock

    async def run(self, *, rng: Random, failed: _Failed) -> None:
        failures = 0
        while True:
            opened_at = self._clock.monotonic()
            problem: Exception | None = None
            try:
                await self._follow(failed)
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                problem = RuntimeError("what it waited for was cancelled")
            except AUTHOR_ERRORS as error:
                problem = failure_of(error)
            is_steady = self._clock.monotonic() - opened_at >= _STEADY_SECONDS
            failures = 1 if is_steady else failures + 1
            wait_seconds = _BACKOFF.wait_seconds(failures, rng=rng)
            failed(problem, wait_seconds)
            await self._clock.sleep(wait_seconds)

    async def _follow(self, failed: _Failed) -> None:
        stream: Any = self._source.open()
        if not hasattr(stream, "__aiter__"):
            if asyncio.iscoroutine(stream):
                stream.close()  # else Python complains that nobody has awaited it
            raise TypeError(
                f"{self._source.title} is no stream; write it as `async def` with `yield`, or"
                f" return an async iterator from a plain function"
            )
        why = Why(about=None, event="stream")
        count = 0
        async with AsyncExitStack() as stack:
            if hasattr(stream, "aclose"):
                stack.push_async_callback(stream.aclose)
            async for each in stream:
                count += 1
                try:
                    key = _key(each, self._kind)
                except TypeError as error:
                    failed(error, 0.0)
                else:
                    self._add(key, why, 0)
                if count % _TURN == 0:
                    await self._clock.sleep(0)


def _key(each: object, kind: ResourceType) -> ObjectKey:
    if not isinstance(each, ObjectKey):
        # Its type, and not what it holds: that may be a secret.
        raise TypeError(
            f"it gave an object of {type(each).__name__}; give ObjectKey(namespace, name) of"
            f" {kind.gvk.kind}"
        )
    return key_in(each, kind)
