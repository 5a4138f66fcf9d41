"""Nodes that come, fall silent, are tainted and go, and what becomes of their Pods."""

from datetime import timedelta
from functools import partial

from steersman.client import MergePatch
from steersman.kinds import coordination_v1, core_v1
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.simulation import Actor, SimulatedWorld, simulate
from steersman_cluster.simulation.world import Operator
from steersman_cluster.workloads.nodes import controllers, runnables
from steersman_cluster.workloads.scheduler import runnables as scheduler
from steersman_cluster.workloads.settings import WorkloadSettings
from tests.cluster.workloads.node_stories import (
    conditions_of,
    container_of,
    events_of,
    node,
    node_of,
    pod,
    status_of,
    story,
    taints_of,
    told,
    writes_since,
)

Pod = core_v1.Pod
Node = core_v1.Node


def taint(effect: str = "NoExecute") -> core_v1.Taint:
    return core_v1.Taint(key="example.com/broken", effect=effect)


def bearing(seconds: int | None = None) -> core_v1.Toleration:
    return core_v1.Toleration(
        key="example.com/broken",
        operator="Exists",
        effect="NoExecute",
        toleration_seconds=seconds,
    )


async def tainted(world: SimulatedWorld, name: str, *taints: core_v1.Taint) -> None:
    await world.patch(Node, name, MergePatch({"spec": {"taints": taints}}))


async def names(world: SimulatedWorld) -> list[str]:
    return sorted(each.name for each in await world.list(Pod))


def ready(each: Node) -> tuple[str, str | None] | None:
    conditions = each.status.conditions if each.status is not None else None
    found = next((one for one in conditions or () if one.type == "Ready"), None)
    return (found.status, found.reason) if found is not None else None


def test_nodes_are_as_many_and_as_large_as_is_asked_for() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.settle()

        nodes = await world.list(Node)
        assert [each.name for each in nodes] == ["node-1", "node-2", "node-3"]
        first = nodes[0]
        assert first.status is not None
        assert first.status.node_info is not None
        assert first.status.allocatable == first.status.capacity
        assert (first.status.capacity or {})["cpu"] == Quantity("2")
        assert (first.status.capacity or {})["pods"] == Quantity("7")
        assert ready(first) == ("True", "KubeletReady")
        assert first.labels["kubernetes.io/hostname"] == "node-1"
        assert taints_of(first) == []
        ranges = {each.spec.pod_cidr for each in nodes if each.spec is not None}
        assert len(ranges) == 3

    story(tell, nodes=3, node_cpu="2", node_pods=7)


def test_nodes_that_are_there_are_left_as_they_are() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.settle()
        before = len(world.history)

        settings = WorkloadSettings(nodes=2)
        await world.run_operator(runnables=runnables(settings), name="second")
        await world.settle()

        assert world.history.writes(since=before) == []

    story(tell, nodes=2)


def test_a_node_that_is_deleted_comes_back() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod())
        await world.settle()
        before = await world.get(Node, "node-1")

        await world.delete(Node, "node-1")
        await world.settle()

        after = await world.get(Node, "node-1")
        assert after.uid != before.uid
        assert ready(after) == ("True", "KubeletReady")
        assert status_of(await world.get(Pod, "one")).phase == "Running"

    story(tell)


def test_the_pods_of_a_node_that_stays_away_are_given_up() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(node("extra"))
        await world.settle()
        await world.create(pod(node_selector={"kubernetes.io/hostname": "extra"}))
        await world.patch(
            Node,
            "extra",
            MergePatch({"metadata": {"labels": {"kubernetes.io/hostname": "extra"}}}),
        )
        await world.settle()
        one = await world.get(Pod, "one")

        await world.delete(Node, "extra")
        await world.clock.sleep(39)
        still = await world.find(Pod, "one")
        await world.clock.sleep(2)

        assert node_of(one) == "extra"
        assert still is not None
        assert await world.find(Pod, "one") is None

    story(tell)


def test_a_node_of_somebody_elses_making_can_be_a_stand_in() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(node("mine", labels={"zone": "a"}))
        await world.settle()
        await world.create(pod(node_selector={"zone": "a"}))
        await world.settle()

        mine = await world.get(Node, "mine")
        assert ready(mine) == ("True", "KubeletReady")
        assert mine.labels["zone"] == "a"
        assert status_of(await world.get(Pod, "one")).phase == "Running"

    story(tell, nodes=0)


def test_a_taint_drives_away_those_who_do_not_bear_it() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod("frail"))
        await world.create(pod("patient", tolerations=(bearing(100),)))
        await world.create(pod("steadfast", tolerations=(bearing(),)))
        await world.settle()

        await tainted(world, "node-1", taint())
        await world.clock.sleep(99)
        early = await names(world)
        await world.clock.sleep(2)

        assert early == ["patient", "steadfast"]
        assert await names(world) == ["steadfast"]
        eviction = ("taint-eviction-controller", "TaintManagerEviction")
        assert (*eviction, "Marking for deletion Pod default/frail") in await events_of(
            world, "frail"
        )

    story(tell)


