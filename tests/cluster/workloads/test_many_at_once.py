"""Whoever waits for an answer does not hold up the others; and not all of them wait at once."""

from dataclasses import replace

import pytest

from steersman.kinds import core_v1, meta_v1
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.simulation import Actor, Calm, SimulatedWorld, simulate
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.garbage import runnables as garbage
from steersman_cluster.workloads.garbage.running import WORKERS as COLLECTORS
from steersman_cluster.workloads.scheduler.scheduler import WORKERS as SCHEDULERS
from steersman_cluster.workloads.scheduler.scheduler import scheduler
from tests.cluster.workloads.owners import config_map, of, secret

NOBODY = WorkloadSettings(parts=())
HELD_SECONDS = 5.0
MANY = 30
ROOM = core_v1.NodeStatus(allocatable={"cpu": Quantity("8"), "pods": Quantity("110")})
ANYTHING = core_v1.Toleration(operator="Exists")
CONTAINER = core_v1.Container(name="main", image="nginx")


class Held(Calm):
    """Each write of one sort takes a while."""

    def __init__(self, world: SimulatedWorld, method: str, words: str) -> None:
        self._world = world
        self._sort = method, words
        self.now = self.most = 0
        self.last_at = 0.0

    async def sending(self, actor: Actor, request: Request) -> None:
        method, words = self._sort
        if request.method == method and words in request.path:
            self.now += 1
            self.most = max(self.most, self.now)
            await self._world.clock.sleep(HELD_SECONDS)
            self.last_at = self._world.clock.monotonic()
            self.now -= 1


@pytest.mark.parametrize("number", [1, 2, MANY])
def test_as_many_collectors_as_there_is_work_for_and_no_more_than_a_server_bears(
    number: int,
) -> None:
    async def main(world: SimulatedWorld) -> tuple[int, float, int]:
        held = Held(world, "DELETE", "/secrets/")
        world.disturbance = held
        await world.run_operator(runnables=garbage(NOBODY))
        owner = await world.create(config_map("owner"))
        for each in range(number):
            await world.create(secret(f"s{each}", of(owner)))
        await world.settle()
        began_at = world.clock.monotonic()
        await world.delete(core_v1.ConfigMap, "owner")
        await world.advance(number * HELD_SECONDS)
        await world.settle()
        return held.most, held.last_at - began_at, len(await world.list(core_v1.Secret))

    most, took_seconds, left = simulate(main, settings=NOBODY)

    assert left == 0
    assert most == min(number, COLLECTORS)
    rounds = -(-number // COLLECTORS)
    assert rounds * HELD_SECONDS <= took_seconds < (rounds + 1) * HELD_SECONDS


@pytest.mark.parametrize("number", [1, 2, MANY])
def test_as_many_schedulers_as_there_is_work_for_and_no_more_than_a_server_bears(
    number: int,
) -> None:
    async def main(world: SimulatedWorld) -> tuple[int, float, int]:
        held = Held(world, "POST", "/binding")
        world.disturbance = held
        await world.run_operator(runnables=[scheduler(replace(NOBODY, nodes=0))])
        await world.create(core_v1.Node(metadata=meta_v1.ObjectMeta(name="n"), status=ROOM))
        await world.settle()
        began_at = world.clock.monotonic()
        for each in range(number):
            metadata = meta_v1.ObjectMeta(name=f"p{each}")
            spec = core_v1.PodSpec(containers=(CONTAINER,), tolerations=(ANYTHING,))
            await world.create(core_v1.Pod(metadata=metadata, spec=spec))
        await world.advance(number * HELD_SECONDS)
        await world.settle()
        pods = await world.list(core_v1.Pod)
        placed = [each for each in pods if each.spec is not None and each.spec.node_name == "n"]
        return held.most, held.last_at - began_at, len(placed)

    most, took_seconds, placed = simulate(main, settings=NOBODY)

    assert placed == number
    assert most == min(number, SCHEDULERS)
    rounds = -(-number // SCHEDULERS)
    assert rounds * HELD_SECONDS <= took_seconds < (rounds + 1) * HELD_SECONDS
