"""A replica that has lost leadership starts and continues no reconcile.

A process that was suspended and resumed sees one effect: the clock has advanced, and all timers of
the meantime fire at once. The tests simulate that with ``advance``.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

import steersman as sm
from steersman.errors import ContextEnded, NotLeading, Unreachable
from steersman.manager import Runnable, Services
from steersman.manager.leader_election.fence import Fence
from steersman.observe import LeadershipGained, LeadershipLost, ReconcileFinished, RunnableFailed
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, operating
from tests.embedded import turns
from tests.real.definitions import Widget, widget

# Longer than any lease duration.
STOPPED_SECONDS = 60.0


class Store:
    """An external system that reconciles write to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.written: list[str] = []
        self.go = asyncio.Event()

    async def reconcile(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        self.begun.append(obj.name)
        await self.go.wait()
        self.written.append(obj.name)
        return sm.Done()


def suspend(scene: Scene, operator: Operator) -> None:
    """Suspend and resume the process; the lease is not renewed for now."""
    operator.transports[1].fixed_response = Unreachable("another replica has the lease")
    scene.clock.advance(STOPPED_SECONDS)


async def test_a_replica_that_is_not_the_leader_starts_and_continues_no_reconcile(
    scene: Scene,
) -> None:
    store = Store()
    for number in range(8):
        await scene.server.create(widget(HERE, f"more-{number}"))
    controller = sm.Controller(Widget, reconcile=store.reconcile, workers=2, slow_workers=0)

    async with operating(scene, controller, leader_election=True) as operator:
        await scene.until(lambda: len(store.begun) == 2, seconds=0.01)
        begun = len(store.begun)
        suspend(scene, operator)
        store.go.set()
        await scene.until(lambda: operator.seen(LeadershipLost))
        await scene.settle()

    assert store.written == []
    assert len(store.begun) == begun
    assert {each.outcome for each in operator.seen(ReconcileFinished)} <= {"cancelled"}


async def test_a_leader_that_regains_the_lease_repeats_interrupted_reconciles(scene: Scene) -> None:
    store = Store()
    controller = sm.Controller(Widget, reconcile=store.reconcile)

    async with operating(scene, controller, leader_election=True) as operator:
        await scene.until(lambda: len(store.begun) == 2, seconds=0.01)
        suspend(scene, operator)
        store.go.set()
        await scene.until(lambda: operator.seen(LeadershipLost))
        await scene.settle()
        assert store.written == []
        operator.transports[1].fixed_response = None
        await scene.until(lambda: len(operator.seen(LeadershipGained)) == 2, seconds=1.0)
        await scene.until(lambda: len(store.written) == 2, seconds=0.1)

    assert sorted(store.written) == ["one", "two"]


async def test_code_can_check_leadership_before_an_external_effect(scene: Scene) -> None:
    asked: list[Exception | None] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        ctx.check_leadership()
        asked.append(None)
        # The process is suspended here, without an await.
        scene.clock.advance(STOPPED_SECONDS)
        try:
            ctx.check_leadership()
        except NotLeading as error:
            asked.append(error)
            raise
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1, slow_workers=0)
    async with operating(scene, controller, leader_election=True) as operator:
        await scene.until(lambda: len(asked) == 2, seconds=0.01)
        await scene.until(lambda: operator.seen(ReconcileFinished))

    assert asked[0] is None
    assert "stopped an effect outside the cluster for Widget here/" in str(asked[1])
    assert operator.seen(ReconcileFinished)[0].outcome == "cancelled"


async def test_without_an_election_every_replica_leads(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        scene.clock.advance(STOPPED_SECONDS)
        ctx.check_leadership()
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))

    assert operator.seen(ReconcileFinished)[0].outcome == "done"


async def test_a_leadership_check_of_an_ended_context_is_an_error(scene: Scene) -> None:
    kept: list[sm.Context] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        kept.append(ctx)
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))

    with pytest.raises(ContextEnded):
        kept[0].check_leadership()


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_a_plain_function_can_check_leadership_in_its_thread(
    scene: Scene, hang: threading.Event
) -> None:
    asked: list[Exception] = []
    inside, answered = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        ctx.check_leadership()
        loop.call_soon_threadsafe(inside.set)
        hang.wait()
        try:
            ctx.check_leadership()
        except NotLeading as error:
            asked.append(error)
            raise
        finally:
            loop.call_soon_threadsafe(answered.set)
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1, slow_workers=0)
    async with operating(scene, controller, leader_election=True) as operator:
        await inside.wait()
        suspend(scene, operator)
        hang.set()
        await answered.wait()

    assert "another replica may lead now" in str(asked[0])


async def test_a_leader_runnable_is_cancelled_when_leadership_is_lost(scene: Scene) -> None:
    written: list[str] = []
    go, inside = asyncio.Event(), asyncio.Event()

    async def write(services: Services) -> None:
        services.check_leadership()
        inside.set()
        await go.wait()
        written.append("too late")

    runnables = (Runnable(write),)
    controller = sm.Controller(Widget, reconcile=Store().reconcile)
    async with operating(scene, controller, runnables=runnables, leader_election=True) as operator:
        await scene.until(inside.is_set, seconds=0.01)
        suspend(scene, operator)
        go.set()
        await scene.until(lambda: operator.seen(LeadershipLost))
        await scene.settle()

    assert written == []
    assert not operator.seen(RunnableFailed)


async def test_a_failed_request_does_not_let_a_former_leader_continue(scene: Scene) -> None:
    written: list[str] = []
    responses: list[asyncio.Future[None]] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        responses.append(asyncio.get_running_loop().create_future())
        # As for a connection that was closed meanwhile.
        with suppress(ConnectionError):
            await responses[-1]
        written.append(obj.name)
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1, slow_workers=0)
    async with operating(scene, controller, leader_election=True) as operator:
        await scene.until(lambda: responses, seconds=0.01)
        suspend(scene, operator)
        responses[0].set_exception(ConnectionResetError())
        await scene.until(lambda: operator.seen(LeadershipLost))
        await scene.settle()

    assert written == []


async def test_a_runnable_continues_if_the_lease_is_renewed_at_the_last_moment(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []
    late: list[bool] = []
    beats = asyncio.Event()
    # The runnable runs after the lease has expired, and before the response that renews it.
    monkeypatch.setattr(Fence, "leads", lambda fence: fence.is_open and not late)

    async def beat(services: Services) -> None:
        begun.append(scene.clock.monotonic())
        while True:
            await beats.wait()
            beats.clear()

    controller = sm.Controller(Widget, reconcile=Store().reconcile)
    async with operating(
        scene, controller, runnables=[Runnable(beat)], leader_election=True
    ) as operator:
        await scene.until(lambda: begun, seconds=0.01)
        late.append(True)
        beats.set()
        await turns()
        late.clear()
        await scene.until(lambda: len(begun) == 2, seconds=0.1)

    assert not operator.seen(LeadershipLost)
    assert not operator.seen(RunnableFailed)


async def test_a_reconcile_that_suppresses_cancellation_is_cancelled_again(scene: Scene) -> None:
    store = Store()

    async def stubborn(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        store.begun.append(obj.name)
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await store.go.wait()
                await scene.clock.sleep(0)
                store.written.append(obj.name)
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=stubborn, workers=1, slow_workers=0)
    async with operating(scene, controller, leader_election=True) as operator:
        await scene.until(lambda: store.begun, seconds=0.01)
        suspend(scene, operator)
        store.go.set()
        await scene.until(lambda: operator.seen(LeadershipLost))
        await scene.settle()

    assert store.written == []
    assert len(store.begun) == 1