def test_a_taint_that_is_taken_away_in_time_drives_nobody_away() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod("patient", tolerations=(bearing(100),)))
        await world.settle()

        await tainted(world, "node-1", taint())
        await world.clock.sleep(50)
        await tainted(world, "node-1")
        await world.clock.sleep(200)

        assert await names(world) == ["patient"]

    story(tell)


def test_a_driven_away_pod_that_somebody_holds_says_what_drove_it() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod(finalizers=("example.com/held",)))
        await world.settle()

        await tainted(world, "node-1", taint())
        await world.settle()

        one = await world.get(Pod, "one")
        assert conditions_of(one)["DisruptionTarget"] == ("True", "DeletionByTaintManager")
        assert status_of(one).phase == "Failed"

    story(tell)


def test_a_silent_node_loses_its_pods_after_a_while_and_gets_well_again() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod())
        await world.settle()

        silence = {"metadata": {"annotations": told(silent="true")}}
        await world.patch(Node, "node-1", MergePatch(silence))
        await world.clock.sleep(1)
        silent = await world.get(Node, "node-1")
        await world.clock.sleep(250)
        early = await world.get(Pod, "one")
        await world.clock.sleep(60)
        late = await world.get(Pod, "one")
        speech = {"metadata": {"annotations": told(silent="false")}}
        await world.patch(Node, "node-1", MergePatch(speech))
        await world.settle()

        assert ready(silent) == ("Unknown", "NodeStatusUnknown")
        assert early.deletion_time is None
        # Asked to go, and nobody there who could see to it.
        assert late.deletion_time is not None
        assert ready(await world.get(Node, "node-1")) == ("True", "KubeletReady")
        assert await world.find(Pod, "one") is None

    story(tell)


def test_a_node_gives_signs_of_life_if_it_is_told_to() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.settle()
        await world.clock.sleep(25)

        leases = await world.list(coordination_v1.Lease, namespace="kube-node-lease")
        assert [each.name for each in leases] == ["node-1"]
        spec = leases[0].spec
        assert spec is not None
        assert spec.renew_time is not None
        assert world.clock.now() - spec.renew_time < timedelta(seconds=10)

    story(tell, heartbeat_seconds=10.0)


class Killing:
    """Kills the operator before or after its n-th write."""

    def __init__(self, number: int, when: str) -> None:
        self.number = number
        self.when = when
        self.seen = 0
        self.operator: Operator | None = None

    async def sending(self, actor: Actor, request: Request) -> None:
        if request.method != "GET":
            self.seen += 1
            await self._kill("before")

    async def answering(self, actor: Actor, request: Request) -> None:
        if request.method != "GET":
            await self._kill("after")

    async def telling(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Watches are not disturbed."""

    async def _kill(self, when: str) -> None:
        if self.seen == self.number and when == self.when and self.operator is not None:
            operator, self.operator = self.operator, None
            await operator.kill()


def test_wherever_it_is_killed_pods_live_on_as_if_nothing_had_happened() -> None:
    settings = WorkloadSettings(nodes=2, routine_events=False)

    async def tell(world: SimulatedWorld, killing: Killing) -> None:
        world.disturbance = killing
        for name in ("one", "two"):
            await world.create(pod(name))
        await world.create(pod("job", restart_policy="Never"))
        killing.operator = await world.run_operator(
            *controllers(settings), runnables=(*runnables(settings), *scheduler(settings))
        )
        await world.clock.sleep(10)
        await world.run_operator(
            *controllers(settings), runnables=(*runnables(settings), *scheduler(settings))
        )
        await world.clock.sleep(10)
        await world.delete(Pod, "two")
        await world.settle()

        one, job = await world.get(Pod, "one"), await world.get(Pod, "job")
        assert await names(world) == ["job", "one"]
        assert (status_of(one).phase, status_of(job).phase) == ("Running", "Succeeded")
        assert container_of(one).restart_count == 0
        assert [each.name for each in await world.list(Node)] == ["node-1", "node-2"]

    for number in range(1, 12):
        for when in ("before", "after"):
            killed = partial(tell, killing=Killing(number, when))
            simulate(killed, settings=WorkloadSettings(parts=()))


def test_a_second_look_writes_nothing() -> None:
    async def tell(world: SimulatedWorld) -> None:
        settings = WorkloadSettings(nodes=2)
        operator = await world.run_operator(
            *controllers(settings), runnables=(*runnables(settings), *scheduler(settings))
        )
        await world.create(pod("one"))
        await world.create(pod("job", restart_policy="Never"))
        await world.create(pod("huge", requests={"cpu": "99"}))
        await world.settle()
        before = len(world.history)

        await operator.stop()
        await world.run_operator(
            *controllers(settings), runnables=(*runnables(settings), *scheduler(settings))
        )
        await world.settle()

        assert world.history.writes(since=before) == []
        assert writes_since(world, 0) == []

    simulate(tell, settings=WorkloadSettings(parts=()))
