"""Kinds that the server does not serve: their controllers wait, and the others run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import pytest

import steersman as sm
from steersman.errors import CacheSyncTimeout
from steersman.kinds import core_v1, meta_v1
from steersman.manager import Runnable, Services
from steersman.manager.settings.address import ListenAddress
from steersman.observe import (
    CacheSyncOverdue,
    ControllerStarted,
    LeadershipGained,
    LeadershipReleased,
    Listening,
    ReconcileFinished,
    StageReached,
)
from steersman.wire import Request, Response, Transport
from steersman_cluster.apiserver import InProcessTransport
from tests.cluster.informer_setup import Scene
from tests.cluster.operators import Operator, is_quiet, operating
from tests.cluster.test_probes import ask
from tests.real.definitions import OCTOPODES, Octopus, OctopusSpec, Widget, install

KIND = "toys.example.com/v1 Octopus"


async def nothing(obj: Any, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def of_widgets() -> sm.Controller[Widget]:
    return sm.Controller(Widget, reconcile=nothing, owns=(core_v1.ConfigMap,))


def of_octopodes(**rest: Any) -> sm.Controller[Octopus]:
    return sm.Controller(Octopus, reconcile=nothing, **rest)


def octopus(name: str) -> Octopus:
    return Octopus(metadata=meta_v1.ObjectMeta(name=name), spec=OctopusSpec())


def started(operator: Operator) -> list[str]:
    return [each.controller for each in operator.seen(ControllerStarted)]


def reconciled(operator: Operator) -> set[str]:
    return {str(each.ref) for each in operator.seen(ReconcileFinished)}


def stages(operator: Operator) -> list[str]:
    return [each.stage for each in operator.seen(StageReached)]


@pytest.mark.parametrize("leader_election", [True, False])
async def test_a_controller_whose_kind_is_missing_delays_no_other(
    scene: Scene, leader_election: bool
) -> None:
    async with operating(
        scene, of_octopodes(), of_widgets(), leader_election=leader_election
    ) as operator:
        await scene.until(lambda: len(reconciled(operator)) == 2, seconds=0.1)

    assert started(operator) == ["widget"]
    assert "caches filled" not in stages(operator)


class HangingLists:
    """A transport to a server that never responds to a list of this kind."""

    def __init__(self, inner: Transport, plural: str) -> None:
        self._inner = inner
        self._plural = plural

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        if request.path.endswith(f"/{self._plural}"):
            await asyncio.Event().wait()
        async with self._inner.open(request) as response:
            yield response


@pytest.mark.parametrize("leader_election", [True, False])
async def test_a_controller_whose_list_hangs_does_not_delay_others(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, leader_election: bool
) -> None:
    await install(scene.server, OCTOPODES)
    transport = HangingLists(InProcessTransport(scene.api.server), "octopodes")
    monkeypatch.setattr(Operator, "connect", lambda _: nullcontext(transport))
    began_at = scene.clock.monotonic()

    async with operating(
        scene, of_octopodes(), of_widgets(), leader_election=leader_election
    ) as operator:
        await scene.until(lambda: started(operator), seconds=0.5)
        waited_seconds = scene.clock.monotonic() - began_at

    assert started(operator) == ["widget"]
    # Before the hanging request times out.
    assert waited_seconds <= 15.0


async def test_a_controller_starts_when_its_kind_exists(scene: Scene) -> None:
    async with operating(scene, of_octopodes(), of_widgets(), leader_election=True) as operator:
        await scene.until(lambda: started(operator) == ["widget"], seconds=0.1)
        begun_at = scene.clock.monotonic()
        await scene.until(lambda: scene.clock.monotonic() > begun_at + 600.0, seconds=1.0)
        await install(scene.server, OCTOPODES)
        await scene.server.create(octopus("paul"))
        installed_at = scene.clock.monotonic()
        await scene.until(lambda: "Octopus paul" in reconciled(operator), seconds=0.5)
        waited_seconds = scene.clock.monotonic() - installed_at

    assert started(operator) == ["widget", "octopus"]
    # At most the longest backoff between two lists of a missing kind.
    assert waited_seconds <= 21.0
    assert stages(operator)[-1] == "caches filled"
    assert len(operator.seen(LeadershipGained)) == 1


async def test_controllers_that_share_an_informer_start_separately(scene: Scene) -> None:
    second = of_octopodes(watches=(sm.Watch(Widget, to=lambda widget, cached: ()),))

    async with operating(scene, second, of_widgets()) as operator:
        await scene.until(lambda: started(operator) == ["widget"], seconds=0.1)
        await install(scene.server, OCTOPODES)
        await scene.until(lambda: "octopus" in started(operator), seconds=0.5)
        lists = [
            each
            for each in operator.transports[0].requests
            if each.path.endswith("/widgets") and ("watch", "true") not in each.query
        ]

    assert len(lists) == 1


async def test_the_deadline_error_names_the_missing_kind(scene: Scene) -> None:
    async with operating(scene, of_octopodes(), of_widgets(), cache_sync_seconds=30.0) as operator:
        await scene.until(lambda: operator.seen(CacheSyncOverdue), seconds=1.0)
        overdue = operator.seen(CacheSyncOverdue)

        await install(scene.server, OCTOPODES)
        await scene.until(lambda: "octopus" in started(operator), seconds=0.5)

    assert [each.controller for each in overdue] == ["octopus"]
    error = overdue[0].error
    assert error.pending == ((KIND, "the API server does not serve it"),)
    assert str(error) == (
        "could not start the controller octopus: these lists did not complete within 30 s:"
        f" {KIND}: the API server does not serve it. Install the CustomResourceDefinition of a kind"
        " that is not served, or grant permission to list it; the list is retried until it"
        " succeeds."
    )


async def test_readiness_names_the_controller_and_the_kind_that_it_waits_for(scene: Scene) -> None:
    async with operating(
        scene, of_octopodes(), of_widgets(), health_address="127.0.0.1:0"
    ) as operator:
        await scene.until(lambda: started(operator) == ["widget"], seconds=0.1)
        port = int(operator.seen(Listening)[0].address.rpartition(":")[2])
        status, body = await ask(ListenAddress("127.0.0.1", port), "/readyz")

    assert status == 503
    assert f"[-]controller-octopus failed: waiting for {KIND}: the API server" in body


async def test_a_runnable_that_installs_the_missing_kind_can_start(scene: Scene) -> None:
    async def installing(services: Services) -> None:
        await install(services.client, OCTOPODES)

    runnable = Runnable(installing, name="installing")
    async with operating(
        scene, of_octopodes(), runnables=[runnable], leader_election=True
    ) as operator:
        await scene.until(lambda: started(operator) == ["octopus"], seconds=0.5)


async def test_runnables_without_leadership_run_while_a_kind_is_missing(scene: Scene) -> None:
    has_run = asyncio.Event()

    async def run(services: Services) -> None:
        has_run.set()

    runnable = Runnable(run, needs_leadership=False)
    async with operating(scene, of_octopodes(), runnables=[runnable]):
        await scene.until(has_run.is_set, seconds=0.1)


async def test_an_operator_can_stop_while_a_controller_waits_for_its_kind(scene: Scene) -> None:
    async with operating(scene, of_octopodes(), of_widgets(), leader_election=True) as operator:
        await is_quiet(scene, operator)
        operator.stop.set_result("SIGTERM")
        await scene.until(lambda: operator.seen(LeadershipReleased))
        await scene.until(lambda: operator.has_ended)

    assert started(operator) == ["widget"]


async def test_a_user_of_a_missing_kind_can_set_a_deadline(scene: Scene) -> None:
    async with scene.caches().running() as caches, asyncio.TaskGroup() as group:

        async def follow() -> Exception | None:
            try:
                async with caches.informer(Octopus, within_seconds=20.0):
                    return None
            except CacheSyncTimeout as error:
                return error

        following = group.create_task(follow())
        await scene.until(following.done, seconds=1.0)
        error = following.result()

    assert isinstance(error, CacheSyncTimeout)
    assert error.pending == ((KIND, "the API server does not serve it"),)
    assert error.waited_seconds == 20.0
    assert len(caches) == 0
