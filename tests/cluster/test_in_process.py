"""The in-process server: its resources, its users, and the errors that it survives."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from steersman.client import Client
from steersman.errors import Forbidden
from steersman.kinds import core_v1
from steersman.observe import ResponseFailed
from steersman_cluster.apiserver import InProcessTransport, Key, RevisionLog
from tests.clocks import FakeClock
from tests.embedded import EmbeddedServer, config_map, turns


def open_sockets() -> set[str]:
    found: set[str] = set()
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the directory itself, which is open while it is listed
            found.add(str(each.readlink()))
    return {each for each in found if each.startswith("socket:")}


async def test_the_server_in_the_process_creates_no_socket_no_thread_and_no_task() -> None:
    sockets, threads, tasks = open_sockets(), set(threading.enumerate()), asyncio.all_tasks()

    api = EmbeddedServer()
    async with api.watch("/api/v1/configmaps") as lines:
        await api.asked("POST", "/api/v1/namespaces/default/configmaps", config_map("a"))
        await lines.first(1)

        # Tasks of earlier tests may end at any time.
        assert open_sockets() <= sockets
        assert set(threading.enumerate()) <= threads
        assert asyncio.all_tasks() == tasks


async def test_servers_with_the_same_seed_and_clock_return_the_same_responses() -> None:
    responses = []
    for api in (EmbeddedServer(), EmbeddedServer()):
        pods = "/api/v1/namespaces/default/pods"
        await api.asked("POST", pods, {"metadata": {"generateName": "web-"}, "spec": SPEC})
        responses.append((await api.ask("GET", pods)).body)

    assert responses[0] == responses[1]


SPEC = {"containers": [{"name": "main", "image": "main:1"}]}

PUBLIC = ("/healthz", "/livez", "/readyz", "/version")
NOT_PUBLIC = ("/api", "/apis", "/openapi/v3", "/api/v1/namespaces", "/api/v1/secrets?watch=1")


async def test_a_request_without_a_token_can_read_only_public_paths(api: EmbeddedServer) -> None:
    public = [(await api.ask("GET", path, token="")).status for path in PUBLIC]
    refused = [(await api.ask("GET", path, token="")).status for path in NOT_PUBLIC]
    written = await api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "x"}}, token="")

    assert public == [200] * len(PUBLIC)
    assert refused == [403] * len(NOT_PUBLIC)
    assert written.json["message"] == (
        'namespaces is forbidden: User "system:anonymous" cannot create resource "namespaces" in'
        ' API group "" at the cluster scope'
    )


async def test_an_unknown_token_is_rejected_everywhere(api: EmbeddedServer) -> None:
    responses = [await api.ask("GET", path, token="guessed") for path in (*PUBLIC, *NOT_PUBLIC)]

    assert {response.status for response in responses} == {401}


async def test_a_client_has_the_user_of_its_transport(api: EmbeddedServer) -> None:
    def client_of(*groups: str) -> Client:
        transport = InProcessTransport(api.server, user="jane", groups=groups)
        return Client(transport, clock=api.clock, rng=api.server.store.rng, observe=print)

    with pytest.raises(Forbidden, match='User "jane" cannot list resource "configmaps"'):
        await client_of().list(core_v1.ConfigMap)
    await client_of("system:masters").list(core_v1.ConfigMap)


class FaultyJournal:
    """Stores nothing, and fails for an object of a certain name."""

    def load(self) -> tuple[int, int, Iterator[tuple[int, Key, dict[str, Any] | None]]]:
        return 1, 0, iter(())

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        if key.place.endswith("/broken"):
            raise ZeroDivisionError("the disk is on fire")

    def compact(self, revision: int) -> None:
        pass


async def test_a_crash_of_one_request_never_harms_another() -> None:
    api = EmbeddedServer(log=RevisionLog(FaultyJournal()))
    client, path = api.client(), "/api/v1/namespaces/default/configmaps"

    async with api.watch(path) as lines:
        async with asyncio.TaskGroup() as group:
            crashed = group.create_task(api.ask("POST", path, config_map("broken")))
            fine = [
                group.create_task(api.ask("POST", path, config_map(name))) for name in ("a", "b")
            ]
        events = await lines.seen(2)

    assert crashed.result().status == 500
    assert crashed.result().json["message"] == (
        "Internal error occurred: the server failed to handle the request; see its log"
    )
    assert [each.result().status for each in fine] == [201, 201]
    assert events == [("ADDED", "a"), ("ADDED", "b")]
    listed = await client.list(core_v1.ConfigMap, namespace="default")
    assert "broken" not in [each.name for each in listed.items]
    (observed,) = [each for each in api.observed if isinstance(each, ResponseFailed)]
    assert (observed.method, observed.path) == ("POST", path)


class BrokenClock(FakeClock):
    """Raises in ``sleep``."""

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        raise ZeroDivisionError("the spring is loose")
        yield


async def test_a_failed_watch_ends_with_an_error_event() -> None:
    api = EmbeddedServer(clock=BrokenClock())

    async with api.watch("/api/v1/namespaces?fieldSelector=metadata.name=default") as lines:
        events = [event async for event in lines]

    assert [each["type"] for each in events] == ["ADDED", "ERROR"]
    assert events[1]["object"]["code"] == 500
    assert [type(each) for each in api.observed] == [ResponseFailed]


async def test_a_closed_watch_leaves_no_task(api: EmbeddedServer) -> None:
    async with api.watch("/api/v1/namespaces?fieldSelector=metadata.name=default") as lines:
        await lines.first(1)
    tasks = asyncio.all_tasks()

    await api.namespace()
    await turns()

    assert asyncio.all_tasks() == tasks
    assert [event async for event in lines] == []
