"""Informers for several kinds: their lists run concurrently, and all start or none does."""

import asyncio
from random import Random

import pytest

from steersman.cache import Caches, InformerSpec, Scope
from steersman.client import Client
from steersman.errors import BadValue, NotWatched
from steersman.kinds import core_v1
from steersman.observe import ignore
from tests.cluster.faulty_transports import GatedTransport
from tests.cluster.informer_setup import HERE, Scene
from tests.real.definitions import OCTOPODES, Octopus, Widget, install

ConfigMap = core_v1.ConfigMap
IN_HERE = InformerSpec(Scope(namespaces=(HERE,)), {})


async def test_no_first_list_waits_for_another(scene: Scene) -> None:
    transport = GatedTransport(scene.transport)
    caches = Caches(
        Client(transport, clock=scene.clock, rng=Random(0), observe=ignore), observe=ignore
    )
    entered: list[int] = []

    async def follow() -> None:
        wanted = {ConfigMap: IN_HERE, Widget: IN_HERE}
        async with caches.informers_for(wanted) as informers:
            entered.extend(len(informers[kind]) for kind in wanted)

    async with caches.running(), asyncio.TaskGroup() as group:
        group.create_task(follow())
        await scene.settle()
        assert transport.waiting == 2
        assert entered == []
        transport.gate.set()

    assert entered == [2, 2]


async def test_if_one_informer_cannot_start_none_does(scene: Scene) -> None:
    await install(scene.server, OCTOPODES)
    caches = scene.caches()
    async with caches.running():
        with pytest.raises(BadValue, match="the kind is cluster-scoped"):
            async with caches.informers_for({ConfigMap: IN_HERE, Octopus: IN_HERE}):
                raise AssertionError("not before all are")

        assert len(caches) == 0


async def test_a_user_of_a_shared_informer_keeps_it_when_another_fails(scene: Scene) -> None:
    caches = scene.caches()
    async with caches.running(), caches.informer(ConfigMap, scope=IN_HERE.scope) as informer:
        with pytest.raises(BadValue):
            async with caches.informers_for({ConfigMap: IN_HERE, Octopus: IN_HERE}):
                raise AssertionError("not before all are")
        await scene.settle()

        assert informer.has_synced
        assert caches.informers == (informer,)


async def test_a_waiter_for_the_first_lists_fails_when_the_caches_stop(
    scene: Scene,
) -> None:
    transport = GatedTransport(scene.transport)
    caches = Caches(
        Client(transport, clock=scene.clock, rng=Random(0), observe=ignore), observe=ignore
    )
    failures: list[NotWatched] = []

    async def follow() -> None:
        try:
            async with caches.informers_for({ConfigMap: IN_HERE, Widget: IN_HERE}):
                raise AssertionError("nothing was ever received")
        except NotWatched as error:
            failures.append(error)

    async with asyncio.TaskGroup() as group:
        async with caches.running():
            group.create_task(follow())
            await scene.settle()

    assert len(failures) == 1
    assert len(caches) == 0
