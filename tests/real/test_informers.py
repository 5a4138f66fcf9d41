"""Informers under faults: their objects and their deltas are correct afterwards."""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from steersman.cache import Scope
from steersman.client import Client, MergePatch, TokenFile
from steersman.clock import SystemClock
from steersman.errors import Expired, SteersmanError, Unreachable
from steersman.kinds import core_v1, meta_v1
from steersman.observe import (
    CredentialsRenewed,
    HistoryRewound,
    Listed,
    WatchFailed,
    WatchSilent,
)
from steersman.watch import ReflectorSettings
from steersman.wire import Request
from steersman.wire.sockets import (
    PROBE_SECONDS,
    PROBES,
    SILENT_SECONDS,
    UNACKNOWLEDGED_SECONDS,
)
from steersman_cluster.testing import ControlPlane
from tests.real.black_hole import keepalive_settings, shorten_keepalive, sockets_to
from tests.real.callers import open_caller
from tests.real.clients import connected
from tests.real.etcd_backup import restore, save
from tests.real.intercepting_transport import intercepted, list_at_version_1, watch_from_version_1
from tests.real.objects import create_config_maps
from tests.real.recording_observer import RecordingObserver
from tests.real.relay import Relay, relay_to
from tests.real.rights import grant_reads, new_account, token_for
from tests.real.running_informers import (
    CheckingHandler,
    FastClock,
    RunningInformer,
    running_informer,
    running_writer,
    synced_informer,
)

E = TypeVar("E", bound=SteersmanError)


async def populate(client: Client, namespace: str) -> None:
    """Create the objects that exist before the fault."""
    await create_config_maps(client, namespace, "doomed", "kept", "reborn", "unchanged")


async def change_objects(client: Client, namespace: str) -> None:
    """The writes during the disconnection."""
    for name in ("doomed", "reborn"):
        await client.delete(core_v1.ConfigMap, name, namespace=namespace)
    await create_config_maps(client, namespace, "new", "reborn")
    patch = MergePatch({"data": {"changed": "yes"}})
    await client.patch(core_v1.ConfigMap, "kept", patch, namespace=namespace)


def assert_deltas_of_scenario(handler: CheckingHandler[core_v1.ConfigMap]) -> None:
    """Assert that the handlers received all changes in order."""
    assert handler.of("doomed") == ["Added", "Deleted"]
    assert handler.of("reborn") == ["Added", "Deleted", "Added"]
    assert handler.of("kept") == ["Added", "Updated"]
    assert handler.of("new") == ["Added"]
    assert handler.of("unchanged") == ["Added"]


def failures(seen: RecordingObserver, kind: type[E]) -> list[E]:
    """The reflectors' errors of one type."""
    return [each.error for each in seen.of(WatchFailed) if isinstance(each.error, kind)]


@asynccontextmanager
async def informer_through_relay(
    control_plane: ControlPlane, namespace: str, *, settings: ReflectorSettings | None = None
) -> AsyncIterator[tuple[Relay, RunningInformer[core_v1.ConfigMap]]]:
    """An informer of the ConfigMaps of a namespace, and its relay to the server."""
    seen = RecordingObserver()
    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=seen, server=relay.url, clock=FastClock()) as client,
        synced_informer(
            client,
            core_v1.ConfigMap,
            seen=seen,
            scope=Scope(namespaces=(namespace,)),
            settings=settings,
        ) as running,
    ):
        yield relay, running


async def test_a_broken_watch_is_resumed_without_a_list(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)

    async with informer_through_relay(control_plane, namespace) as (relay, running):
        async with running_writer(client, namespace):
            with relay.refusing():
                await change_objects(client, namespace)
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert running.handler.missed == set()
    assert isinstance(failures(running.seen, Unreachable)[0].__cause__, ConnectionResetError)
    assert len(running.seen.of(Listed)) == 1


