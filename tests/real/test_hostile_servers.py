"""Operators and informers behind a proxy that hangs, stalls and floods."""

import zlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import steersman as sm
from steersman.cache import Informer, Scope
from steersman.client import Client, MergePatch
from steersman.clock import SystemClock
from steersman.errors import EndlessList, InvalidResponse
from steersman.kinds import Unstructured, core_v1
from steersman.manager.settings.address import ListenAddress
from steersman.observe import (
    ControllerStarted,
    Listening,
    OutOfOrder,
    ReadinessChanged,
    ReconcileFinished,
    ServerRecovered,
    ServerUnresponsive,
    WatchFailed,
    ignore,
)
from steersman.wire import Reply, Request
from steersman_cluster.testing import ControlPlane
from tests.cluster.test_probes import ask
from tests.real.clients import connected
from tests.real.definitions import GROUP, definition, install, of_type, version
from tests.real.fault_proxy import FaultProxy, ProxiedOperator, fault_proxy, running_operator
from tests.real.objects import config_map, create_config_maps
from tests.real.recording_observer import RecordingObserver

WITHIN_SECONDS = 60.0
PROBES: Any = {"health_address": "127.0.0.1:0"}
NO_PROBES: Any = {"health_address": ""}

Ghost = Unstructured.of(f"{GROUP}/v1", "Ghost")
GHOSTS = definition(
    "Ghost", "ghosts", version(spec=of_type("object", properties={"size": of_type("integer")}))
)


