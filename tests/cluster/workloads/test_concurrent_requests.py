"""Workers send requests concurrently, up to a limit."""

from dataclasses import replace

import pytest

from steersman.kinds import core_v1, meta_v1
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.simulation import Actor, NoFaults, SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.garbagecollector import runnables as garbage
from steersman_cluster.workloads.garbagecollector.controller import MAX_WORKERS as COLLECTORS
from steersman_cluster.workloads.scheduler.scheduler import MAX_WORKERS as SCHEDULERS
from steersman_cluster.workloads.scheduler.scheduler import scheduler
from tests.cluster.workloads.owners import config_map, of, secret

NO_PARTS = WorkloadSettings(parts=())
HELD_SECONDS = 5.0
MANY = 30
ROOM = core_v1.NodeStatus(allocatable={"cpu": Quantity("8"), "pods": Quantity("110")})
ANYTHING = core_v1.Toleration(operator="Exists")
CONTAINER = core_v1.Container(name="main", image="nginx")


class Held(NoFaults):
    """Delays each write of one kind."""

    def __init__(self, cluster: SimulatedCluster, method: str, path: str) -> None:
        self._cluster = cluster
        self._delayed = method, path
        self.now = self.most = 0
        self.last_at = 0.0

    async def before_request(self, actor: Actor, request: Request) -> None:
        method, path = self._delayed
        if request.method == method and path in request.path:
            self.now += 1
            self.most = max(self.most, self.now)
            await self._cluster.clock.sleep(HELD_SECONDS)
            self.last_at = self._cluster.clock.monotonic()
            self.now -= 1


@pytest.mark.parametrize("number", [1, 2, MANY])
def test_the_collector_has_a_worker_per_item_up_to_a_limit(
    number: int,
) -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, float, int]:
        held = Held(cluster, "DELETE", "/secrets/")
        cluster.fault_injector = held
        await cluster.run_operator(runnables=garbage(NO_PARTS))
        owner = await cluster.create(config_map("owner"))
        for each in range(number):
            await cluster.create(secret(f"s{each}", of(owner)))
        await cluster.settle()
        began_at = cluster.clock.monotonic()
        await cluster.delete(core_v1.ConfigMap, "owner")
        await cluster.advance(number * HELD_SECONDS)
        await cluster.settle()
        return held.most, held.last_at - began_at, len(await cluster.list(core_v1.Secret))

    most, took_seconds, left = simulate(main, settings=NO_PARTS)

    assert left == 0
    assert most == min(number, COLLECTORS)
    rounds = -(-number // COLLECTORS)
    assert rounds * HELD_SECONDS <= took_seconds < (rounds + 1) * HELD_SECONDS


@pytest.mark.parametrize("number", [1, 2, MANY])
def test_the_scheduler_has_a_writer_per_binding_up_to_a_limit(
    number: int,
) -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, float, int]:
        held = Held(cluster, "POST", "/binding")
        cluster.fault_injector = held
        await cluster.run_operator(runnables=[scheduler(replace(NO_PARTS, nodes=0))])
        await cluster.create(core_v1.Node(metadata=meta_v1.ObjectMeta(name="n"), status=ROOM))
        await cluster.settle()
        began_at = cluster.clock.monotonic()
        for each in range(number):
            metadata = meta_v1.ObjectMeta(name=f"p{each}")
            spec = core_v1.PodSpec(containers=(CONTAINER,), tolerations=(ANYTHING,))
            await cluster.create(core_v1.Pod(metadata=metadata, spec=spec))
        await cluster.advance(number * HELD_SECONDS)
        await cluster.settle()
        pods = await cluster.list(core_v1.Pod)
        placed = [each for each in pods if each.spec is not None and each.spec.node_name == "n"]
        return held.most, held.last_at - began_at, len(placed)

    most, took_seconds, placed = simulate(main, settings=NO_PARTS)

    assert placed == number
    assert most == min(number, SCHEDULERS)
    rounds = -(-number // SCHEDULERS)
    assert rounds * HELD_SECONDS <= took_seconds < (rounds + 1) * HELD_SECONDS