async def test_the_kernel_detects_a_black_hole_and_the_watch_resumes(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)
    late_seen = RecordingObserver()

    async with (
        informer_through_relay(control_plane, namespace) as (relay, running),
        # Keepalive sends no probes for an unacknowledged request: TCP_USER_TIMEOUT applies.
        connected(control_plane, observe=late_seen, server=relay.url) as other,
    ):
        await other.get(core_v1.ConfigMap, "kept", namespace=namespace)
        with sockets_to(relay.port) as sockets:
            assert len(sockets) >= 2
            for each in sockets:
                assert keepalive_settings(each) == {
                    "on": 1,
                    "idle": SILENT_SECONDS,
                    "interval": PROBE_SECONDS,
                    "count": PROBES,
                    "user_timeout": UNACKNOWLEDGED_SECONDS * 1000,
                }
                shorten_keepalive(each, after_seconds=2)
        relay.drop_packets(acknowledge=False)
        await change_objects(client, namespace)

        async with running_informer(
            other, core_v1.ConfigMap, seen=late_seen, scope=Scope(namespaces=(namespace,))
        ) as late_informer:
            await running.wait_until_current(client)
            await late_informer.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    [lost] = failures(running.seen, Unreachable)
    assert isinstance(lost.__cause__, OSError)
    assert lost.__cause__.errno == errno.ETIMEDOUT
    assert running.seen.of(WatchSilent) == []
    assert len(running.seen.of(Listed)) == 1


async def test_a_silent_connection_that_still_acknowledges_times_out_and_the_watch_resumes(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)
    settings = ReflectorSettings(silence_seconds=1.0)

    async with informer_through_relay(control_plane, namespace, settings=settings) as (
        relay,
        running,
    ):
        relay.drop_packets(acknowledge=True)
        async with running_writer(client, namespace):
            await change_objects(client, namespace)
            cut = await running.seen.first(WatchSilent)
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert cut.silent_seconds >= 1.0
    assert len(running.seen.of(Listed)) == 1


@pytest.fixture(scope="session")
def compacted(control_plane: ControlPlane) -> None:
    """etcd is compacted: watches from early revisions get a 410 response."""
    control_plane.forget_history()


@pytest.mark.usefixtures("compacted")
@pytest.mark.parametrize("instead", [watch_from_version_1, list_at_version_1])
async def test_a_watch_with_a_410_response_is_followed_by_a_list(
    control_plane: ControlPlane,
    client: Client,
    namespace: str,
    instead: Callable[[Request], Request],
) -> None:
    await populate(client, namespace)
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        intercepted(control_plane, server=relay.url, observe=seen) as (relayed, transport),
        synced_informer(
            relayed, core_v1.ConfigMap, seen=seen, scope=Scope(namespaces=(namespace,))
        ) as running,
    ):
        transport.change_next_watch(instead)
        async with running_writer(client, namespace):
            with relay.refusing():
                await change_objects(client, namespace)
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert {"doomed", "reborn"} <= running.handler.missed
    assert len(failures(seen, Expired)) == 1
    assert [each.reason for each in seen.of(Listed)] == ["start", "expired"]


@pytest.mark.usefixtures("compacted")
async def test_a_list_with_a_410_response_between_two_pages_restarts(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        intercepted(control_plane, server=relay.url, observe=seen) as (relayed, transport),
        synced_informer(
            relayed,
            core_v1.ConfigMap,
            seen=seen,
            scope=Scope(namespaces=(namespace,)),
            settings=ReflectorSettings(page_size=2),
        ) as running,
    ):
        transport.change_next_watch(watch_from_version_1)
        transport.block_pages()
        relay.cut()
        await transport.page_requested.wait()
        await change_objects(client, namespace)
        await asyncio.to_thread(control_plane.forget_history)
        transport.release_pages()
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert running.handler.missed == {"doomed", "reborn"}
    assert len(failures(seen, Expired)) == 2
    assert len(seen.of(Listed)) == 2


async def test_a_list_replaces_changes_that_were_compacted_while_disconnected(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)

    async with informer_through_relay(control_plane, namespace) as (relay, running):
        with relay.refusing():
            async with running_writer(client, namespace):
                await change_objects(client, namespace)
                await asyncio.to_thread(control_plane.forget_history)
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert {"doomed", "reborn"} <= running.handler.missed
    assert [each.reason for each in running.seen.of(Listed)] == ["start", "expired"]


