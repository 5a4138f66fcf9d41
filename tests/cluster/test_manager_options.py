"""Options of a manager: lifespan, checks, metrics, and caches by kind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import prometheus_client
import pytest

import steersman as sm
from steersman.cache import Scope
from steersman.client import ClientSettings, Labels
from steersman.errors import ManagerFailed, NoLifespanValue
from steersman.kinds import core_v1, meta_v1
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings
from steersman.manager.settings.address import ListenAddress
from steersman.observe import (
    Listening,
    LivenessChanged,
    ReadinessChanged,
    ReconcileFinished,
    new_registry,
)
from tests.cluster.informer_setup import HERE, THERE, Scene
from tests.cluster.operators import ALONE, Operator, is_quiet
from tests.cluster.test_probes import ask
from tests.real.definitions import Widget

ConfigMap = core_v1.ConfigMap


class Database:
    """An external system, and the calls to it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.is_open = False
        self.answers: str | None = None

    @asynccontextmanager
    async def opened(self, services: sm.Services) -> AsyncIterator["Database"]:
        self.log.append("opened")
        self.is_open = True
        yield self
        self.log.append("closed")
        self.is_open = False

    def write(self, name: str) -> None:
        assert self.is_open, "it is closed"
        self.log.append(name)


async def note(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    ctx.lifespan(Database).write(obj.name)
    return sm.Done()


@asynccontextmanager
async def managing(
    scene: Scene, manager: Manager, *, registry: Any = None, **settings: Any
) -> AsyncIterator[Operator]:
    """A manager that runs inside the block, and is stopped at its end."""
    operator = Operator(scene, "one")
    environment = ManagerEnvironment(
        connect=operator.connect,
        namespace=HERE,
        hostname="one",
        clock=scene.clock,
        rng=Random(0),
        observe=operator.observe,
        registry=registry,
    )
    chosen = ManagerSettings(**{**ALONE, **settings})
    async with asyncio.TaskGroup() as group:
        group.create_task(manager.operate(environment, settings=chosen, stop=operator.stop))
        try:
            yield operator
        finally:
            if not operator.stop.done():
                operator.stop.set_result("the test is over")


def listening(operator: Operator, what: str) -> ListenAddress | None:
    for each in operator.seen(Listening):
        if each.what == what:
            return ListenAddress.parse(each.address.rpartition("/")[2])
    return None


async def test_the_lifespan_is_entered_before_controllers_start_and_exited_after_they_stop(
    scene: Scene,
) -> None:
    database = Database()

    async def slow(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        ctx.lifespan(Database).write(f"{obj.name} begins")
        await scene.clock.sleep(3)
        ctx.lifespan(Database).write(f"{obj.name} ends")
        return sm.Done()

    manager = Manager(controllers=[sm.Controller(Widget, reconcile=slow)], lifespan=database.opened)
    async with managing(scene, manager) as operator:
        await scene.until(lambda: len(database.log) == 3)
        operator.stop.set_result("now")
        await scene.until(lambda: not database.is_open, seconds=0.5)

    assert database.log[0] == "opened"
    assert database.log[-1] == "closed"
    assert sorted(database.log[1:-1]) == ["one begins", "one ends", "two begins", "two ends"]


async def test_a_standby_enters_and_exits_its_lifespan(scene: Scene) -> None:
    first, second = Database(), Database()

    def manager(database: Database) -> Manager:
        controller = sm.Controller(Widget, reconcile=note)
        return Manager(controllers=[controller], lifespan=database.opened)

    async with managing(scene, manager(first), leader_election=True):
        await scene.until(lambda: len(first.log) == 3)
        async with managing(scene, manager(second), leader_election=True):
            await scene.until(lambda: second.is_open)

    assert second.log == ["opened", "closed"]
    assert first.log[-1] == "closed"


async def test_a_plain_function_and_a_runnable_get_the_same_value(scene: Scene) -> None:
    database = Database()

    def plainly(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        ctx.lifespan(Database).write(obj.name)
        return sm.Done()

    async def beside(services: sm.Services) -> None:
        services.lifespan(Database).write("runnable")

    manager = Manager(
        controllers=[sm.Controller(Widget, reconcile=plainly)],
        runnables=[sm.Runnable(beside, needs_leadership=False)],
        lifespan=database.opened,
    )
    async with managing(scene, manager):
        await scene.until(lambda: len(database.log) == 4)

    assert sorted(database.log) == ["closed", "one", "opened", "runnable", "two"]


async def test_the_error_for_a_missing_lifespan_value_says_what_to_do(
    scene: Scene,
) -> None:
    manager = Manager(controllers=[sm.Controller(Widget, reconcile=note)])

    async with managing(scene, manager) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))

    error = operator.seen(ReconcileFinished)[0].error
    assert isinstance(error, NoLifespanValue)
    assert "it has no lifespan. Pass Manager(lifespan=…)" in str(error)


@pytest.mark.parametrize("when", ["entered", "left"])
async def test_an_exception_of_the_lifespan_is_raised_by_the_manager(
    scene: Scene, when: str
) -> None:
    @asynccontextmanager
    async def broken(services: sm.Services) -> AsyncIterator[None]:
        if when == "entered":
            raise OSError("no route to the database")
        yield
        raise OSError("no route to the database")

    manager = Manager(controllers=[sm.Controller(Widget, reconcile=note)], lifespan=broken)

    with pytest.raises(ExceptionGroup) as raised:  # noqa: PT012 - it ends with the block
        async with managing(scene, manager) as operator:
            await scene.until(lambda: operator.seen(ReconcileFinished) or when == "entered")
            await scene.settle()

    (error,) = raised.value.exceptions
    assert isinstance(error, ManagerFailed)
    assert f"the lifespan raised OSError when it was {when}: no route" in str(error)


async def test_probes_call_the_authors_checks(scene: Scene) -> None:
    database = Database()

    def is_open(services: sm.Services) -> str | None:
        return None if services.lifespan(Database).is_open else "it is closed"

    async def responses(services: sm.Services) -> str | None:
        return services.lifespan(Database).answers

    manager = Manager(
        controllers=[sm.Controller(Widget, reconcile=note)],
        lifespan=database.opened,
        healthz=[sm.HealthCheck("database-open", is_open)],
        readyz=[sm.HealthCheck("database", responses, every_seconds=5)],
    )
    async with managing(scene, manager, health_address="127.0.0.1:0") as operator:
        await scene.until(lambda: listening(operator, "probes") and len(database.log) == 3)
        address = listening(operator, "probes")
        assert address is not None
        ready = await ask(address, "/readyz")
        database.answers = "it does not answer"
        await scene.until(
            lambda: any(not each.is_ready for each in operator.seen(ReadinessChanged)), seconds=1
        )
        not_ready = await ask(address, "/readyz")
        alive = await ask(address, "/healthz", query=(("verbose", ""),))
        database.is_open = False
        await scene.until(lambda: operator.seen(LivenessChanged), seconds=1)
        dead = await ask(address, "/healthz")
        database.is_open = True
        await scene.until(lambda: len(operator.seen(LivenessChanged)) == 2, seconds=1)

    assert ready == (200, "ok\n")
    # The reason is only in the log: the author's text may contain a secret.
    assert not_ready == (503, "[-]database failed\nreadyz check failed\n")
    failing = [each.failing for each in operator.seen(ReadinessChanged) if not each.is_ready]
    assert ("database", "it does not answer") in failing[-1]
    assert "[+]database-open ok" in alive[1]
    assert dead == (503, "[-]database-open failed\nhealthz check failed\n")
    assert operator.seen(LivenessChanged) == [
        LivenessChanged(is_alive=False, failing=(("database-open", "it is closed"),)),
        LivenessChanged(is_alive=True),
    ]


async def test_checks_are_not_called_while_the_lifespan_exits(scene: Scene) -> None:
    left = asyncio.Event()
    called: list[bool] = []

    @asynccontextmanager
    async def slow(services: sm.Services) -> AsyncIterator[None]:
        yield
        left.set()
        await scene.clock.sleep(5)

    def is_open(services: sm.Services) -> str | None:
        called.append(left.is_set())
        return "it is closed" if left.is_set() else None

    manager = Manager(
        controllers=[sm.Controller(Widget, reconcile=finish)],
        lifespan=slow,
        healthz=[sm.HealthCheck("database-open", is_open)],
    )
    async with managing(scene, manager, health_address="127.0.0.1:0") as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))
        address = listening(operator, "probes")
        assert address is not None
        before = await ask(address, "/healthz")
        operator.stop.set_result("now")
        await scene.until(left.is_set)
        after = await ask(address, "/healthz")
        scene.clock.advance(5)

    # An operator is alive during a graceful stop.
    assert (before, after) == ((200, "ok\n"), (200, "ok\n"))
    assert called
    assert True not in called


