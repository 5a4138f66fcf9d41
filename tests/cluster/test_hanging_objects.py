"""Hanging reconciles are reported, and do not affect readiness."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

import steersman as sm
from steersman.clock import SystemClock
from steersman.observe import (
    Listening,
    MetricsObserver,
    ReconcileFinished,
    SlowLaneChanged,
)
from steersman.wire import NetworkTransport, Request
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, operating
from tests.embedded import turns
from tests.real.definitions import Widget, widget


async def ready_page(operator: Operator) -> tuple[int, str]:
    (listening,) = operator.seen(Listening)
    async with (
        NetworkTransport(
            clock=SystemClock(), server=listening.address, tls=lambda: None
        ) as transport,
        transport.open(Request(method="GET", path="/readyz", query=(("verbose", ""),))) as response,
    ):
        return response.status, (await response.read(limit_bytes=10_000)).decode()


async def test_a_metric_and_the_readiness_detail_name_hanging_objects(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.name == "one":
            await scene.clock.sleep(1_000.0)
        return sm.Done()

    registry = CollectorRegistry()
    metrics = MetricsObserver(registry, clock=scene.clock)
    controller = sm.Controller(Widget, reconcile=reconcile, timeout_seconds=10.0)
    async with operating(scene, controller, health_address="127.0.0.1:0") as operator:
        await scene.until(
            lambda: any(each.outcome == "timed out" for each in operator.seen(ReconcileFinished)),
            seconds=1.0,
        )
        await scene.settle()
        status, page = await ready_page(operator)
        for each in operator.observed:
            metrics(each)

    assert status == 200
    assert f"[+]objects-of-widget ok: 1 slow or hanging: Widget {HERE}/one\n" in page
    labels = {"controller": "widget"}
    assert registry.get_sample_value("steersman_controller_hanging_objects", labels) == 1


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_hanging_plain_functions_do_not_delay_other_objects(
    scene: Scene, hang: threading.Event
) -> None:
    done: list[str] = []
    all_done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        if obj.name.startswith("hanging"):
            hang.wait()
        elif obj.name.startswith("healthy"):
            done.append(obj.name)
            if len(done) == 5:
                loop.call_soon_threadsafe(all_done.set)
        return sm.Done()

    for number in range(5):
        await scene.server.create(widget(HERE, f"healthy-{number}"))
    for number in range(8):
        await scene.server.create(widget(HERE, f"hanging-{number}"))
    # Long, because threads take real time, during which the test's clock advances.
    controller = sm.Controller(Widget, reconcile=reconcile, workers=2, timeout_seconds=10_000.0)
    async with operating(scene, controller) as operator:
        while not all_done.is_set():
            scene.clock.advance(0.01)
            await turns()
        outcomes = {each.outcome for each in operator.seen(ReconcileFinished)}
        hang.set()

    assert outcomes <= {"done"}
    assert sorted(done) == [f"healthy-{number}" for number in range(5)]
    assert max(each.slow for each in operator.seen(SlowLaneChanged)) <= 20
