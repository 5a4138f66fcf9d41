"""A server that hangs: how soon the operator detects it, and the requests of an idle operator."""

import asyncio
from typing import Any

import pytest

import steersman as sm
from steersman.cache import InformerSettings
from steersman.errors import BadSettings
from steersman.kinds import core_v1
from steersman.manager import ManagerSettings, Runnable, Services
from steersman.manager.settings.address import ListenAddress
from steersman.observe import (
    Listening,
    ReadinessChanged,
    ReconcileFinished,
    ServerRecovered,
    ServerUnresponsive,
    StageReached,
    WatchStarted,
)
from steersman.watch import ReflectorSettings
from steersman.wire import Request
from tests.cluster.informer_setup import Scene
from tests.cluster.operators import SERVER, Operator, is_quiet, operating
from tests.cluster.test_probes import ask
from tests.real.definitions import Widget
from tests.transports import FakeResponse, error_response

PROBES: Any = {"health_address": "127.0.0.1:0"}


async def nothing(obj: Any, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def of_widgets() -> sm.Controller[Widget]:
    return sm.Controller(Widget, reconcile=nothing, owns=(core_v1.ConfigMap,))


def hanging() -> FakeResponse:
    """Never respond."""
    return FakeResponse(after=asyncio.Event().wait)


def hang(operator: Operator) -> None:
    """Make the server hang, on open and on new connections."""
    for transport in operator.transports:
        transport.silence_watches()
        transport.fixed_response = hanging()


async def asked(operator: Operator, path: str, **query: str) -> tuple[int, str]:
    port = int(operator.seen(Listening)[0].address.rpartition(":")[2])
    return await ask(ListenAddress("127.0.0.1", port), path, query=tuple(query.items()))


async def pass_seconds(scene: Scene, seconds: float) -> None:
    ends_at = scene.clock.monotonic() + seconds
    await scene.until(lambda: scene.clock.monotonic() >= ends_at, seconds=1.0)


async def is_ready(scene: Scene, operator: Operator) -> None:
    await scene.until(lambda: operator.seen(ReadinessChanged), seconds=0.5)
    await is_quiet(scene, operator)


def is_unrelated(request: Request) -> bool:
    """Whether the request is neither a watch nor for the lease."""
    return ("watch", "true") not in request.query and "/leases" not in request.path


@pytest.mark.parametrize("leader_election", [True, False])
async def test_an_operator_is_not_ready_within_a_minute_after_its_server_hangs(
    scene: Scene, leader_election: bool
) -> None:
    async with operating(
        scene, of_widgets(), leader_election=leader_election, **PROBES
    ) as operator:
        await is_ready(scene, operator)
        assert await asked(operator, "/readyz") == (200, "ok\n")

        hang(operator)
        hung_at = scene.clock.monotonic()
        await scene.until(lambda: operator.seen(ServerUnresponsive), seconds=1.0)
        noticed_seconds = scene.clock.monotonic() - hung_at
        status, body = await asked(operator, "/readyz")

    assert noticed_seconds <= 60.0
    assert status == 503
    assert f"[-]api-server failed: {SERVER} has not responded for 5" in body
    assert "these watches are silent: " in body
    assert "Widget *" in body
    assert "ConfigMap *" in body


async def test_it_is_ready_and_synced_as_soon_as_the_server_responds(scene: Scene) -> None:
    async with operating(scene, of_widgets(), leader_election=True, **PROBES) as operator:
        await is_ready(scene, operator)
        hang(operator)
        await scene.until(lambda: operator.seen(ServerUnresponsive), seconds=1.0)
        watches = len(operator.seen(WatchStarted))

        # Another server at the same address: open connections to the old one stay silent.
        for transport in operator.transports:
            transport.fixed_response = None
        await scene.until(lambda: operator.seen(ServerRecovered), seconds=1.0)
        await scene.until(lambda: len(operator.seen(WatchStarted)) == watches + 2, seconds=1.0)
        status, _ = await asked(operator, "/readyz")
        seen = len(operator.seen(ReconcileFinished))
        await scene.paint("one", "red")
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) > seen, seconds=1.0)

    assert status == 200


async def test_an_error_response_of_a_proxy_does_not_count_as_a_response(scene: Scene) -> None:
    async with operating(scene, of_widgets(), **PROBES) as operator:
        await is_ready(scene, operator)
        for transport in operator.transports:
            transport.silence_watches()
            transport.fixed_response = error_response(503)
        await scene.until(lambda: operator.seen(ServerUnresponsive), seconds=1.0)


