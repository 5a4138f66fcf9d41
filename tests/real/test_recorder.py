"""The server accepts a recorder's events, and kubectl shows them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from steersman.client import Client, Fields
from steersman.clock import SystemClock
from steersman.controller.events.recorder import EventRecorder
from steersman.errors import Forbidden
from steersman.kinds import Resource, core_v1, events_v1, meta_v1, rbac_v1
from steersman.observe import EventNotRecorded
from steersman_cluster.testing import RealControlPlane
from tests.real.clients import connected
from tests.real.recording_observer import RecordingObserver
from tests.real.rights import new_account


@asynccontextmanager
async def recording(client: Client, seen: RecordingObserver) -> AsyncIterator[EventRecorder]:
    """A running recorder, which writes all events at the end of the block."""
    clock = SystemClock()
    recorder = EventRecorder(
        client,
        controller="example.com/widgets",
        instance="widgets-0",
        clock=clock,
        rng=Random(),
        observe=seen,
    )
    async with asyncio.TaskGroup() as group:
        running = group.create_task(recorder.run())
        yield recorder
        running.cancel()
    await recorder.flush(within_seconds=10.0)


async def new_config_map(client: Client, namespace: str, name: str = "web") -> core_v1.ConfigMap:
    meta = meta_v1.ObjectMeta(name=name, namespace=namespace)
    return await client.create(core_v1.ConfigMap(metadata=meta))


async def described_events(client: Client, obj: Resource) -> tuple[core_v1.Event, ...]:
    """The events about an object, selected as by ``kubectl describe``."""
    selector = Fields.equal(
        {
            "involvedObject.kind": obj.kind,
            "involvedObject.name": obj.name,
            "involvedObject.uid": obj.uid,
        }
    )
    found = await client.list(core_v1.Event, namespace=obj.namespace or "default", fields=selector)
    return found.items


async def test_kubectl_describe_finds_an_event(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    obj = await new_config_map(client, namespace)
    other = await new_config_map(client, namespace, "other")

    async with recording(client, seen) as recorder:
        recorder.record(obj, "Scaled", "to three", action="Scale", related=other)

    (event,) = await described_events(client, obj)
    assert (event.type, event.reason, event.message) == ("Normal", "Scaled", "to three")
    assert event.reporting_component == "example.com/widgets"
    assert event.event_time is not None
    assert event.related is not None
    assert event.related.uid == other.uid


async def test_repeated_events_are_one_event_with_a_count(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    obj = await new_config_map(client, namespace)

    async with recording(client, seen) as recorder:
        recorder.record(obj, "Failed", "no luck", type="Warning")
        await wait_for_events(client, namespace, 1)
        for _ in range(9):
            recorder.record(obj, "Failed", "no luck", type="Warning")

    (event,) = await described_events(client, obj)
    assert event.series is not None
    assert event.series.count == 10
    assert event.series.last_observed_time is not None
    assert event.event_time is not None
    assert event.series.last_observed_time >= event.event_time


async def test_an_event_repeated_before_its_first_write_is_created_as_a_series(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    obj = await new_config_map(client, namespace)

    async with recording(client, seen) as recorder:
        for _ in range(3):
            recorder.record(obj, "Failed", "no luck", type="Warning")

    (event,) = await described_events(client, obj)
    assert event.series is not None
    assert event.series.count == 3


@pytest.mark.parametrize("text", ["x" * 5000, "€" * 5000, "half of \ud83d a pair", "a\x00b\nc"])
async def test_the_server_accepts_events_with_any_text(
    client: Client, namespace: str, seen: RecordingObserver, text: str
) -> None:
    obj = await new_config_map(client, namespace)

    async with recording(client, seen) as recorder:
        recorder.record(obj, text, text, action=text)

    (event,) = await described_events(client, obj)
    assert event.message is not None
    assert event.message[0] == text[0]
    assert seen.of(EventNotRecorded) == []


async def test_an_object_with_a_strange_name_and_no_namespace_has_events(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    meta = meta_v1.ObjectMeta(name=f"{namespace}:Reader:of-all")
    role = await client.create(rbac_v1.ClusterRole(metadata=meta))

    async with recording(client, seen) as recorder:
        recorder.record(role, "Seen", "it exists")

    (event,) = await described_events(client, role)
    assert event.namespace == "default"
    await client.delete(rbac_v1.ClusterRole, role.name)
    await client.delete(events_v1.Event, event.name, namespace="default")


async def test_without_permission_only_events_are_lost(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    obj = await new_config_map(client, namespace)
    token = await new_account(client, namespace, "unprivileged")

    async with (
        connected(control_plane, observe=seen, token=token) as unprivileged,
        recording(unprivileged, seen) as recorder,
    ):
        for number in range(5):
            recorder.record(obj, "Scaled", f"to {number}")

    (lost,) = seen.of(EventNotRecorded)
    assert isinstance(lost.error, Forbidden)
    assert await described_events(client, obj) == ()


async def test_a_terminating_namespace_accepts_no_events(
    client: Client, seen: RecordingObserver
) -> None:
    meta = meta_v1.ObjectMeta(generate_name="terminating-")
    terminating = await client.create(core_v1.Namespace(metadata=meta))
    obj = await client.create(
        core_v1.ConfigMap(
            metadata=meta_v1.ObjectMeta(
                name="held", namespace=terminating.name, finalizers=("example.com/held",)
            )
        )
    )
    await client.delete(core_v1.Namespace, terminating.name)

    async with recording(client, seen) as recorder:
        recorder.record(obj, "Scaled", "to three")

    (lost,) = seen.of(EventNotRecorded)
    assert isinstance(lost.error, Forbidden)
    assert "NamespaceTerminating" in {cause.reason for cause in lost.error.causes}


async def wait_for_events(client: Client, namespace: str, number: int) -> None:
    """Wait until this number of events exists."""
    clock = SystemClock()
    async with clock.timeout(30.0):
        while len((await client.list(events_v1.Event, namespace=namespace)).items) < number:
            await clock.sleep(0.02)
