"""Recorded events are written to the cluster or counted as dropped, and delay no caller."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from random import Random
from typing import Any

import pytest

from steersman.client import Client
from steersman.controller.events.recorder import MAX_NOTE_LENGTH, EventRecorder
from steersman.errors import Forbidden, Unreachable
from steersman.kinds import Unstructured, core_v1, meta_v1, rbac_v1
from steersman.names import ObjectRef
from steersman.observe import EventNotRecorded, EventsDropped
from steersman.wire import Request, Response
from steersman_cluster.apiserver import InProcessTransport
from tests.clocks import FakeClock, ManualClock
from tests.embedded import EmbeddedServer, turns

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


class Failing:
    """A transport that fails or hangs on demand, or loses only the response."""

    def __init__(self, inner: InProcessTransport, clock: FakeClock) -> None:
        self._inner = inner
        self._clock = clock
        self.is_dead = False
        self.is_hung = False
        self.is_slow = False
        self.loses_answers = 0
        self.asked: list[tuple[str, str]] = []

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        self.asked.append((request.method, request.path))
        if self.is_slow:
            await self._clock.sleep(1.0)
        if self.is_hung:
            await asyncio.Event().wait()
        if self.is_dead:
            raise Unreachable("cannot reach the server")
        async with self._inner.open(request) as response:
            if self.loses_answers:
                self.loses_answers -= 1
                raise Unreachable("the answer was lost on the way back", may_have_happened=True)
            yield response


class Scene:
    """A recorder on a server whose clock the test advances."""

    def __init__(self, source: str = "") -> None:
        self.api = EmbeddedServer(clock=ManualClock())
        self.transport = Failing(InProcessTransport(self.api.server), self.api.clock)
        client = Client(
            self.transport,
            clock=self.api.clock,
            rng=Random(0),
            observe=self.api.observed.append,
        )
        self.recorder = EventRecorder(
            client,
            controller="apps.example.com/appservice",
            instance="pod-0",
            clock=self.api.clock,
            rng=Random(0),
            observe=self.api.observed.append,
            source=source,
        )

    async def events(self, url: str = EVENTS) -> list[Any]:
        answer = await self.api.asked("GET", url)
        items: list[Any] = answer["items"]
        return items

    def observed(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.api.observed if isinstance(each, kind)]

    async def settle(self, seconds: int = 0) -> None:
        await self.api.after(seconds)
        for _ in range(20):
            await turns()


@asynccontextmanager
async def recording(source: str = "") -> AsyncIterator[Scene]:
    scene = Scene(source)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(scene.recorder.run())
        yield scene
        running.cancel()


def config_map(
    name: str = "web", *, namespace: str = "default", resource_version: str = "7"
) -> core_v1.ConfigMap:
    meta = meta_v1.ObjectMeta(
        name=name, namespace=namespace, uid=f"uid-of-{name}", resource_version=resource_version
    )
    return core_v1.ConfigMap(metadata=meta)


async def test_a_component_writes_core_events_and_each_repetition() -> None:
    async with recording("deployment-controller") as scene:
        for seconds in (0, 1, 1):
            await scene.settle(seconds)
            scene.recorder.record(config_map(), "Scaled", "to three")
        await scene.settle()

        (event,) = await scene.events("/api/v1/namespaces/default/events")

    assert event["source"] == {"component": "deployment-controller"}
    assert event["involvedObject"]["name"] == "web"
    assert (event["reason"], event["message"], event["count"]) == ("Scaled", "to three", 3)
    assert event["firstTimestamp"] == "2026-01-01T00:00:00Z"
    assert event["lastTimestamp"] == "2026-01-01T00:00:02Z"
    assert event["eventTime"] is None


async def test_an_event_is_written_about_its_object() -> None:
    async with recording() as scene:
        scene.recorder.record(
            config_map(),
            "Scaled",
            "to three",
            type="Warning",
            action="Scale",
            related=config_map("other"),
        )
        await scene.settle()

        (event,) = await scene.events()

    name = event["metadata"]["name"]
    assert name.startswith("web.")
    assert event["type"] == "Warning"
    assert (event["reason"], event["note"], event["action"]) == ("Scaled", "to three", "Scale")
    assert event["reportingController"] == "apps.example.com/appservice"
    assert event["reportingInstance"] == "pod-0"
    assert event["eventTime"] == "2026-01-01T00:00:00.000000Z"
    assert event["regarding"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "namespace": "default",
        "name": "web",
        "uid": "uid-of-web",
        "resourceVersion": "7",
    }
    assert event["related"]["name"] == "other"
    assert "series" not in event


async def test_recording_does_not_wait() -> None:
    async with recording() as scene:
        scene.recorder.record(config_map(), "Scaled", "to three")

        assert scene.transport.asked == []


async def test_repeated_events_become_a_series_that_is_written_once_a_minute() -> None:
    async with recording() as scene:
        scene.recorder.record(config_map(), "Failed", "no luck")
        await scene.settle()
        await scene.settle(5)
        scene.recorder.record(config_map(resource_version="8"), "Failed", "no luck")
        await scene.settle()
        (second,) = await scene.events()
        for _ in range(10):
            scene.recorder.record(config_map(), "Failed", "no luck")
            await scene.settle(1)
        (then,) = await scene.events()
        await scene.settle(60)
        (at_last,) = await scene.events()

    assert second["series"] == {"count": 2, "lastObservedTime": "2026-01-01T00:00:05.000000Z"}
    assert then["series"] == second["series"]
    assert at_last["series"] == {"count": 12, "lastObservedTime": "2026-01-01T00:00:14.000000Z"}
    assert at_last["eventTime"] == "2026-01-01T00:00:00.000000Z"


async def test_an_event_that_the_server_has_deleted_is_created_again_with_its_count() -> None:
    async with recording() as scene:
        scene.recorder.record(config_map(), "Failed", "no luck")
        await scene.settle()
        (event,) = await scene.events()
        await scene.api.asked("DELETE", f"{EVENTS}/{event['metadata']['name']}")
        scene.recorder.record(config_map(), "Failed", "no luck")
        await scene.settle()

        (event,) = await scene.events()

    assert event["series"]["count"] == 2


async def test_events_about_cluster_scoped_objects_are_in_default() -> None:
    role = rbac_v1.ClusterRole(metadata=meta_v1.ObjectMeta(name="system:Node:reader", uid="u"))
    async with recording() as scene:
        scene.recorder.record(role, "Seen", "it is there")
        await scene.settle()

        (event,) = await scene.events()

    assert event["regarding"]["name"] == "system:Node:reader"
    assert event["metadata"]["name"].startswith("system-node-reader.")


async def test_unstructured_objects_have_events_too() -> None:
    kind = Unstructured.of("example.com/v1", "Thing")
    meta = {"name": "one", "namespace": "default", "uid": "u"}
    thing = kind({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta})
    async with recording() as scene:
        scene.recorder.record(thing, "Seen", "it is there")
        await scene.settle()

        (event,) = await scene.events()

    assert (event["regarding"]["apiVersion"], event["regarding"]["kind"]) == (
        "example.com/v1",
        "Thing",
    )


@pytest.mark.parametrize(
    "text", ["x" * 5000, "ü" * 5000, "€" * 5000, "😀" * 5000, "half of \ud83d a pair", "a\x00b\n"]
)
async def test_the_server_accepts_any_text(text: str) -> None:
    async with recording() as scene:
        scene.recorder.record(config_map(), text.replace("\n", ""), text, action=text)
        await scene.settle()

        (event,) = await scene.events()

    assert len(event["note"].encode()) <= MAX_NOTE_LENGTH
    assert event["note"][0] == text[0]


async def test_an_unreachable_server_is_retried_with_backoff_and_gets_all_events_later() -> None:
    async with recording() as scene:
        scene.transport.is_dead = True
        for number in range(20):
            scene.recorder.record(config_map(f"web-{number}"), "Failed", "no luck")
        await scene.settle(10)
        attempts = len(scene.transport.asked)
        scene.transport.is_dead = False
        await scene.settle(30)

        assert attempts <= 10
        assert len(await scene.events()) == 20
        assert scene.observed(EventsDropped) == []


async def test_an_unreachable_server_is_not_retried_for_ever() -> None:
    async with recording() as scene:
        scene.transport.is_dead = True
        scene.recorder.record(config_map(), "Failed", "no luck")
        await scene.settle(600)

        (gone,) = scene.observed(EventNotRecorded)
        asked = len(scene.transport.asked)
        await scene.settle(600)

    assert gone.controller == "appservice"
    assert gone.ref == ObjectRef("ConfigMap", "default", "web")
    assert len(scene.transport.asked) == asked


async def test_a_lost_response_does_not_create_a_second_event() -> None:
    async with recording() as scene:
        scene.transport.loses_answers = 1
        scene.recorder.record(config_map(), "Failed", "no luck")
        await scene.settle(5)

        assert len(await scene.events()) == 1
        assert scene.observed(EventNotRecorded) == []


async def test_a_terminating_namespace_gets_no_further_events() -> None:
    async with recording() as scene:
        namespace = await scene.api.namespace()
        pods = f"/api/v1/namespaces/{namespace}/configmaps"
        held = {"metadata": {"name": "held", "finalizers": ["example.com/held"]}}
        await scene.api.asked("POST", pods, held)
        await scene.api.ask("DELETE", f"/api/v1/namespaces/{namespace}")
        for number in range(20):
            obj = config_map("web", namespace=namespace)
            scene.recorder.record(obj, "Failed", f"no luck: {number}")
        await scene.settle(60)

        (observed,) = scene.observed(EventNotRecorded)
        assert isinstance(observed.error, Forbidden)
        assert sum(each.count for each in scene.observed(EventsDropped)) == 19
        assert len(scene.transport.asked) == 1
        scene.recorder.record(config_map(), "Scaled", "elsewhere all is well")
        await scene.settle()
        assert len(await scene.events()) == 1


async def test_too_many_events_about_one_object_are_dropped_and_counted() -> None:
    async with recording() as scene:
        for number in range(1000):
            scene.recorder.record(config_map(), "Failed", f"attempt {number}")
        scene.recorder.record(config_map("other"), "Failed", "once")
        for _ in range(10):
            await scene.settle()

        assert len(await scene.events()) == 26
        assert sum(each.count for each in scene.observed(EventsDropped)) == 975
        assert len(scene.observed(EventsDropped)) == 1


async def test_drops_are_reported_once_a_minute() -> None:
    async with recording() as scene:
        for number in range(200):
            scene.recorder.record(config_map(), "Failed", f"attempt {number}")
            await scene.settle(1)

        assert 2 <= len(scene.observed(EventsDropped)) <= 4


async def test_queued_events_are_flushed_at_the_end() -> None:
    scene = Scene()
    for number in range(3):
        scene.recorder.record(config_map(), "Failed", f"attempt {number}")
        scene.recorder.record(config_map(), "Failed", f"attempt {number}")

    await scene.recorder.flush(within_seconds=5.0)

    events = await scene.events()
    assert [event["series"]["count"] for event in events] == [2, 2, 2]
    assert scene.observed(EventsDropped) == []


async def test_counts_that_were_not_due_yet_are_flushed_too() -> None:
    async with recording() as scene:
        for _ in range(9):
            scene.recorder.record(config_map(), "Failed", "no luck")
            await scene.settle()

    await scene.recorder.flush(within_seconds=5.0)

    (event,) = await scene.events()
    assert event["series"]["count"] == 9


@pytest.mark.parametrize("how", ["is_dead", "is_hung"])
async def test_a_flush_ends_in_time_and_reports_what_was_lost(how: str) -> None:
    scene = Scene()
    setattr(scene.transport, how, True)
    for number in range(3):
        scene.recorder.record(config_map(), "Failed", f"attempt {number}")

    async with asyncio.TaskGroup() as group:
        flushing = group.create_task(scene.recorder.flush(within_seconds=5.0))
        await scene.settle(6)
        assert flushing.done()

    (dropped,) = scene.observed(EventsDropped)
    assert dropped.count == 3


async def test_an_event_in_flight_at_the_end_is_flushed() -> None:
    async with recording() as scene:
        scene.transport.is_hung = True
        scene.recorder.record(config_map(), "Failed", "no luck")
        await scene.settle()
    scene.transport.is_hung = False

    await scene.recorder.flush(within_seconds=5.0)

    assert len(await scene.events()) == 1


async def test_a_flush_waits_for_the_write_in_flight() -> None:
    async with recording() as scene:
        scene.transport.is_slow = True
        for number in range(3):
            scene.recorder.record(config_map(), "Failed", f"attempt {number}")
        await turns()
        async with asyncio.TaskGroup() as group:
            flushing = group.create_task(scene.recorder.flush(within_seconds=5.0))
            await scene.settle(4)
            assert flushing.done()

        assert len(await scene.events()) == 3
        assert scene.observed(EventsDropped) == []


WHOSE: ContextVar[str] = ContextVar("whose", default="default")


async def test_the_writer_task_starts_with_the_first_event_and_outlives_its_caller() -> None:
    scene = Scene()
    begun: list[str] = []
    async with asyncio.TaskGroup() as group:
        running: list[asyncio.Task[None]] = []

        async def run() -> None:
            begun.append(WHOSE.get())
            await scene.recorder.run()

        scene.recorder.start_with(lambda: running.append(group.create_task(run())))
        await scene.settle()
        assert begun == []

        WHOSE.set("a reconcile's")
        for name in ("one", "two"):
            scene.recorder.record(config_map(name), "Seen", "it was")
        await scene.settle()
        assert begun == ["default"]
        assert len(await scene.events()) == 2
        running[0].cancel()


async def test_events_recorded_without_a_running_writer_are_written_by_the_flush() -> None:
    scene = Scene()
    scene.recorder.start_with(lambda: None)
    scene.recorder.record(config_map(), "Seen", "it was")
    await scene.settle()
    assert await scene.events() == []

    await scene.recorder.flush(within_seconds=1.0)

    assert len(await scene.events()) == 1
