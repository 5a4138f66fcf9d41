"""The node of a Pod, and the messages of unschedulable Pods."""

from collections import Counter

from steersman.client import JsonPatch, MergePatch
from steersman.errors import Unreachable
from steersman.kinds import core_v1, meta_v1, scheduling_v1
from steersman.kinds.base import replace
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.kubelet import has_pending_changes, simulated_kubelet
from steersman_cluster.simulation import Actor, SimulatedCluster, simulate
from steersman_cluster.workloads import workloads
from steersman_cluster.workloads.settings import WorkloadSettings
from tests.cluster.workloads.node_scenarios import (
    conditions_of,
    events_of,
    message_of,
    node,
    node_of,
    pod,
    run_steps,
    status_of,
    taints_of,
    with_affinity,
    with_anti_affinity,
    with_node_affinity,
    writes_since,
)

Pod = core_v1.Pod
Node = core_v1.Node

NO_VICTIMS = "2 No preemption victims found for incoming pod"
NO_HELP = "2 Preemption is not helpful for scheduling"


def refused(reasons: str, hopes: str) -> str:
    return f"0/2 nodes are available: {reasons}. preemption: 0/2 nodes are available: {hopes}."


async def nodes_of(cluster: SimulatedCluster) -> dict[str, str | None]:
    return {each.name: node_of(each) for each in await cluster.list(Pod)}


def test_a_pod_is_bound_only_to_a_node_on_which_it_fits() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node("big", labels={"disk": "ssd"}))
        taint = core_v1.Taint(key="for", value="others", effect="NoSchedule")
        await cluster.create(node("reserved", taints=(taint,)))
        await cluster.settle()

        await cluster.create(pod("chosen", node_selector={"disk": "ssd"}))
        bearing = core_v1.Toleration(key="for", operator="Equal", value="others")
        wanted = {"kubernetes.io/hostname": "reserved"}
        await cluster.patch(Node, "reserved", MergePatch({"metadata": {"labels": wanted}}))
        await cluster.create(pod("bearing", tolerations=(bearing,), node_selector=wanted))
        await cluster.create(pod("hungry", requests={"cpu": "7"}))
        await cluster.create(pod("hungry-too", requests={"cpu": "7"}))
        await cluster.create(pod("left-over", requests={"cpu": "7"}))
        await cluster.settle()

        found = await nodes_of(cluster)
        assert (found["chosen"], found["bearing"]) == ("big", "reserved")
        assert {found["hungry"], found["hungry-too"]} == {"node-1", "big"}
        assert found["left-over"] is None

    run_steps(steps)


def test_an_unschedulable_pod_has_the_reason_in_its_status_and_is_retried_after_a_change() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("first", requests={"cpu": "5"}))
        await cluster.create(pod("second", requests={"cpu": "5"}))
        await cluster.create(pod("third", requests={"cpu": "5"}))
        await cluster.settle()
        waiting = await cluster.get(Pod, "third")

        await cluster.delete(Pod, "first")
        await cluster.settle()

        message = refused("2 Insufficient cpu", NO_VICTIMS)
        assert conditions_of(waiting)["PodScheduled"] == ("False", "Unschedulable")
        assert message_of(waiting, "PodScheduled") == message
        assert not has_pending_changes(waiting)
        third = await cluster.get(Pod, "third")
        assert (node_of(third), status_of(third).phase) == ("node-1", "Running")
        assert conditions_of(third)["PodScheduled"] == ("True", None)
        assert (await events_of(cluster, "third"))[:2] == [
            ("default-scheduler", "FailedScheduling", message),
            ("default-scheduler", "Scheduled", "Successfully assigned default/third to node-1"),
        ]

    run_steps(steps, nodes=2)


