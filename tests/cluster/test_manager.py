"""The promises of a manager, on the embedded server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import steersman as sm
from steersman.errors import BadController, BadSettings, ManagerFailed, NotLeading, Unreachable
from steersman.kinds import coordination_v1, core_v1, meta_v1
from steersman.manager import Manager, ManagerSettings, Runnable, Services
from steersman.observe import (
    ControllerStarted,
    ControllerStopped,
    LeadershipGained,
    PermissionsUnknown,
    ReadinessChanged,
    ReconcileFinished,
    RunnableFailed,
    StageReached,
    StopOverdue,
)
from steersman.wire import Request, Response, Transport
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import ALONE, Operator, is_quiet, operating
from tests.real.definitions import Widget, widget
from tests.transports import error_response

ConfigMap = core_v1.ConfigMap
LEASE = "widget.toys.example.com"


async def nothing(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


async def make_config_map(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    await ctx.apply_owned(ConfigMap(metadata=meta_v1.ObjectMeta(name=f"of-{obj.name}")))
    return sm.Done()


def owning(reconcile: Any = make_config_map, **rest: Any) -> sm.Controller[Widget]:
    return sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,), **rest)


def stages(operator: Operator) -> list[str]:
    return [each.stage for each in operator.seen(StageReached)]


async def lease(scene: Scene) -> coordination_v1.LeaseSpec:
    found = await scene.server.get(coordination_v1.Lease, LEASE, namespace=HERE)
    assert found.spec is not None
    return found.spec


async def test_no_worker_starts_before_the_caches_have_synced(scene: Scene) -> None:
    async with operating(scene, owning()) as operator:
        await is_quiet(scene, operator)

    assert stages(operator) == ["permissions checked", "caches filled", "leading", "running"]


async def test_nothing_is_reconciled_before_every_cache_has_synced(scene: Scene) -> None:
    async with operating(scene, owning(), response=Unreachable("no answer")) as operator:
        await scene.settle()
        assert stages(operator) == ["permissions checked"]

        for transport in operator.transports:
            transport.fixed_response = None
        await scene.until(lambda: operator.seen(ReconcileFinished), seconds=1.0)

    assert stages(operator) == ["permissions checked", "caches filled", "leading", "running"]


async def test_two_controllers_with_the_same_name_are_an_error() -> None:
    with pytest.raises(
        BadController, match='Give one of them another name: Controller\\(…, name="…"\\)'
    ):
        Manager(controllers=[sm.Controller(Widget, reconcile=nothing), owning()])


async def test_two_controllers_of_one_kind_share_a_cache(scene: Scene) -> None:
    second = sm.Controller(Widget, reconcile=nothing, name="second")

    async with operating(scene, owning(), second) as operator:
        await is_quiet(scene, operator)
        lists = [
            each.path
            for each in operator.transports[0].requests
            if each.path.endswith("/widgets") and ("watch", "true") not in each.query
        ]

    assert len(lists) == 1
    assert {each.controller for each in operator.seen(ReconcileFinished)} == {"widget", "second"}


async def test_a_standby_keeps_its_caches_warm_and_writes_nothing(scene: Scene) -> None:
    async with operating(scene, owning(), hostname="one", leader_election=True) as first:
        await is_quiet(scene, first)
        async with operating(scene, owning(), hostname="two", leader_election=True) as second:
            await scene.until(lambda: "caches filled" in stages(second))
            await scene.server.create(widget(HERE, "three"))
            await is_quiet(scene, first)

            assert stages(second) == ["permissions checked", "caches filled"]
            assert not second.writes
            assert f"PATCH /api/v1/namespaces/{HERE}/configmaps/of-three" in first.writes

            first.stop.set_result("test")
            await scene.until(lambda: "running" in stages(second), seconds=0.5)
            lists = len([each for each in second.transports[0].requests if not each.query])
            await scene.server.create(widget(HERE, "four"))
            await is_quiet(scene, second)

            assert f"PATCH /api/v1/namespaces/{HERE}/configmaps/of-four" in second.writes
            assert lists == len([each for each in second.transports[0].requests if not each.query])


async def test_the_lease_is_released_after_the_last_worker_has_ended(scene: Scene) -> None:
    inside, go = asyncio.Event(), asyncio.Event()

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        inside.set()
        await go.wait()
        return await make_config_map(obj, ctx)

    async with operating(scene, owning(reconcile, workers=1), leader_election=True) as operator:
        await inside.wait()
        operator.stop.set_result("SIGTERM")
        await scene.settle()
        assert (await lease(scene)).holder_identity

        go.set()
        await scene.settle()
        assert not (await lease(scene)).holder_identity

    assert len(operator.writes) == 1, "the one that was running is done, and no other begun"


async def test_an_operator_stops_within_its_grace_period(scene: Scene) -> None:
    inside = asyncio.Event()

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        inside.set()
        await asyncio.Event().wait()
        return sm.Done()

    operator = Operator(scene, "one")
    settings = ManagerSettings(
        leader_election=True,
        health_address="",
        metrics_address="",
        preflight="off",
        grace_seconds=5,
    )
    controller = owning(reconcile, timeout_seconds=3600)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(operator.run([controller], [], settings))
        await inside.wait()
        operator.stop.set_result("SIGTERM")
        await scene.settle()
        assert not running.done()
        await scene.until(running.done, seconds=1.0)

    assert operator.seen(StopOverdue)
    assert not (await lease(scene)).holder_identity


async def test_a_leader_that_cannot_renew_stops_at_once_and_stands_by_again(scene: Scene) -> None:
    async with operating(scene, owning(), leader_election=True) as operator:
        await is_quiet(scene, operator)
        renewing = operator.transports[1]
        renewing.fixed_response = Unreachable("no answer")
        await scene.until(
            lambda: stages(operator).count("running") == 1 and not _is_working(operator),
            seconds=1.0,
        )
        before = operator.writes
        await scene.server.create(widget(HERE, "three"))
        await scene.settle()
        assert operator.writes == before

        renewing.fixed_response = None
        await scene.until(lambda: stages(operator).count("running") == 2, seconds=1.0)
        await is_quiet(scene, operator)

    assert f"PATCH /api/v1/namespaces/{HERE}/configmaps/of-three" in operator.writes
    assert len(operator.seen(LeadershipGained)) == 2


def _is_working(operator: Operator) -> bool:
    return len(operator.seen(ControllerStarted)) > len(operator.seen(ControllerStopped))


async def test_runnables_run_with_controllers_and_some_only_on_the_leader(scene: Scene) -> None:
    ran: list[str] = []

    async def everywhere(services: Services) -> None:
        ran.append("everywhere")

    async def leading(services: Services) -> None:
        await services.client.create(
            ConfigMap(metadata=meta_v1.ObjectMeta(name="by-runnable", namespace=HERE))
        )
        ran.append("leading")

    runnables = (Runnable(everywhere, needs_leadership=False), Runnable(leading))
    shared: dict[str, Any] = {"leader_election": True, "lease_name": "shared"}
    async with operating(scene, runnables=runnables, **shared):
        await scene.until(lambda: len(ran) == 2)
        async with operating(scene, runnables=runnables, hostname="two", **shared):
            await scene.until(lambda: len(ran) == 3)
            await scene.settle()

    assert ran == ["everywhere", "leading", "everywhere"]


async def test_a_failed_runnable_stops_the_manager_and_is_named(scene: Scene) -> None:
    async def broken(services: Services) -> None:
        raise LookupError("nothing there")

    operator = Operator(scene, "one")
    settings = ManagerSettings(
        leader_election=False, health_address="", metrics_address="", preflight="off"
    )

    with pytest.raises(ManagerFailed, match="broken raised LookupError: nothing there"):
        await operator.run([owning()], [Runnable(broken)], settings)

    assert operator.seen(RunnableFailed)


async def test_runnables_that_fail_together_are_all_reported_and_one_is_raised(
    scene: Scene,
) -> None:
    async def broken(services: Services) -> None:
        raise LookupError("nothing there")

    operator = Operator(scene, "one")
    both = [Runnable(broken, name="first"), Runnable(broken, name="second")]

    with pytest.raises(ManagerFailed, match="first raised LookupError: nothing there"):
        await operator.run([owning()], both, ManagerSettings(**ALONE))

    assert {each.runnable for each in operator.seen(RunnableFailed)} == {"first", "second"}


async def test_a_write_of_a_replica_that_no_longer_leads_is_not_sent(scene: Scene) -> None:
    inside, go = asyncio.Event(), asyncio.Event()
    raised: list[Exception] = []

    async def stubborn(services: Services) -> None:
        """Writes repeatedly, and suppresses cancellation."""
        inside.set()
        try:
            await go.wait()
        finally:
            meta = meta_v1.ObjectMeta(name="too-late", namespace=HERE)
            try:
                await services.client.create(ConfigMap(metadata=meta))
            except NotLeading as error:
                raised.append(error)

    runnables = (Runnable(stubborn),)
    async with operating(scene, owning(), runnables=runnables, leader_election=True) as operator:
        await inside.wait()
        await is_quiet(scene, operator)
        operator.transports[1].fixed_response = Unreachable("no answer")
        await scene.until(lambda: raised, seconds=1.0)

    assert "too-late" not in " ".join(operator.writes)
    assert "POST" in str(raised[0])


async def test_an_operator_with_a_stale_cache_is_not_ready(scene: Scene) -> None:
    def said() -> list[bool]:
        return [each.is_ready for each in operator.seen(ReadinessChanged)]

    # No other check fails before: only the cache is stale.
    patient: Any = {"server_probe_seconds": 1000.0, "server_timeout_seconds": 2000.0}
    async with operating(scene, owning(), **patient) as operator:
        await scene.until(lambda: said() == [True], seconds=0.5)

        (transport, _) = operator.transports
        transport.fixed_response = Unreachable("no answer")
        transport.cut()
        await scene.until(lambda: said() == [True, False], seconds=1.0)
        why = operator.seen(ReadinessChanged)[-1].failing

        transport.fixed_response = None
        await scene.until(lambda: said() == [True, False, True], seconds=1.0)

    assert ("cache-of-widgets", "it has not synced") in why


async def test_a_permission_that_cannot_be_checked_is_reported(scene: Scene) -> None:
    async with operating(
        scene, owning(), response=error_response(403, "Forbidden"), preflight="wait"
    ) as operator:
        await scene.until(lambda: stages(operator) == ["permissions checked"])

    assert operator.seen(PermissionsUnknown)


async def test_all_controllers_flush_their_events_concurrently_at_the_end(scene: Scene) -> None:
    async def telling(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        ctx.record("Seen", "it is there")
        return sm.Done()

    names = ("first", "second", "third")
    controllers = [sm.Controller(Widget, reconcile=telling, name=each) for each in names]
    operator = Operator(scene, "one")
    settings = ManagerSettings(**ALONE)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(operator.run(controllers, [], settings))
        await scene.until(lambda: operator.transports)
        operator.transports[0].server = SilentOnEvents(operator.transports[0].server)
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) == 6)
        operator.stop.set_result("SIGTERM")
        stopped_at = scene.clock.monotonic()
        await scene.until(running.done, seconds=0.1)

    assert scene.clock.monotonic() - stopped_at < 4.0, "two seconds, and not two for each"


class SilentOnEvents:
    """Never responds to requests for events."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        if request.path.endswith("/events"):
            await asyncio.Event().wait()
        async with self._inner.open(request) as response:
            yield response


async def test_a_manager_without_controllers_must_name_its_lease(scene: Scene) -> None:
    async def no_reconcile(services: Services) -> None: ...

    operator = Operator(scene, "one")
    settings = ManagerSettings(health_address="", metrics_address="", preflight="off")

    with pytest.raises(BadSettings, match="Set a name that no other operator uses"):
        await operator.run([], [Runnable(no_reconcile)], settings)
