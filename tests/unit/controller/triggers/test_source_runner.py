import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from steersman.cache import Indexer, Lister, Scope, background_tasks
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.sources import Every, Keys, Source
from steersman.controller.triggers.source_runner import run_source
from steersman.errors import BadValue
from steersman.names import ObjectKey
from steersman.observe import ReconcileReason, SourceFailed
from steersman.workqueue import LOW_PRIORITY
from tests.clocks import ManualClock
from tests.embedded import turns
from tests.unit.controller.apps import App, app, widget

WEB = ObjectKey("here", "web")
API = ObjectKey("here", "api")


class SourceFixture:
    """A controller of Apps, some existing objects, and the results of its sources."""

    def __init__(self, *names: str) -> None:
        self.clock = ManualClock()
        self.added: list[tuple[ObjectKey, str, int]] = []
        self.failed: list[SourceFailed] = []
        objects = Indexer[App](failed=lambda *_: None)
        for name in names:
            objects.put(app(name), ObjectKey("here", name))
        lister = Lister(
            objects, resource_type=App.resource_type, scope=Scope(), has_listed=lambda: True
        )
        self.cached = CacheReader("app", {App: lister})

    def enqueue(self, key: ObjectKey, why: ReconcileReason, priority: int) -> None:
        self.added.append((key, why.event, priority))

    @asynccontextmanager
    async def running(self, source: Source) -> AsyncIterator[None]:
        async with background_tasks() as start:
            work = run_source(
                source,
                controller="app",
                cached=self.cached,
                kind=App,
                enqueue=self.enqueue,
                clock=self.clock,
                rng=Random(0),
                observe=self.failed.append,  # type: ignore[arg-type]
            )
            start(work, name="source")
            await turns()
            yield

    async def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await turns()

    @property
    def waits(self) -> list[float]:
        return [each.wait_seconds for each in self.failed]


# Every


async def test_a_timer_enqueues_all_objects_with_a_lower_priority_than_changes() -> None:
    fixture = SourceFixture("web", "api")

    async with fixture.running(Every(100)):
        await fixture.wait(89)
        early = list(fixture.added)
        await fixture.wait(22)
        first = list(fixture.added)
        await fixture.wait(111)

    assert early == []
    assert first == [(WEB, "timer", LOW_PRIORITY), (API, "timer", LOW_PRIORITY)]
    assert fixture.added == first * 2
    assert fixture.failed == []


async def test_two_timers_with_the_same_period_do_not_fire_together() -> None:
    fixture = SourceFixture("web")

    async with fixture.running(Every(100)):
        moments = []
        for second in range(2000):
            await fixture.wait(1)
            if fixture.added:
                moments.append(second)
                fixture.added.clear()

    waits = {after - before for before, after in pairwise(moments)}
    assert len(waits) > 5
    assert min(waits) >= 89
    assert max(waits) <= 111


async def test_a_timer_enqueues_the_keys_or_objects_that_its_function_returns() -> None:
    fixture = SourceFixture("web", "api", "db")

    def selected(cached: CacheReader) -> Iterable[ObjectKey | App]:
        yield API
        yield from (each for each in cached.list(App) if each.name == "web")
        yield API

    async with fixture.running(Every(10, keys=selected)):
        await fixture.wait(11)

    assert [key for key, *_ in fixture.added] == [API, WEB]


async def test_a_function_that_raises_is_retried_before_the_period_is_over() -> None:
    fixture = SourceFixture("web")
    problems = [LookupError("not yet"), LookupError("nor now")]

    def selected(cached: CacheReader) -> list[ObjectKey]:
        if problems:
            raise problems.pop(0)
        return [WEB]

    async with fixture.running(Every(3600, keys=selected)):
        await fixture.wait(3960)
        for _ in range(2):
            await fixture.wait(fixture.waits[-1])
        added = list(fixture.added)
        await fixture.wait(3000)

    assert [str(each.error) for each in fixture.failed] == ["not yet", "nor now"]
    assert fixture.failed[0].source.startswith("every 3600 s, ")
    assert fixture.waits[0] < fixture.waits[1] < 3
    assert added == fixture.added == [(WEB, "timer", LOW_PRIORITY)]