async def do_nothing(obj: Any, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def config_map_controller() -> sm.Controller[core_v1.ConfigMap]:
    return sm.Controller(core_v1.ConfigMap, reconcile=do_nothing)


async def until(seen: RecordingObserver, condition: Callable[[], object]) -> None:
    async with SystemClock().timeout(WITHIN_SECONDS):
        while not condition():
            await seen.more()


async def probe(operator: ProxiedOperator, path: str) -> tuple[int, str]:
    address = next(each for each in operator.seen.of(Listening) if each.what == "probes").address
    return await ask(ListenAddress("127.0.0.1", int(address.rpartition(":")[2])), path)


async def test_an_operator_is_unready_but_alive_while_the_server_hangs(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "one")
    settings: Any = {"server_probe_seconds": 2.0, "server_timeout_seconds": 5.0, **PROBES}

    async with (
        fault_proxy(control_plane) as proxy,
        running_operator(proxy, namespace, config_map_controller(), **settings) as operator,
    ):
        await until(operator.seen, lambda: operator.seen.of(ReadinessChanged))
        assert await probe(operator, "/readyz") == (200, "ok\n")

        proxy.hangs = True
        began_at = SystemClock().monotonic()
        await until(operator.seen, lambda: operator.seen.of(ServerUnresponsive))
        detection_seconds = SystemClock().monotonic() - began_at
        ready, why_not = await probe(operator, "/readyz")
        alive, _ = await probe(operator, "/healthz")

        proxy.hangs = False
        await until(operator.seen, lambda: operator.seen.of(ServerRecovered))
        reconciles = len(operator.seen.of(ReconcileFinished))
        await client.create(config_map(namespace, "two"))
        await until(operator.seen, lambda: len(operator.seen.of(ReconcileFinished)) > reconciles)

    assert detection_seconds < 20.0
    assert (ready, alive) == (503, 200)
    assert f"[-]api-server failed: {proxy.url} has not responded for" in why_not
    assert f"ConfigMap {namespace}/*" in why_not


async def test_a_missing_definition_blocks_only_its_own_controller(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "one")
    ghosts = sm.Controller(Ghost, reconcile=do_nothing, name="ghost")

    def started() -> list[str]:
        return [each.controller for each in operator.seen.of(ControllerStarted)]

    async with (
        fault_proxy(control_plane) as proxy,
        running_operator(proxy, namespace, ghosts, config_map_controller(), **PROBES) as operator,
    ):
        await until(operator.seen, started)
        assert started() == ["configmap"]
        ready, why_not = await probe(operator, "/readyz")

        await install(client, GHOSTS)
        await until(operator.seen, lambda: len(started()) == 2)

    await client.delete(type(GHOSTS), GHOSTS.name)
    assert ready == 503
    assert f"[-]controller-ghost failed: waiting for {GROUP}/v1 Ghost: the API server" in why_not


def too_busy(request: Request) -> Reply | None:
    if not request.path.endswith("/configmaps"):
        return None
    return Reply(status=429, headers=(("Retry-After", "9" * 400),), body=b"{}")


async def test_a_retry_after_of_400_digits_is_limited_to_a_minute(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with fault_proxy(control_plane) as proxy:
        proxy.answer = too_busy
        async with running_operator(
            proxy, namespace, config_map_controller(), **NO_PROBES
        ) as operator:
            await until(operator.seen, lambda: operator.seen.of(WatchFailed))

    assert 60.0 <= operator.seen.of(WatchFailed)[0].wait_seconds < 62.0


def without_end(request: Request) -> Reply | None:
    if not request.path.endswith("/configmaps"):
        return None
    page = {
        "kind": "ConfigMapList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7", "continue": "again"},
        "items": [],
    }
    return Reply(status=200, body=msgspec.json.encode(page))


async def test_an_endless_list_fails_and_is_retried_with_backoff(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with fault_proxy(control_plane) as proxy:
        proxy.answer = without_end
        async with running_operator(
            proxy, namespace, config_map_controller(), **NO_PROBES
        ) as operator:
            await until(operator.seen, lambda: len(operator.seen.of(WatchFailed)) == 2)
        lists = [each for each in proxy.requests if each.path.endswith("/configmaps")]

    assert isinstance(operator.seen.of(WatchFailed)[0].error, EndlessList)
    # Two for each attempt; a third attempt may have begun.
    assert len(lists) <= 6


def exploding(request: Request, body: bytes) -> Reply | None:
    if not request.path.endswith("/configmaps"):
        return None
    return Reply(status=200, headers=(("Content-Encoding", "gzip"),), body=body)


def bomb() -> bytes:
    """A list of one object of 400 MB, compressed to a thousandth of that."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    head = b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":['
    first = b'{"metadata":{"name":"a","namespace":"b"},"data":{"c":"'
    packed = [packer.compress(head + first)]
    packed += [packer.compress(b"x" * 1_000_000) for _ in range(400)]
    return b"".join((*packed, packer.compress(b'"}}]}'), packer.flush()))


async def test_a_decompression_bomb_is_rejected(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with fault_proxy(control_plane) as proxy:
        body = bomb()
        proxy.answer = lambda request: exploding(request, body)
        async with running_operator(
            proxy, namespace, config_map_controller(), **NO_PROBES
        ) as operator:
            await until(operator.seen, lambda: operator.seen.of(WatchFailed))

    error = operator.seen.of(WatchFailed)[0].error
    assert isinstance(error, InvalidResponse)
    assert "larger than 67108864 bytes" in str(error)


def flooding(chunk: bytes) -> bytes:
    """The events of a chunk, each followed by a hundred with far-future resource versions."""
    lines: list[bytes] = []
    for line in chunk.splitlines(True):
        lines.append(line)
        if not line.startswith((b'{"type":"ADDED"', b'{"type":"MODIFIED"')):
            continue
        event = msgspec.json.decode(line)
        for number in range(100):
            event["object"]["metadata"] |= {
                "name": f"ghost-{number}",
                "uid": f"u-{number}",
                "resourceVersion": str(2**62 + number),
            }
            lines.append(msgspec.json.encode(event) + b"\n")
    return b"".join(lines)


@pytest.mark.parametrize("times", [3])
async def test_an_informer_survives_a_flood_of_events_with_far_future_revisions(
    control_plane: ControlPlane, client: Client, namespace: str, times: int
) -> None:
    await create_config_maps(client, namespace, "one")
    seen = RecordingObserver()

    async def patch(number: str) -> None:
        change = MergePatch({"data": {"number": number}})
        await client.patch(core_v1.ConfigMap, "one", change, namespace=namespace)

    async with (
        fault_proxy(control_plane) as proxy,
        connected_through(proxy, control_plane) as behind,
    ):
        informer = Informer(
            behind, core_v1.ConfigMap, observe=seen, scope=Scope(namespaces=(namespace,))
        )
        async with informer.running():
            most = 0
            proxy.transform_watch = flooding
            for flood in range(times):
                while len(seen.of(OutOfOrder)) <= flood:
                    await patch(f"{flood} at {SystemClock().monotonic()}")
                    await SystemClock().sleep(0.1)
                most = max(most, len(informer))
            proxy.transform_watch = bytes
            await patch("last")

            def is_last() -> bool:
                one = informer.lister.get("one", namespace=namespace)
                return one is not None and (one.data or {}).get("number") == "last"

            async with SystemClock().timeout(WITHIN_SECONDS):
                while not is_last():
                    await SystemClock().sleep(0.05)
            names = {each.name for each in informer.lister.list()}

    # With kube-controller-manager, each namespace has a ConfigMap with the root certificate, too.
    assert most <= 2
    assert names <= {"one", "kube-root-ca.crt"}


def connected_through(proxy: FaultProxy, cluster: ControlPlane) -> Any:
    return connected(cluster, observe=ignore, server=proxy.url)