def test_each_reason_has_the_message_of_kube_scheduler() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("choosy", node_selector={"disk": "ssd"}))
        await cluster.create(pod("huge", requests={"cpu": "9", "memory": "64Gi"}))
        await cluster.create(pod("odd", requests={"example.com/gpu": "1"}))
        lonely = with_anti_affinity(pod("lonely", labels={"app": "lonely"}), {"app": "web"})
        await cluster.create(pod("web-1", labels={"app": "web"}, host_port=80))
        await cluster.create(pod("web-2", labels={"app": "web"}, host_port=80))
        await cluster.create(pod("web-3", host_port=80))
        await cluster.settle()
        await cluster.create(lonely)
        await cluster.create(with_affinity(pod("clinging"), {"app": "missing"}))
        await cluster.settle()

        async def said(name: str) -> str | None:
            return message_of(await cluster.get(Pod, name), "PodScheduled")

        assert await said("choosy") == refused(
            "2 node(s) didn't match Pod's node affinity/selector", NO_HELP
        )
        assert await said("huge") == refused("2 Insufficient cpu, 2 Insufficient memory", NO_HELP)
        assert await said("odd") == refused("2 Insufficient example.com/gpu", NO_HELP)
        assert await said("web-3") == refused(
            "2 node(s) didn't have free ports for the requested pod ports", NO_VICTIMS
        )
        assert await said("lonely") == refused(
            "2 node(s) didn't match pod anti-affinity rules", NO_VICTIMS
        )
        assert await said("clinging") == refused(
            "2 node(s) didn't match pod affinity rules", NO_HELP
        )

    run_steps(steps, nodes=2)


def test_without_nodes_the_message_says_that_none_is_available() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()
        waiting = await cluster.get(Pod, "one")
        await cluster.create(node("late"))
        await cluster.settle()

        assert message_of(waiting, "PodScheduled") == "no nodes available to schedule pods"
        assert node_of(await cluster.get(Pod, "one")) == "late"

    run_steps(steps, nodes=0)


def test_a_cordoned_node_gets_no_more_pods_until_it_is_uncordoned() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        await cluster.patch(Node, "node-1", MergePatch({"spec": {"unschedulable": True}}))
        await cluster.settle()
        cordoned = await cluster.get(Node, "node-1")
        await cluster.create(pod())
        await cluster.settle()
        waiting = await cluster.get(Pod, "one")

        await cluster.patch(Node, "node-1", MergePatch({"spec": {"unschedulable": None}}))
        await cluster.settle()

        assert taints_of(cordoned) == [("node.kubernetes.io/unschedulable", "NoSchedule")]
        assert message_of(waiting, "PodScheduled") == (
            "0/1 nodes are available: 1 node(s) were unschedulable."
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )
        assert node_of(await cluster.get(Pod, "one")) == "node-1"
        assert taints_of(await cluster.get(Node, "node-1")) == []

    run_steps(steps)


def test_pods_are_spread_evenly_over_equal_nodes() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for number in range(12):
            await cluster.create(pod(f"pod-{number}"))
        await cluster.settle()

        counts = Counter((await nodes_of(cluster)).values())
        assert counts == {"node-1": 4, "node-2": 4, "node-3": 4}

    run_steps(steps, nodes=3)


def test_a_preferred_node_is_selected_while_it_has_room() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        term = core_v1.NodeSelectorTerm(
            match_expressions=(
                core_v1.NodeSelectorRequirement(
                    key="kubernetes.io/hostname", operator="In", values=("node-2",)
                ),
            )
        )
        preferring = core_v1.PreferredSchedulingTerm(weight=50, preference=term)
        for name in ("one", "two", "three"):
            await cluster.create(
                with_node_affinity(
                    pod(name, requests={"cpu": "3"}),
                    preferred_during_scheduling_ignored_during_execution=(preferring,),
                )
            )
        await cluster.settle()

        found = await nodes_of(cluster)
        assert found == {"one": "node-2", "two": "node-2", "three": "node-1"}

    run_steps(steps, nodes=2)


def test_pods_with_anti_affinity_to_each_other_get_separate_nodes() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        labels = {"app": "alone"}
        for name in ("one", "two", "three"):
            await cluster.create(with_anti_affinity(pod(name, labels=labels), labels))
        await cluster.settle()
        found = await nodes_of(cluster)
        await cluster.create(pod("foreign", labels=labels))
        await cluster.settle()

        assert sorted(str(each) for each in found.values()) == ["None", "node-1", "node-2"]
        assert message_of(await cluster.get(Pod, "foreign"), "PodScheduled") == refused(
            "2 node(s) didn't satisfy existing pods anti-affinity rules", NO_VICTIMS
        )

    run_steps(steps, nodes=2)