async def test_after_a_success_the_first_retry_comes_as_early_as_ever() -> None:
    fixture = SourceFixture("web")
    fails = [True, True, False, True]

    def selected(cached: CacheReader) -> list[ObjectKey]:
        if fails.pop(0):
            raise LookupError
        return [WEB]

    async with fixture.running(Every(3600, keys=selected)):
        await fixture.wait(3960)
        for _ in range(2):
            await fixture.wait(fixture.waits[-1])
        await fixture.wait(3960)

    assert len(fixture.waits) == 3
    assert fixture.waits[2] < 0.7 * fixture.waits[1]


async def test_a_failing_function_is_not_called_more_often_than_its_period() -> None:
    fixture = SourceFixture("web")

    def selected(cached: CacheReader) -> list[ObjectKey]:
        raise LookupError

    async with fixture.running(Every(0.1, keys=selected)):
        for _ in range(5):
            await fixture.wait(0.12)

    assert len(fixture.failed) == 5
    assert all(0.09 <= wait <= 0.11 for wait in fixture.waits)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "it returned None"),
        (WEB, "return an iterable of keys"),
        (app(), "return an iterable of keys"),
        ("web", "return an iterable of keys"),
        (["web"], "it returned an object of str; return ObjectKey"),
        ([("here", "web")], "an object of tuple"),
        ([widget()], "or an object of App"),
        ([ObjectKey(None, "web")], "App needs a namespace and a name"),
        ([ObjectKey("here", "")], "needs a namespace and a name"),
    ],
)
async def test_a_function_that_returns_something_else_fails_with_what_to_return(
    returned: Any, said: str
) -> None:
    fixture = SourceFixture("web")

    async with fixture.running(Every(1, keys=lambda _: returned)):
        await fixture.wait(1.1)

    (failed,) = fixture.failed
    assert isinstance(failed.error, TypeError)
    assert said in str(failed.error)
    assert fixture.added == []


async def test_an_async_function_fails_with_what_to_write() -> None:
    fixture = SourceFixture("web")

    async def selected(cached: CacheReader) -> list[ObjectKey]:
        return []

    async with fixture.running(Every(1, keys=selected)):  # type: ignore[arg-type]
        await fixture.wait(1.1)

    assert "make it a plain function" in str(fixture.failed[0].error)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_period_must_be_a_positive_number(seconds: float) -> None:
    with pytest.raises(BadValue, match="positive number of seconds"):
        Every(seconds)


# Keys


class KeyStream:
    """A stream of keys, errors, or ``None`` for its end, from the test."""

    def __init__(self) -> None:
        self.coming: asyncio.Queue[Any] = asyncio.Queue()
        self.opened = 0
        self.closed = 0

    async def open(self) -> AsyncIterator[ObjectKey]:
        self.opened += 1
        try:
            while (each := await self.coming.get()) is not None:
                if isinstance(each, BaseException):
                    raise each
                yield each
        finally:
            self.closed += 1

    async def give(self, *things: Any) -> None:
        for each in things:
            self.coming.put_nowait(each)
        await turns()


async def test_keys_of_a_stream_have_the_priority_of_changes() -> None:
    fixture, stream = SourceFixture(), KeyStream()

    async with fixture.running(Keys(stream.open)):
        await stream.give(WEB, API, WEB)

    assert fixture.added == [(WEB, "stream", 0), (API, "stream", 0), (WEB, "stream", 0)]
    assert fixture.failed == []
    assert stream.closed == 1


