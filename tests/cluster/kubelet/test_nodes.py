"""Nodes that are registered, unresponsive, tainted or deleted, and their Pods."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from steersman.client import MergePatch
from steersman.kinds import coordination_v1, core_v1
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.simulation import Actor, SimulatedCluster, simulate
from steersman_cluster.simulation.cluster import Operator
from steersman_cluster.workloads import Workloads, workloads
from steersman_cluster.workloads.settings import WorkloadSettings
from tests.cluster.workloads.node_scenarios import (
    conditions_of,
    container_of,
    events_of,
    node,
    node_of,
    pod,
    run_steps,
    script,
    status_of,
    taints_of,
    writes_since,
)

Pod = core_v1.Pod
Node = core_v1.Node


def nodes(settings: WorkloadSettings) -> Workloads:
    """The simulated kubelet, taint eviction and the scheduler."""
    parts = replace(settings, parts=("nodes", "scheduler"))
    return workloads(parts, kubelet=simulated_kubelet)


def taint(effect: str = "NoExecute") -> core_v1.Taint:
    return core_v1.Taint(key="example.com/broken", effect=effect)


def bearing(seconds: int | None = None) -> core_v1.Toleration:
    return core_v1.Toleration(
        key="example.com/broken",
        operator="Exists",
        effect="NoExecute",
        toleration_seconds=seconds,
    )


async def tainted(cluster: SimulatedCluster, name: str, *taints: core_v1.Taint) -> None:
    await cluster.patch(Node, name, MergePatch({"spec": {"taints": taints}}))


async def names(cluster: SimulatedCluster) -> list[str]:
    return sorted(each.name for each in await cluster.list(Pod))


def ready(each: Node) -> tuple[str, str | None] | None:
    conditions = each.status.conditions if each.status is not None else None
    found = next((one for one in conditions or () if one.type == "Ready"), None)
    return (found.status, found.reason) if found is not None else None


def test_nodes_have_the_configured_number_and_size() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()

        nodes = await cluster.list(Node)
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

    run_steps(steps, nodes=3, node_cpu="2", node_pods=7)


def test_existing_nodes_are_left_alone() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        before = len(cluster.history)

        settings = WorkloadSettings(nodes=2)
        await cluster.run_operator(runnables=simulated_kubelet(settings).runnables, name="second")
        await cluster.settle()

        assert cluster.history.writes(since=before) == []

    run_steps(steps, nodes=2)


def test_a_deleted_node_is_registered_again() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()
        before = await cluster.get(Node, "node-1")

        await cluster.delete(Node, "node-1")
        await cluster.settle()

        after = await cluster.get(Node, "node-1")
        assert after.uid != before.uid
        assert ready(after) == ("True", "KubeletReady")
        assert status_of(await cluster.get(Pod, "one")).phase == "Running"

    run_steps(steps)


def test_the_pods_of_a_deleted_node_are_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node("extra"))
        await cluster.settle()
        await cluster.create(pod(node_selector={"kubernetes.io/hostname": "extra"}))
        await cluster.patch(
            Node,
            "extra",
            MergePatch({"metadata": {"labels": {"kubernetes.io/hostname": "extra"}}}),
        )
        await cluster.settle()
        one = await cluster.get(Pod, "one")

        await cluster.delete(Node, "extra")
        await cluster.clock.sleep(39)
        still = await cluster.find(Pod, "one")
        await cluster.clock.sleep(2)

        assert node_of(one) == "extra"
        assert still is not None
        assert await cluster.find(Pod, "one") is None

    run_steps(steps)


def test_a_node_that_a_user_creates_can_have_a_simulated_kubelet() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node("mine", labels={"zone": "a"}))
        await cluster.settle()
        await cluster.create(pod(node_selector={"zone": "a"}))
        await cluster.settle()

        mine = await cluster.get(Node, "mine")
        assert ready(mine) == ("True", "KubeletReady")
        assert mine.labels["zone"] == "a"
        assert status_of(await cluster.get(Pod, "one")).phase == "Running"

    run_steps(steps, nodes=0)


def test_a_taint_evicts_pods_that_do_not_tolerate_it() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("frail"))
        await cluster.create(pod("patient", tolerations=(bearing(100),)))
        await cluster.create(pod("steadfast", tolerations=(bearing(),)))
        await cluster.settle()

        await tainted(cluster, "node-1", taint())
        await cluster.clock.sleep(99)
        early = await names(cluster)
        await cluster.clock.sleep(2)

        assert early == ["patient", "steadfast"]
        assert await names(cluster) == ["steadfast"]
        eviction = ("taint-eviction-controller", "TaintManagerEviction")
        assert (*eviction, "Marking for deletion Pod default/frail") in await events_of(
            cluster, "frail"
        )

    run_steps(steps)


def test_a_taint_that_is_removed_in_time_evicts_no_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("patient", tolerations=(bearing(100),)))
        await cluster.settle()

        await tainted(cluster, "node-1", taint())
        await cluster.clock.sleep(50)
        await tainted(cluster, "node-1")
        await cluster.clock.sleep(200)

        assert await names(cluster) == ["patient"]

    run_steps(steps)


def test_an_evicted_pod_with_a_finalizer_has_the_reason_in_a_condition() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(finalizers=("example.com/held",)))
        await cluster.settle()

        await tainted(cluster, "node-1", taint())
        await cluster.settle()

        one = await cluster.get(Pod, "one")
        assert conditions_of(one)["DisruptionTarget"] == ("True", "DeletionByTaintManager")
        assert status_of(one).phase == "Failed"

    run_steps(steps)


def test_the_pods_of_an_unresponsive_node_are_evicted_and_the_node_can_recover() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()

        silence = {"metadata": {"annotations": script(silent="true")}}
        await cluster.patch(Node, "node-1", MergePatch(silence))
        await cluster.clock.sleep(1)
        silent = await cluster.get(Node, "node-1")
        await cluster.clock.sleep(250)
        early = await cluster.get(Pod, "one")
        await cluster.clock.sleep(60)
        late = await cluster.get(Pod, "one")
        speech = {"metadata": {"annotations": script(silent="false")}}
        await cluster.patch(Node, "node-1", MergePatch(speech))
        await cluster.settle()

        assert ready(silent) == ("Unknown", "NodeStatusUnknown")
        assert early.deletion_time is None
        # It was evicted, and its kubelet does not respond: the Pod cannot terminate.
        assert late.deletion_time is not None
        assert ready(await cluster.get(Node, "node-1")) == ("True", "KubeletReady")
        assert await cluster.find(Pod, "one") is None

    run_steps(steps)


def test_a_node_renews_its_lease_at_the_configured_interval() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        await cluster.clock.sleep(25)

        leases = await cluster.list(coordination_v1.Lease, namespace="kube-node-lease")
        assert [each.name for each in leases] == ["node-1"]
        spec = leases[0].spec
        assert spec is not None
        assert spec.renew_time is not None
        assert cluster.clock.now() - spec.renew_time < timedelta(seconds=10)

    run_steps(steps, heartbeat_seconds=10.0)


class Killing:
    """Kills the operator before or after its n-th write."""

    def __init__(self, number: int, when: str) -> None:
        self.number = number
        self.when = when
        self.seen = 0
        self.operator: Operator | None = None

    async def before_request(self, actor: Actor, request: Request) -> None:
        if request.method != "GET":
            self.seen += 1
            await self._kill("before")

    async def before_response(self, actor: Actor, request: Request) -> None:
        if request.method != "GET":
            await self._kill("after")

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """No faults in watches."""

    async def _kill(self, when: str) -> None:
        if self.seen == self.number and when == self.when and self.operator is not None:
            operator, self.operator = self.operator, None
            await operator.kill()


def test_pods_survive_a_crash_of_the_kubelet_at_every_write() -> None:
    settings = WorkloadSettings(nodes=2, routine_events=False)

    async def steps(cluster: SimulatedCluster, killing: Killing) -> None:
        cluster.fault_injector = killing
        for name in ("one", "two"):
            await cluster.create(pod(name))
        await cluster.create(pod("job", restart_policy="Never"))
        killing.operator = await cluster.run_operator(
            *nodes(settings).controllers, runnables=nodes(settings).runnables
        )
        await cluster.clock.sleep(10)
        await cluster.run_operator(
            *nodes(settings).controllers, runnables=nodes(settings).runnables
        )
        await cluster.clock.sleep(10)
        await cluster.delete(Pod, "two")
        await cluster.settle()

        one, job = await cluster.get(Pod, "one"), await cluster.get(Pod, "job")
        assert await names(cluster) == ["job", "one"]
        assert (status_of(one).phase, status_of(job).phase) == ("Running", "Succeeded")
        assert container_of(one).restart_count == 0
        assert [each.name for each in await cluster.list(Node)] == ["node-1", "node-2"]

    for number in range(1, 12):
        for when in ("before", "after"):
            killed = partial(steps, killing=Killing(number, when))
            simulate(killed, settings=WorkloadSettings(parts=()))


def test_a_restarted_kubelet_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        settings = WorkloadSettings(nodes=2)
        operator = await cluster.run_operator(
            *nodes(settings).controllers, runnables=nodes(settings).runnables
        )
        await cluster.create(pod("one"))
        await cluster.create(pod("job", restart_policy="Never"))
        await cluster.create(pod("huge", requests={"cpu": "99"}))
        await cluster.settle()
        before = len(cluster.history)

        await operator.stop()
        await cluster.run_operator(
            *nodes(settings).controllers, runnables=nodes(settings).runnables
        )
        await cluster.settle()

        assert cluster.history.writes(since=before) == []
        assert writes_since(cluster, 0) == []

    simulate(steps, settings=WorkloadSettings(parts=()))
