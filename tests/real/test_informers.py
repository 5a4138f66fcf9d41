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
from tests.real.rights import allow, new_account, token_for
from tests.real.running_informers import FastClock, Followed, Scenario, following, started, writing

E = TypeVar("E", bound=SteersmanError)


async def populate(client: Client, namespace: str) -> None:
    """What is there before the fault."""
    await create_config_maps(client, namespace, "doomed", "kept", "reborn", "unchanged")


async def stir(client: Client, namespace: str) -> None:
    """The writes during the disconnection."""
    for name in ("doomed", "reborn"):
        await client.delete(core_v1.ConfigMap, name, namespace=namespace)
    await create_config_maps(client, namespace, "new", "reborn")
    patch = MergePatch({"data": {"changed": "yes"}})
    await client.patch(core_v1.ConfigMap, "kept", patch, namespace=namespace)


def tells_all(scenario: Scenario[core_v1.ConfigMap]) -> None:
    """Whether handlers received all changes meanwhile, in order."""
    assert scenario.of("doomed") == ["Added", "Deleted"]
    assert scenario.of("reborn") == ["Added", "Deleted", "Added"]
    assert scenario.of("kept") == ["Added", "Updated"]
    assert scenario.of("new") == ["Added"]
    assert scenario.of("unchanged") == ["Added"]


def failures(seen: RecordingObserver, kind: type[E]) -> list[E]:
    """The errors of one kind that reflectors have met."""
    return [each.error for each in seen.of(WatchFailed) if isinstance(each.error, kind)]


@asynccontextmanager
async def followed_through_a_relay(
    control_plane: ControlPlane, namespace: str, *, settings: ReflectorSettings | None = None
) -> AsyncIterator[tuple[Relay, Followed[core_v1.ConfigMap]]]:
    """An informer of the ConfigMaps of a namespace, and its way to the server."""
    seen = RecordingObserver()
    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=seen, server=relay.url, clock=FastClock()) as client,
        following(
            client,
            core_v1.ConfigMap,
            seen=seen,
            scope=Scope(namespaces=(namespace,)),
            settings=settings,
        ) as followed,
    ):
        yield relay, followed


async def test_a_broken_watch_is_resumed_without_a_list(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)

    async with followed_through_a_relay(control_plane, namespace) as (relay, followed):
        async with writing(client, namespace):
            with relay.refusing():
                await stir(client, namespace)
        await followed.settled(client)

    tells_all(followed.scenario)
    assert followed.scenario.missed == set()
    assert isinstance(failures(followed.seen, Unreachable)[0].__cause__, ConnectionResetError)
    assert len(followed.seen.of(Listed)) == 1


async def test_the_kernel_detects_a_black_hole_and_the_watch_resumes(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)
    late = RecordingObserver()

    async with (
        followed_through_a_relay(control_plane, namespace) as (relay, followed),
        # Whose keepalive would say nothing for long: it waits for an answer, not for news.
        connected(control_plane, observe=late, server=relay.url) as other,
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
        await stir(client, namespace)

        async with started(
            other, core_v1.ConfigMap, seen=late, scope=Scope(namespaces=(namespace,))
        ) as beginner:
            await followed.settled(client)
            await beginner.settled(client)

    tells_all(followed.scenario)
    [lost] = failures(followed.seen, Unreachable)
    assert isinstance(lost.__cause__, OSError)
    assert lost.__cause__.errno == errno.ETIMEDOUT
    assert followed.seen.of(WatchSilent) == []
    assert len(followed.seen.of(Listed)) == 1


async def test_a_silent_connection_that_still_acknowledges_times_out_and_the_watch_resumes(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)
    settings = ReflectorSettings(silence_seconds=1.0)

    async with followed_through_a_relay(control_plane, namespace, settings=settings) as (
        relay,
        followed,
    ):
        relay.drop_packets(acknowledge=True)
        async with writing(client, namespace):
            await stir(client, namespace)
            cut = await followed.seen.first(WatchSilent)
        await followed.settled(client)

    tells_all(followed.scenario)
    assert cut.silent_seconds >= 1.0
    assert len(followed.seen.of(Listed)) == 1


@pytest.fixture(scope="session")
def forgetful(control_plane: ControlPlane) -> None:
    """The server does not know how things were in the beginning."""
    control_plane.forget_history()


@pytest.mark.usefixtures("forgetful")
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
        intercepted(control_plane, server=relay.url, observe=seen) as (ours, transport),
        following(
            ours, core_v1.ConfigMap, seen=seen, scope=Scope(namespaces=(namespace,))
        ) as followed,
    ):
        transport.change_next_watch(instead)
        async with writing(client, namespace):
            with relay.refusing():
                await stir(client, namespace)
        await followed.settled(client)

    tells_all(followed.scenario)
    assert {"doomed", "reborn"} <= followed.scenario.missed
    assert len(failures(seen, Expired)) == 1
    assert [each.reason for each in seen.of(Listed)] == ["start", "expired"]


