"""Runs the sources of a controller: timers and streams of keys that enqueue objects.

A source runs for as long as the controller runs. If it fails, the failure is reported as an
observation, and the source is opened again.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from random import Random
from typing import Any, TypeAlias

from steersman.cache import is_cancelled
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.sources import Every, Keys, Source
from steersman.controller.declaration.writes import Kind
from steersman.controller.triggers.keys import key_in, keys_in
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.names import ObjectKey, ResourceType
from steersman.observe import Observer, ReconcileReason, SourceFailed
from steersman.watch import key_of
from steersman.workqueue import LOW_PRIORITY, BackoffPolicy

# Enqueues an object: its key, the reason, and its priority.
Enqueue: TypeAlias = Callable[[ObjectKey, ReconcileReason, int], None]

# The other end needs time to recover; the limit is for people who wait.
_BACKOFF = BackoffPolicy(first_seconds=1.0, max_seconds=60.0, jitter=0.1)

# A stream that was open for this long worked: its end does not count as a consecutive failure.
_STEADY_SECONDS = 60.0

# A stream or a full cache may yield keys without ever waiting; after this number of keys, other
# tasks run.
_TURN = 500


async def run_source(
    source: Source,
    *,
    controller: str,
    cached: CacheReader,
    kind: Kind,
    enqueue: Enqueue,
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> None:
    """Enqueue the keys of ``source`` until this task is cancelled.

    A failure is reported to ``observe``, and the source is retried.
    """

    def failed(error: Exception | None, wait_seconds: float) -> None:
        observe(
            SourceFailed(
                controller=controller, source=source.title, error=error, wait_seconds=wait_seconds
            )
        )

    match source:
        case Every():
            timer = _Timer(source, cached=cached, kind=kind, enqueue=enqueue, clock=clock)
            await timer.run(rng=rng, failed=failed)
        case Keys():
            stream = _Stream(source, kind=kind.resource_type, enqueue=enqueue, clock=clock)
            await stream.run(rng=rng, failed=failed)


_Failed: TypeAlias = Callable[[Exception | None, float], None]


class _Timer:
    def __init__(
        self, source: Every, *, cached: CacheReader, kind: Kind, enqueue: Enqueue, clock: Clock
    ) -> None:
        self._source = source
        self._cached = cached
        self._kind = kind
        self._enqueue = enqueue
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
            why = ReconcileReason(about=None, event="timer")
            for count, key in enumerate(keys, start=1):
                self._enqueue(key, why, LOW_PRIORITY)
                if count % _TURN == 0:
                    await self._clock.sleep(0)

    def _wait_seconds(self, rng: Random) -> float:
        # Jitter, so that sources with the same period do not all run at the same moment.
        return self._source.seconds * rng.uniform(0.9, 1.1)

    def _keys(self) -> Iterable[ObjectKey]:
        if self._source.keys is None:
            return [key_of(obj) for obj in self._cached.list(self._kind)]
        return keys_in(self._source.keys(self._cached), self._kind.resource_type)


class _Stream:
    def __init__(self, source: Keys, *, kind: ResourceType, enqueue: Enqueue, clock: Clock) -> None:
        self._source = source
        self._kind = kind
        self._enqueue = enqueue
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
                problem = RuntimeError("an operation that it awaited was cancelled")
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
                stream.close()  # avoids Python's warning that it was never awaited
            raise TypeError(
                f"{self._source.title} is not a stream; write it as `async def` with `yield`, or"
                f" return an async iterator from a plain function"
            )
        why = ReconcileReason(about=None, event="stream")
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
                    self._enqueue(key, why, 0)
                if count % _TURN == 0:
                    await self._clock.sleep(0)


def _key(each: object, kind: ResourceType) -> ObjectKey:
    if not isinstance(each, ObjectKey):
        # The type only: the value may be a secret.
        raise TypeError(
            f"it yielded an object of {type(each).__name__}; yield ObjectKey(namespace, name) of"
            f" {kind.gvk.kind}"
        )
    return key_in(each, kind)