async def test_the_authors_metrics_are_served_with_the_others(scene: Scene) -> None:
    orders = prometheus_client.Counter("shop_orders", "Orders.", registry=None)
    manager = Manager(controllers=[sm.Controller(Widget, reconcile=finish)], metrics=[orders])
    orders.inc(3)

    registry = new_registry()
    async with managing(
        scene, manager, registry=registry, metrics_address="127.0.0.1:0"
    ) as operator:
        await scene.until(lambda: listening(operator, "metrics"))
        address = listening(operator, "metrics")
        assert address is not None
        status, text = await ask(address, "/metrics")

    assert status == 200
    assert "shop_orders_total 3.0" in text
    assert "process_cpu_seconds_total" in text
    # A second run of the operator in this process registers them again.
    assert registry.get_sample_value("shop_orders_total") is None


async def finish(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


async def test_cache_options_by_kind_apply_to_runnables(scene: Scene) -> None:
    seen: list[tuple[str | None, str]] = []

    async def follow(services: sm.Services) -> None:
        for scope in (None, Scope(namespaces=(HERE,))):
            async with services.caches.informer(ConfigMap, scope=scope) as informer:
                seen.extend((each.namespace, each.name) for each in informer.lister.list())

    for namespace in (HERE, THERE):
        for name, labels in (("wanted", {"for": "us"}), ("other", {})):
            metadata = meta_v1.ObjectMeta(name=name, namespace=namespace, labels=labels)
            await scene.server.create(ConfigMap(metadata=metadata))
    manager = Manager(
        controllers=[sm.Controller(Widget, reconcile=finish)],
        runnables=[sm.Runnable(follow, watches=(ConfigMap,))],
        caches=[
            sm.CacheOptions(ConfigMap, namespaces=(THERE,), labels=Labels.equal({"for": "us"}))
        ],
    )

    async with managing(scene, manager):
        await scene.until(lambda: len(seen) == 2)

    # Its own namespaces take precedence.
    assert seen == [(THERE, "wanted"), (HERE, "wanted")]


async def test_the_client_has_the_configured_settings(scene: Scene) -> None:
    seen: list[tuple[int, str]] = []

    async def look(services: sm.Services) -> None:
        settings = services.client.settings
        seen.append((settings.page_limit_bytes, settings.user_agent))

    manager = Manager(
        controllers=[sm.Controller(Widget, reconcile=finish)],
        runnables=[sm.Runnable(look)],
        client=ClientSettings(page_limit_bytes=100_000),
    )

    for agent in (None, "shop/1"):
        async with managing(scene, manager, user_agent=agent) as operator:
            await scene.until(lambda: operator.seen(ReconcileFinished))

    assert seen == [(100_000, "steersman"), (100_000, "shop/1")]


async def test_caches_are_limited_and_transformed_by_kind(scene: Scene) -> None:
    seen: list[tuple[str, str, dict[str, str]]] = []

    async def look(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        found = ctx.list(ConfigMap, all_namespaces=True)
        seen.extend((each.namespace or "", each.name, dict(each.data or {})) for each in found)
        return sm.Done()

    def without_large(obj: core_v1.ConfigMap) -> core_v1.ConfigMap:
        data = {key: text for key, text in (obj.data or {}).items() if key != "large"}
        return sm.replace(obj, data=data)

    for name, labels in (("wanted", {"for": "us"}), ("other", {})):
        metadata = meta_v1.ObjectMeta(name=name, namespace=THERE, labels=labels)
        data = {"small": "1", "large": "2"}
        await scene.server.create(ConfigMap(metadata=metadata, data=data))
    await scene.server.delete(Widget, "two", namespace=HERE)
    manager = Manager(
        controllers=[
            sm.Controller(Widget, reconcile=look, watches=(sm.Watch(ConfigMap),)),
        ],
        caches=[
            sm.CacheOptions(
                ConfigMap,
                namespaces=(THERE,),
                labels=Labels.equal({"for": "us"}),
                transform=without_large,
            )
        ],
    )

    async with managing(scene, manager, namespaces=(HERE,)) as operator:
        await is_quiet(scene, operator)
        await scene.until(lambda: operator.seen(ReconcileFinished))

    assert seen == [(THERE, "wanted", {"small": "1"})]