@pytest.mark.usefixtures("forgetful")
async def test_a_list_with_a_410_response_between_two_pages_restarts(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        intercepted(control_plane, server=relay.url, observe=seen) as (ours, transport),
        following(
            ours,
            core_v1.ConfigMap,
            seen=seen,
            scope=Scope(namespaces=(namespace,)),
            settings=ReflectorSettings(page_size=2),
        ) as followed,
    ):
        transport.change_next_watch(watch_from_version_1)
        transport.hold_pages()
        relay.cut()
        await transport.turning_page.wait()
        await stir(client, namespace)
        await asyncio.to_thread(control_plane.forget_history)
        transport.release_pages()
        await followed.settled(client)

    tells_all(followed.scenario)
    assert followed.scenario.missed == {"doomed", "reborn"}
    assert len(failures(seen, Expired)) == 2
    assert len(seen.of(Listed)) == 2


async def test_a_list_replaces_changes_that_were_compacted_while_disconnected(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)

    async with followed_through_a_relay(control_plane, namespace) as (relay, followed):
        with relay.refusing():
            async with writing(client, namespace):
                await stir(client, namespace)
                await asyncio.to_thread(control_plane.forget_history)
        await followed.settled(client)

    tells_all(followed.scenario)
    assert {"doomed", "reborn"} <= followed.scenario.missed
    assert [each.reason for each in followed.seen.of(Listed)] == ["start", "expired"]


async def test_an_informer_continues_after_the_api_server_is_killed_and_restarted(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await populate(client, namespace)

    def crash() -> None:
        with control_plane.api_server.crashed():
            pass

    async with followed_through_a_relay(control_plane, namespace) as (_, followed):
        async with writing(client, namespace) as writer:
            await asyncio.to_thread(crash)
            writes = writer.writes
            await stir(client, namespace)
        await followed.settled(client)

    tells_all(followed.scenario)
    assert writes > 0
    assert failures(followed.seen, Unreachable)


async def test_a_token_that_was_rotated_is_used_when_the_watch_is_resumed(
    control_plane: ControlPlane, client: Client, namespace: str, tmp_path: Path
) -> None:
    await populate(client, namespace)
    await new_account(client, namespace, "robot")
    await allow(client, namespace, "robot", core_v1.ConfigMap)
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
        ) as ours,
        following(
            ours, core_v1.ConfigMap, seen=seen, scope=Scope(namespaces=(namespace,))
        ) as followed,
    ):
        (tmp_path / "token").write_text(await token_for(client, namespace, "robot"))
        await client.delete(core_v1.Secret, "old", namespace=namespace)
        await no_longer_accepted(control_plane, old)
        with relay.refusing():
            await stir(client, namespace)
        await followed.settled(client)

    tells_all(followed.scenario)
    assert len(seen.of(CredentialsRenewed)) == 1


async def no_longer_accepted(cluster: ControlPlane, token: str) -> None:
    """Wait until the server knows that a token is void: a real one goes by its memory for 10 s."""

    def status() -> int:
        with open_caller(cluster, token=token) as caller:
            return caller.call("GET", "/api").status

    while await asyncio.to_thread(status) != 401:
        await SystemClock().sleep(0.1)


# An API server that starts writes some fifty objects of its own; what is lost must be more.
LOST_WRITES = 300


@pytest.mark.parametrize("in_good_order", [False, True])
async def test_the_cache_is_reset_to_a_restored_servers_state_with_older_revisions(
    control_plane: ControlPlane, client: Client, namespace: str, *, in_good_order: bool
) -> None:
    await populate(client, namespace)

    async with followed_through_a_relay(
        control_plane, namespace, settings=ReflectorSettings(too_large_limit=2)
    ) as (relay, followed):
        await followed.settled(client)
        # So that the next that is received after a good end may be the server with the other
        # history, which would be silent about a version that it has not reached.
        relay.retry_connecting()
        await asyncio.to_thread(save, control_plane)
        for number in range(LOST_WRITES):
            patch = MergePatch({"data": {"number": str(number)}})
            await client.patch(core_v1.ConfigMap, "unchanged", patch, namespace=namespace)
        await stir(client, namespace)
        await followed.settled(client)
        followed.scenario.may_rewind = True

        await asyncio.to_thread(restore, control_plane, in_good_order=in_good_order)
        await create_config_maps(client, namespace, "afterwards")
        await followed.seen.first(HistoryRewound)
        await followed.settled(client)

    scenario = followed.scenario
    assert scenario.of("doomed") == ["Added", "Deleted", "Added"]
    assert scenario.of("reborn") == ["Added", "Deleted", "Added", "Deleted", "Added"]
    assert scenario.of("kept") == ["Added", "Updated", "Updated"]
    assert scenario.of("new") == ["Added", "Deleted"]
    assert scenario.missed == {"new", "reborn"}
    assert [each.reason for each in followed.seen.of(Listed)] == ["start", "behind"]