def test_pods_with_affinity_follow_the_first() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        labels = {"app": "together"}
        for name in ("one", "two", "three"):
            await cluster.create(with_affinity(pod(name, labels=labels), labels))
            await cluster.settle()
        await cluster.create(with_affinity(pod("waiting"), {"app": "late"}))
        await cluster.settle()
        waiting = await cluster.get(Pod, "waiting")
        await cluster.create(pod("late", labels={"app": "late"}))
        await cluster.settle()

        found = await nodes_of(cluster)
        assert len({found[name] for name in ("one", "two", "three")}) == 1
        assert node_of(waiting) is None
        assert found["waiting"] == found["late"]

    run_steps(steps, nodes=2)


def test_a_required_topology_spread_is_respected() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        labels = {"app": "web"}
        constraint = core_v1.TopologySpreadConstraint(
            max_skew=1,
            topology_key="zone",
            when_unsatisfiable="DoNotSchedule",
            label_selector=meta_v1.LabelSelector(match_labels=labels),
        )
        await cluster.create(node("a-1", labels={"zone": "a"}))
        await cluster.create(node("a-2", labels={"zone": "a"}))
        await cluster.create(node("b-1", labels={"zone": "b"}))
        await cluster.settle()
        fill = {"kubernetes.io/hostname": "none"}
        await cluster.patch(Node, "b-1", MergePatch({"metadata": {"labels": fill}}))
        for number in range(4):
            await cluster.create(
                pod(f"pod-{number}", labels=labels, topology_spread_constraints=(constraint,))
            )
        await cluster.settle()
        even = Counter((await nodes_of(cluster)).values())
        await cluster.patch(Node, "b-1", MergePatch({"spec": {"unschedulable": True}}))
        for number in range(4, 6):
            await cluster.create(
                pod(f"pod-{number}", labels=labels, topology_spread_constraints=(constraint,))
            )
        await cluster.settle()

        assert even["a-1"] + even["a-2"] == even["b-1"] == 2
        left = await cluster.get(Pod, "pod-5")
        assert message_of(left, "PodScheduled") == (
            "0/3 nodes are available: 1 node(s) were unschedulable,"
            " 2 node(s) didn't match pod topology spread constraints."
            " preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling,"
            " 2 No preemption victims found for incoming pod."
        )

    run_steps(steps, nodes=0)


def test_a_pod_waits_until_its_scheduling_gate_is_removed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        gate = core_v1.PodSchedulingGate(name="example.com/wait")
        await cluster.create(pod(scheduling_gates=(gate,)))
        await cluster.settle()
        gated = await cluster.get(Pod, "one")

        await cluster.patch(Pod, "one", JsonPatch(JsonPatch.remove("/spec/schedulingGates")))
        await cluster.settle()

        assert (node_of(gated), has_pending_changes(gated)) == (None, False)
        assert node_of(await cluster.get(Pod, "one")) == "node-1"

    run_steps(steps)


def test_the_pod_with_the_highest_priority_gets_free_capacity() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        metadata = meta_v1.ObjectMeta(name="high")
        await cluster.create(
            scheduling_v1.PriorityClass(metadata=metadata, value=1000, preemption_policy="Never")
        )
        await cluster.create(pod("holder", requests={"cpu": "8"}))
        await cluster.settle()
        await cluster.create(pod("low", requests={"cpu": "8"}))
        await cluster.create(pod("high", requests={"cpu": "8"}, priority_class_name="high"))
        await cluster.settle()

        await cluster.delete(Pod, "holder")
        await cluster.settle()

        assert await nodes_of(cluster) == {"low": None, "high": "node-1"}

    run_steps(steps)


def test_many_identical_unschedulable_pods_do_not_block_others() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for number in range(400):
            await cluster.create(pod(f"pod-{number}", requests={"cpu": "1"}))
        await cluster.settle()
        crowd = Counter((await nodes_of(cluster)).values())

        before = len(cluster.history)
        await cluster.create(pod("small"))
        await cluster.settle()
        small = writes_since(cluster, before)
        await cluster.delete(Pod, "pod-0")
        await cluster.settle()

        assert crowd == {"node-1": 8, "node-2": 8, None: 384}
        assert len(small) == 2
        # One Pod is deleted, and one is bound in its place: no other Pod is written.
        assert len(writes_since(cluster, before)) == len(small) + 3
        assert Counter((await nodes_of(cluster)).values())[None] == 383

    run_steps(steps, nodes=2, routine_events=False)