async def test_an_informer_continues_after_the_api_server_is_killed_and_restarted(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)

    def crash() -> None:
        with control_plane.api_server.crashed():
            pass

    async with informer_through_relay(control_plane, namespace) as (_, running):
        async with running_writer(client, namespace) as writer:
            await asyncio.to_thread(crash)
            writes = writer.writes
            await change_objects(client, namespace)
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert writes > 0
    assert failures(running.seen, Unreachable)


async def test_a_token_that_was_rotated_is_used_when_the_watch_is_resumed(
    control_plane: ControlPlane, client: Client, namespace: str, tmp_path: Path
) -> None:
    await populate(client, namespace)
    await new_account(client, namespace, "robot")
    await grant_reads(client, namespace, "robot", core_v1.ConfigMap)
    await client.create(
        core_v1.Secret(metadata=meta_v1.ObjectMeta(name="old", namespace=namespace))
    )
    old = await token_for(client, namespace, "robot", bound_to="old")
    (tmp_path / "token").write_text(old)
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        connected(
            control_plane,
            observe=seen,
            clock=FastClock(),
            server=relay.url,
            login=TokenFile(path=tmp_path / "token"),
        ) as relayed,
        synced_informer(
            relayed, core_v1.ConfigMap, seen=seen, scope=Scope(namespaces=(namespace,))
        ) as running,
    ):
        (tmp_path / "token").write_text(await token_for(client, namespace, "robot"))
        await client.delete(core_v1.Secret, "old", namespace=namespace)
        await wait_until_rejected(control_plane, old)
        with relay.refusing():
            await change_objects(client, namespace)
        await running.wait_until_current(client)

    assert_deltas_of_scenario(running.handler)
    assert len(seen.of(CredentialsRenewed)) == 1


async def wait_until_rejected(cluster: ControlPlane, token: str) -> None:
    """Wait until the server rejects a token: kube-apiserver caches a successful review for 10 s."""

    def status() -> int:
        with open_caller(cluster, token=token) as caller:
            return caller.call("GET", "/api").status

    while await asyncio.to_thread(status) != 401:
        await SystemClock().sleep(0.1)


# A starting API server writes about fifty objects; the number of lost writes must be larger.
LOST_WRITES = 300


@pytest.mark.parametrize("gracefully", [False, True])
async def test_the_cache_is_reset_to_a_restored_servers_state_with_older_revisions(
    control_plane: ControlPlane, client: Client, namespace: str, *, gracefully: bool
) -> None:
    await populate(client, namespace)

    async with informer_through_relay(
        control_plane, namespace, settings=ReflectorSettings(too_large_limit=2)
    ) as (relay, running):
        await running.wait_until_current(client)
        # After a normal end of the watch, the relay connects to the restored server, which
        # sends no events for a resource version that it has not reached.
        relay.retry_connecting()
        await asyncio.to_thread(save, control_plane)
        for number in range(LOST_WRITES):
            patch = MergePatch({"data": {"number": str(number)}})
            await client.patch(core_v1.ConfigMap, "unchanged", patch, namespace=namespace)
        await change_objects(client, namespace)
        await running.wait_until_current(client)
        running.handler.may_rewind = True

        await asyncio.to_thread(restore, control_plane, gracefully=gracefully)
        await create_config_maps(client, namespace, "afterwards")
        await running.seen.first(HistoryRewound)
        await running.wait_until_current(client)

    handler = running.handler
    assert handler.of("doomed") == ["Added", "Deleted", "Added"]
    assert handler.of("reborn") == ["Added", "Deleted", "Added", "Deleted", "Added"]
    assert handler.of("kept") == ["Added", "Updated", "Updated"]
    assert handler.of("new") == ["Added", "Deleted"]
    assert handler.missed == {"new", "reborn"}
    assert [each.reason for each in running.seen.of(Listed)] == ["start", "behind"]