async def test_a_stream_that_fails_or_ends_is_opened_again_later_and_later() -> None:
    fixture, stream = SourceFixture(), KeyStream()

    async with fixture.running(Keys(stream.open, name="hooks")):
        for end in (OSError("lost"), None, OSError("lost"), None):
            await stream.give(WEB, end)
            await fixture.wait(fixture.waits[-1])
        await stream.give(API)

    assert [str(each.error) for each in fixture.failed] == ["lost", "None", "lost", "None"]
    assert {each.source for each in fixture.failed} == {"hooks"}
    assert fixture.waits == sorted(fixture.waits)
    assert 0.9 <= fixture.waits[0] <= 1
    assert [key for key, *_ in fixture.added] == [WEB] * 4 + [API]
    assert stream.opened == stream.closed == 5


async def test_a_stream_is_opened_again_within_a_minute() -> None:
    fixture = SourceFixture()

    def broken() -> AsyncIterator[ObjectKey]:
        raise OSError("no way there")

    async with fixture.running(Keys(broken)):
        for _ in range(20):
            await fixture.wait(60)

    assert len(fixture.failed) > 20
    assert 54 <= max(fixture.waits) <= 60


async def test_a_stream_that_has_worked_for_long_begins_with_a_short_wait() -> None:
    fixture, stream = SourceFixture(), KeyStream()

    async with fixture.running(Keys(stream.open)):
        for _ in range(5):
            await stream.give(OSError("lost"))
            await fixture.wait(60)
        fixture.clock.advance(60)
        await stream.give(OSError("lost"))

    assert fixture.waits[-2] > 10
    assert fixture.waits[-1] <= 1


async def test_a_value_that_is_not_a_key_is_reported_and_the_stream_continues() -> None:
    fixture, stream = SourceFixture(), KeyStream()

    async with fixture.running(Keys(stream.open)):
        await stream.give("here/web", app(), ObjectKey(None, "web"), WEB)

    assert [type(each.error) for each in fixture.failed] == [TypeError] * 3
    assert "yield ObjectKey(namespace, name) of App" in str(fixture.failed[0].error)
    assert "needs a namespace and a name" in str(fixture.failed[2].error)
    assert fixture.waits == [0.0] * 3
    assert [key for key, *_ in fixture.added] == [WEB]
    assert stream.opened == 1


async def test_a_value_that_is_not_a_stream_is_reported_and_retried() -> None:
    fixture = SourceFixture()

    async def forgot_to_yield() -> list[ObjectKey]:
        return [WEB]

    async with fixture.running(Keys(forgot_to_yield)):  # type: ignore[arg-type]
        await fixture.wait(1)

    assert len(fixture.failed) == 2
    assert "write it as `async def` with `yield`" in str(fixture.failed[0].error)


async def test_a_stream_whose_own_wait_was_cancelled_is_opened_again() -> None:
    fixture, stream = SourceFixture(), KeyStream()

    async with fixture.running(Keys(stream.open)):
        await stream.give(asyncio.CancelledError())
        await fixture.wait(1)
        await stream.give(WEB)

    assert str(fixture.failed[0].error) == "an operation that it awaited was cancelled"
    assert len(fixture.added) == 1


async def test_a_stream_that_never_waits_yields_to_other_tasks_and_is_closed() -> None:
    fixture = SourceFixture()
    is_closed = False

    async def endless() -> AsyncIterator[ObjectKey]:
        nonlocal is_closed
        try:
            while True:
                yield WEB
        finally:
            is_closed = True

    async with fixture.running(Keys(endless)):
        assert fixture.added

    assert is_closed


def test_a_stream_must_be_a_function() -> None:
    async def stream() -> AsyncIterator[ObjectKey]:
        yield WEB

    with pytest.raises(BadValue, match="do not call it"):
        Keys(stream())  # type: ignore[arg-type]


def test_a_source_is_named_after_its_function_unless_it_has_a_name() -> None:
    assert Keys(KeyStream().open).title == "KeyStream.open"
    assert Keys(KeyStream().open, name="hooks").title == "hooks"
    assert Every(30).title == "every 30 s"
