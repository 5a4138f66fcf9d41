"""Requests to a paused, stopped or restarted server: deadlines, retries and lost responses."""

import asyncio

import pytest

from steersman.client import Client, ObjectWritten, RetryPolicy
from steersman.errors import DeadlinePassed, Expired, Unreachable
from steersman.kinds import core_v1, meta_v1
from steersman.observe import RequestRetried, ignore
from steersman_cluster.testing import RealControlPlane
from tests.clocks import ManualClock
from tests.real.clients import connected
from tests.real.objects import config_map, create_config_maps
from tests.real.recording_observer import RecordingObserver
from tests.real.relay import relay_to

# An API server restarts within seconds, which is longer than the default policy retries.
PATIENT = RetryPolicy(attempts=20, first_seconds=0.2, max_seconds=2.0)


async def test_a_read_fails_at_its_deadline_if_the_server_sends_nothing(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    impatient = client.with_settings(deadline_seconds=0.2)
    started_at = client.clock.monotonic()

    with control_plane.api_server.paused():
        with pytest.raises(DeadlinePassed, match=r"no response within 0\.2 s"):
            await impatient.get(core_v1.ConfigMap, "settings", namespace=namespace)

    assert 0.2 <= client.clock.monotonic() - started_at < 5.0


async def test_a_write_that_times_out_may_have_been_carried_out(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    # This opens a connection, on which the next request is sent.
    await client.list(core_v1.ConfigMap, namespace=namespace)
    impatient = client.with_settings(deadline_seconds=0.2)

    with control_plane.api_server.paused():
        with pytest.raises(DeadlinePassed, match="The write may have happened") as late:
            await impatient.create(config_map(namespace, "settings"))

    assert late.value.may_have_happened
    assert seen.last_attempts == 1


async def test_a_watch_that_does_not_start_by_its_deadline_fails(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    impatient = client.with_settings(deadline_seconds=0.2)

    with control_plane.api_server.paused():
        with pytest.raises(DeadlinePassed):
            async with impatient.watch(core_v1.ConfigMap, namespace=namespace):
                pass


async def test_a_started_watch_outlives_the_deadline(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    clock = ManualClock()

    async with (
        connected(control_plane, observe=ignore, clock=clock) as watcher,
        watcher.watch(core_v1.ConfigMap, namespace=namespace, bookmarks=False) as events,
    ):
        clock.advance(2 * watcher.settings.deadline_seconds)
        created = await client.create(config_map(namespace, "settings"))
        received = await anext(events)

    assert received == ObjectWritten(created, is_new=True)


async def test_reads_are_retried_while_the_server_restarts(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    await create_config_maps(client, namespace, "settings")
    patient = client.with_settings(retry=PATIENT)

    async with asyncio.TaskGroup() as group:
        restart = group.create_task(asyncio.to_thread(control_plane.api_server.restart))
        while not restart.done():
            found = await patient.get(core_v1.ConfigMap, "settings", namespace=namespace)

            assert found.name == "settings"

    assert {each.verb for each in seen.of(RequestRetried)} == {"get"}


async def test_a_write_whose_response_is_lost_is_not_retried(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    unnamed = core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(generate_name="settings-", namespace=namespace)
    )
    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=lambda _: None, server=relay.url) as relayed,
    ):
        await relayed.list(core_v1.ConfigMap, namespace=namespace)
        relay.drop_responses()

        with pytest.raises(Unreachable, match="read before writing again") as loss:
            await relayed.create(unnamed)

    assert loss.value.may_have_happened
    assert len((await client.list(core_v1.ConfigMap, namespace=namespace)).items) == 1


async def test_a_write_whose_connection_was_refused_is_retried(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    patient = client.with_settings(retry=PATIENT)

    async with asyncio.TaskGroup() as group:
        with control_plane.api_server.stopped():
            creation = group.create_task(patient.create(config_map(namespace, "settings")))
            await seen.first(RequestRetried)

    assert await client.get(core_v1.ConfigMap, "settings", namespace=namespace) == creation.result()


async def test_a_watch_from_a_compacted_revision_raises_expired(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")
    patient = client.with_settings(retry=PATIENT)
    pages = patient.pages(core_v1.ConfigMap, namespace=namespace, page_size=2)
    version = (await anext(pages)).resource_version

    await asyncio.to_thread(control_plane.forget_history)

    with pytest.raises(Expired, match="List again"):
        await anext(pages)
    with pytest.raises(Expired, match="List again"):
        await client.list(
            core_v1.ConfigMap,
            namespace=namespace,
            resource_version=version,
            resource_version_match="Exact",
        )
    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=version
    ) as events:
        with pytest.raises(Expired, match="List again"):
            await anext(events)