def test_many_different_unschedulable_pods_do_not_delay_others() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("holder", requests={"cpu": "8"}))
        for number in range(150):
            await cluster.create(pod(f"sort-{number}", requests={"cpu": f"{8000 - number}m"}))
        await cluster.settle()

        await cluster.create(pod("small"))
        await cluster.delete(Pod, "holder")
        await cluster.clock.sleep(0.1)
        small = await cluster.get(Pod, "small")
        await cluster.settle()
        await cluster.clock.sleep(2)

        assert status_of(small).phase == "Running"
        found = Counter((await nodes_of(cluster)).values())
        assert found == {"node-1": 2, None: 149}

    run_steps(steps, routine_events=False)


class Losing:
    """Loses one binding request, and the response to another."""

    def __init__(self) -> None:
        self.left = ["sending", "answering"]

    async def before_request(self, actor: Actor, request: Request) -> None:
        self._lose("sending", request)

    async def before_response(self, actor: Actor, request: Request) -> None:
        self._lose("answering", request)

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """No faults in watches."""

    def _lose(self, when: str, request: Request) -> None:
        if request.path.endswith("/binding") and when in self.left:
            self.left.remove(when)
            raise Unreachable(f"lost while {when}")


def test_a_lost_binding_request_is_retried() -> None:
    fault_injector = Losing()

    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = fault_injector
        settings = WorkloadSettings(parts=("nodes", "scheduler"), nodes=2)
        ours = workloads(settings, kubelet=simulated_kubelet)
        await cluster.run_operator(*ours.controllers, runnables=ours.runnables)
        for name in ("one", "two", "three"):
            await cluster.create(pod(name))
        await cluster.settle()
        await cluster.clock.sleep(5)
        await cluster.settle()

        assert fault_injector.left == []
        assert {status_of(each).phase for each in await cluster.list(Pod)} == {"Running"}

    simulate(steps, settings=WorkloadSettings(parts=()))


def test_a_waiting_pod_is_retried_after_its_node_requirements_are_met() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        gate = core_v1.PodSchedulingGate(name="example.com/wait")
        gated = pod(scheduling_gates=(gate,))
        assert gated.spec is not None
        await cluster.create(
            replace(gated, spec=replace(gated.spec, node_selector={"disk": "ssd"}))
        )
        await cluster.patch(Pod, "one", JsonPatch(JsonPatch.remove("/spec/schedulingGates")))
        await cluster.settle()
        waiting = await cluster.get(Pod, "one")

        labels = {"metadata": {"labels": {"disk": "ssd"}}}
        await cluster.patch(Node, "node-1", MergePatch(labels))
        await cluster.settle()

        assert node_of(waiting) is None
        assert node_of(await cluster.get(Pod, "one")) == "node-1"

    run_steps(steps)


def claiming(name: str, claim: str) -> Pod:
    source = core_v1.PersistentVolumeClaimVolumeSource(claim_name=claim)
    return pod(name, volumes=(core_v1.Volume(name="data", persistent_volume_claim=source),))


def claim(name: str) -> core_v1.PersistentVolumeClaim:
    resources = core_v1.VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    return core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",), resources=resources
        ),
    )


def test_a_pod_waits_for_the_volumes_that_it_claims() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claiming("early", "data"))
        await cluster.create(claiming("served", "ready"))
        await cluster.create(claim("ready"))
        await cluster.settle()
        early = await cluster.get(Pod, "early")
        served = await cluster.get(Pod, "served")
        await cluster.create(claim("data"))
        await cluster.settle()

        assert message_of(early, "PodScheduled") == (
            '0/1 nodes are available: persistentvolumeclaim "data" not found.'
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )
        assert status_of(served).phase == "Running"
        assert status_of(await cluster.get(Pod, "early")).phase == "Running"

    run_steps(steps, parts=("nodes", "scheduler", "volumes"))


def test_an_unbound_claim_is_reported_in_the_message() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claim("data"))
        await cluster.create(claiming("one", "data"))
        await cluster.settle()

        assert message_of(await cluster.get(Pod, "one"), "PodScheduled") == (
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )

    run_steps(steps)