async def test_an_idle_leader_sends_only_watches_and_lease_renewals(scene: Scene) -> None:
    async with operating(scene, of_widgets(), leader_election=True) as operator:
        await is_ready(scene, operator)
        before = [len(transport.requests) for transport in operator.transports]
        # Shorter than a watch.
        await pass_seconds(scene, 280.0)
        more = [
            str(request)
            for transport, count in zip(operator.transports, before, strict=True)
            for request in transport.requests[count:]
            if is_unrelated(request)
        ]

    assert more == []


async def test_without_a_lease_an_idle_operator_sends_at_most_two_requests_a_minute(
    scene: Scene,
) -> None:
    async with operating(scene, of_widgets()) as operator:
        await is_ready(scene, operator)
        before = [len(transport.requests) for transport in operator.transports]
        await pass_seconds(scene, 280.0)
        more = [
            request.path
            for transport, count in zip(operator.transports, before, strict=True)
            for request in transport.requests[count:]
        ]

    assert set(more) <= {"/version"}
    assert len(more) <= 10
    assert not operator.seen(ServerUnresponsive)


async def test_the_intervals_are_settings_of_the_manager(scene: Scene) -> None:
    async with operating(
        scene, of_widgets(), server_probe_seconds=4.0, server_timeout_seconds=8.0
    ) as operator:
        await is_ready(scene, operator)
        hang(operator)
        hung_at = scene.clock.monotonic()
        await scene.until(lambda: operator.seen(ServerUnresponsive), seconds=0.25)

    assert scene.clock.monotonic() - hung_at <= 9.0


async def test_informer_and_reflector_settings_go_through_the_manager(scene: Scene) -> None:
    chosen: list[InformerSettings] = []

    async def note(services: Services) -> None:
        chosen.append(services.caches.settings)

    settings = InformerSettings(
        reflector=ReflectorSettings(silence_seconds=40.0, page_size=1), stale_seconds=20.0
    )
    async with operating(
        scene, of_widgets(), runnables=[Runnable(note)], informers=settings
    ) as operator:
        await scene.until(lambda: chosen, seconds=0.1)
        pages = [
            each
            for transport in operator.transports
            for each in transport.requests
            if ("limit", "1") in each.query
        ]

    assert chosen[0].reflector == settings.reflector
    assert chosen[0].stale_seconds == 20.0
    assert pages


@pytest.mark.parametrize(
    "wrong",
    [
        {"server_probe_seconds": 50.0},
        {"server_timeout_seconds": 30.0},
        {"server_probe_seconds": 0.0},
        {"cache_sync_seconds": -1.0},
    ],
)
def test_invalid_intervals_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadSettings, match=next(iter(wrong))):
        ManagerSettings(**wrong)


async def test_an_operator_whose_server_is_unreachable_is_alive(scene: Scene) -> None:
    async with operating(scene, of_widgets(), leader_election=True, **PROBES) as operator:
        await is_ready(scene, operator)
        hang(operator)
        await pass_seconds(scene, 900.0)
        ready, _ = await asked(operator, "/readyz")
        alive = await asked(operator, "/healthz", verbose="")

    assert ready == 503
    assert alive == (
        200,
        "[+]event-loop ok\n[+]informers ok\n[+]workers ok\n[+]leader-election ok\n"
        "healthz check passed\n",
    )


async def test_an_operator_that_stops_renewing_its_lease_is_not_alive(scene: Scene) -> None:
    async def never_ending() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if is_over.is_set():
                    raise

    is_over = asyncio.Event()
    async with operating(scene, of_widgets(), leader_election=True, **PROBES) as operator:
        await is_ready(scene, operator)
        await scene.until(
            lambda: any(each.stage == "running" for each in operator.seen(StageReached))
        )
        assert (await asked(operator, "/healthz"))[0] == 200

        # A request that ignores its deadline: the renewal never returns.
        for transport in operator.transports[1:]:
            transport.fixed_response = FakeResponse(after=never_ending)
        await pass_seconds(scene, 60.0)
        status, body = await asked(operator, "/healthz")
        is_over.set()

    assert status == 503
    assert "[-]leader-election failed: the lease has been neither requested nor renewed for" in body
