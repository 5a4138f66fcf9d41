"""Which node a Pod gets, and what is said of those that get none."""

from collections import Counter

from steersman.client import JsonPatch, MergePatch
from steersman.errors import Unreachable
from steersman.kinds import core_v1, meta_v1, scheduling_v1
from steersman.kinds.base import replace
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.simulation import Actor, SimulatedWorld, simulate
from steersman_cluster.workloads.nodes import controllers, in_motion, runnables
from steersman_cluster.workloads.scheduler import runnables as scheduler
from steersman_cluster.workloads.settings import WorkloadSettings
from tests.cluster.workloads.node_stories import (
    conditions_of,
    events_of,
    far_from,
    message_of,
    near_to,
    node,
    node_of,
    pod,
    status_of,
    story,
    taints_of,
    with_node_affinity,
    writes_since,
)

Pod = core_v1.Pod
Node = core_v1.Node

NO_VICTIMS = "2 No preemption victims found for incoming pod"
NO_HELP = "2 Preemption is not helpful for scheduling"


def refused(reasons: str, hopes: str) -> str:
    return f"0/2 nodes are available: {reasons}. preemption: 0/2 nodes are available: {hopes}."


async def nodes_of(world: SimulatedWorld) -> dict[str, str | None]:
    return {each.name: node_of(each) for each in await world.list(Pod)}


def test_a_pod_goes_only_where_it_may_and_where_there_is_room() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(node("big", labels={"disk": "ssd"}))
        taint = core_v1.Taint(key="for", value="others", effect="NoSchedule")
        await world.create(node("reserved", taints=(taint,)))
        await world.settle()

        await world.create(pod("chosen", node_selector={"disk": "ssd"}))
        bearing = core_v1.Toleration(key="for", operator="Equal", value="others")
        wanted = {"kubernetes.io/hostname": "reserved"}
        await world.patch(Node, "reserved", MergePatch({"metadata": {"labels": wanted}}))
        await world.create(pod("bearing", tolerations=(bearing,), node_selector=wanted))
        await world.create(pod("hungry", requests={"cpu": "7"}))
        await world.create(pod("hungry-too", requests={"cpu": "7"}))
        await world.create(pod("left-over", requests={"cpu": "7"}))
        await world.settle()

        found = await nodes_of(world)
        assert (found["chosen"], found["bearing"]) == ("big", "reserved")
        assert {found["hungry"], found["hungry-too"]} == {"node-1", "big"}
        assert found["left-over"] is None

    story(tell)


def test_what_fits_nowhere_is_told_why_and_tried_again_when_that_may_have_changed() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod("first", requests={"cpu": "5"}))
        await world.create(pod("second", requests={"cpu": "5"}))
        await world.create(pod("third", requests={"cpu": "5"}))
        await world.settle()
        waiting = await world.get(Pod, "third")

        await world.delete(Pod, "first")
        await world.settle()

        message = refused("2 Insufficient cpu", NO_VICTIMS)
        assert conditions_of(waiting)["PodScheduled"] == ("False", "Unschedulable")
        assert message_of(waiting, "PodScheduled") == message
        assert not in_motion(waiting)
        third = await world.get(Pod, "third")
        assert (node_of(third), status_of(third).phase) == ("node-1", "Running")
        assert conditions_of(third)["PodScheduled"] == ("True", None)
        assert (await events_of(world, "third"))[:2] == [
            ("default-scheduler", "FailedScheduling", message),
            ("default-scheduler", "Scheduled", "Successfully assigned default/third to node-1"),
        ]

    story(tell, nodes=2)


def test_each_reason_is_said_in_the_schedulers_own_words() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod("choosy", node_selector={"disk": "ssd"}))
        await world.create(pod("huge", requests={"cpu": "9", "memory": "64Gi"}))
        await world.create(pod("odd", requests={"example.com/gpu": "1"}))
        lonely = far_from(pod("lonely", labels={"app": "lonely"}), {"app": "guest"})
        await world.create(pod("guest-1", labels={"app": "guest"}, host_port=80))
        await world.create(pod("guest-2", labels={"app": "guest"}, host_port=80))
        await world.create(pod("guest-3", host_port=80))
        await world.settle()
        await world.create(lonely)
        await world.create(near_to(pod("clinging"), {"app": "nobody"}))
        await world.settle()

        async def said(name: str) -> str | None:
            return message_of(await world.get(Pod, name), "PodScheduled")

        assert await said("choosy") == refused(
            "2 node(s) didn't match Pod's node affinity/selector", NO_HELP
        )
        assert await said("huge") == refused("2 Insufficient cpu, 2 Insufficient memory", NO_HELP)
        assert await said("odd") == refused("2 Insufficient example.com/gpu", NO_HELP)
        assert await said("guest-3") == refused(
            "2 node(s) didn't have free ports for the requested pod ports", NO_VICTIMS
        )
        assert await said("lonely") == refused(
            "2 node(s) didn't match pod anti-affinity rules", NO_VICTIMS
        )
        assert await said("clinging") == refused(
            "2 node(s) didn't match pod affinity rules", NO_HELP
        )

    story(tell, nodes=2)


def test_without_a_node_pods_are_told_that_there_is_none() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod())
        await world.settle()
        waiting = await world.get(Pod, "one")
        await world.create(node("late"))
        await world.settle()

        assert message_of(waiting, "PodScheduled") == "no nodes available to schedule pods"
        assert node_of(await world.get(Pod, "one")) == "late"

    story(tell, nodes=0)


def test_a_cordoned_node_gets_no_more_pods_until_it_is_uncordoned() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.settle()
        await world.patch(Node, "node-1", MergePatch({"spec": {"unschedulable": True}}))
        await world.settle()
        cordoned = await world.get(Node, "node-1")
        await world.create(pod())
        await world.settle()
        waiting = await world.get(Pod, "one")

        await world.patch(Node, "node-1", MergePatch({"spec": {"unschedulable": None}}))
        await world.settle()

        assert taints_of(cordoned) == [("node.kubernetes.io/unschedulable", "NoSchedule")]
        assert message_of(waiting, "PodScheduled") == (
            "0/1 nodes are available: 1 node(s) were unschedulable."
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )
        assert node_of(await world.get(Pod, "one")) == "node-1"
        assert taints_of(await world.get(Node, "node-1")) == []

    story(tell)


def test_pods_are_spread_evenly_over_nodes_that_are_alike() -> None:
    async def tell(world: SimulatedWorld) -> None:
        for number in range(12):
            await world.create(pod(f"pod-{number}"))
        await world.settle()

        counts = Counter((await nodes_of(world)).values())
        assert counts == {"node-1": 4, "node-2": 4, "node-3": 4}

    story(tell, nodes=3)


def test_a_preferred_node_is_taken_while_it_has_room() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.settle()
        term = core_v1.NodeSelectorTerm(
            match_expressions=(
                core_v1.NodeSelectorRequirement(
                    key="kubernetes.io/hostname", operator="In", values=("node-2",)
                ),
            )
        )
        preferring = core_v1.PreferredSchedulingTerm(weight=50, preference=term)
        for name in ("one", "two", "three"):
            await world.create(
                with_node_affinity(
                    pod(name, requests={"cpu": "3"}),
                    preferred_during_scheduling_ignored_during_execution=(preferring,),
                )
            )
        await world.settle()

        found = await nodes_of(world)
        assert found == {"one": "node-2", "two": "node-2", "three": "node-1"}

    story(tell, nodes=2)


def test_pods_that_keep_their_like_away_get_a_node_each() -> None:
    async def tell(world: SimulatedWorld) -> None:
        labels = {"app": "alone"}
        for name in ("one", "two", "three"):
            await world.create(far_from(pod(name, labels=labels), labels))
        await world.settle()
        found = await nodes_of(world)
        await world.create(pod("stranger", labels=labels))
        await world.settle()

        assert sorted(str(each) for each in found.values()) == ["None", "node-1", "node-2"]
        assert message_of(await world.get(Pod, "stranger"), "PodScheduled") == refused(
            "2 node(s) didn't satisfy existing pods anti-affinity rules", NO_VICTIMS
        )

    story(tell, nodes=2)


def test_pods_that_want_to_be_together_follow_the_first() -> None:
    async def tell(world: SimulatedWorld) -> None:
        labels = {"app": "together"}
        for name in ("one", "two", "three"):
            await world.create(near_to(pod(name, labels=labels), labels))
            await world.settle()
        await world.create(near_to(pod("waiting"), {"app": "late"}))
        await world.settle()
        waiting = await world.get(Pod, "waiting")
        await world.create(pod("late", labels={"app": "late"}))
        await world.settle()

        found = await nodes_of(world)
        assert len({found[name] for name in ("one", "two", "three")}) == 1
        assert node_of(waiting) is None
        assert found["waiting"] == found["late"]

    story(tell, nodes=2)


def test_a_spread_that_must_be_kept_is_kept() -> None:
    async def tell(world: SimulatedWorld) -> None:
        labels = {"app": "web"}
        constraint = core_v1.TopologySpreadConstraint(
            max_skew=1,
            topology_key="zone",
            when_unsatisfiable="DoNotSchedule",
            label_selector=meta_v1.LabelSelector(match_labels=labels),
        )
        await world.create(node("a-1", labels={"zone": "a"}))
        await world.create(node("a-2", labels={"zone": "a"}))
        await world.create(node("b-1", labels={"zone": "b"}))
        await world.settle()
        fill = {"kubernetes.io/hostname": "none"}
        await world.patch(Node, "b-1", MergePatch({"metadata": {"labels": fill}}))
        for number in range(4):
            await world.create(
                pod(f"pod-{number}", labels=labels, topology_spread_constraints=(constraint,))
            )
        await world.settle()
        even = Counter((await nodes_of(world)).values())
        await world.patch(Node, "b-1", MergePatch({"spec": {"unschedulable": True}}))
        for number in range(4, 6):
            await world.create(
                pod(f"pod-{number}", labels=labels, topology_spread_constraints=(constraint,))
            )
        await world.settle()

        assert even["a-1"] + even["a-2"] == even["b-1"] == 2
        left = await world.get(Pod, "pod-5")
        assert message_of(left, "PodScheduled") == (
            "0/3 nodes are available: 1 node(s) were unschedulable,"
            " 2 node(s) didn't match pod topology spread constraints."
            " preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling,"
            " 2 No preemption victims found for incoming pod."
        )

    story(tell, nodes=0)


def test_a_pod_with_a_scheduling_gate_waits_until_it_is_open() -> None:
    async def tell(world: SimulatedWorld) -> None:
        gate = core_v1.PodSchedulingGate(name="example.com/wait")
        await world.create(pod(scheduling_gates=(gate,)))
        await world.settle()
        gated = await world.get(Pod, "one")

        await world.patch(Pod, "one", JsonPatch(JsonPatch.remove("/spec/schedulingGates")))
        await world.settle()

        assert (node_of(gated), in_motion(gated)) == (None, False)
        assert node_of(await world.get(Pod, "one")) == "node-1"

    story(tell)


def test_the_highest_priority_gets_the_room_that_becomes_free() -> None:
    async def tell(world: SimulatedWorld) -> None:
        metadata = meta_v1.ObjectMeta(name="high")
        await world.create(
            scheduling_v1.PriorityClass(metadata=metadata, value=1000, preemption_policy="Never")
        )
        await world.create(pod("holder", requests={"cpu": "8"}))
        await world.settle()
        await world.create(pod("low", requests={"cpu": "8"}))
        await world.create(pod("high", requests={"cpu": "8"}, priority_class_name="high"))
        await world.settle()

        await world.delete(Pod, "holder")
        await world.settle()

        assert await nodes_of(world) == {"low": None, "high": "node-1"}

    story(tell)


def test_many_pods_of_one_sort_that_fit_nowhere_starve_nobody() -> None:
    async def tell(world: SimulatedWorld) -> None:
        for number in range(400):
            await world.create(pod(f"pod-{number}", requests={"cpu": "1"}))
        await world.settle()
        crowd = Counter((await nodes_of(world)).values())

        before = len(world.history)
        await world.create(pod("small"))
        await world.settle()
        small = writes_since(world, before)
        await world.delete(Pod, "pod-0")
        await world.settle()

        assert crowd == {"node-1": 8, "node-2": 8, None: 384}
        assert len(small) == 2
        # One leaves, and one takes its place: nobody else is written to.
        assert len(writes_since(world, before)) == len(small) + 3
        assert Counter((await nodes_of(world)).values())[None] == 383

    story(tell, nodes=2, routine_events=False)


def test_many_sorts_of_pods_that_fit_nowhere_do_not_hold_up_others() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(pod("holder", requests={"cpu": "8"}))
        for number in range(150):
            await world.create(pod(f"sort-{number}", requests={"cpu": f"{8000 - number}m"}))
        await world.settle()

        await world.create(pod("small"))
        await world.delete(Pod, "holder")
        await world.clock.sleep(0.1)
        small = await world.get(Pod, "small")
        await world.settle()
        await world.clock.sleep(2)

        assert status_of(small).phase == "Running"
        found = Counter((await nodes_of(world)).values())
        assert found == {"node-1": 2, None: 149}

    story(tell, routine_events=False)


class Losing:
    """Loses a binding on its way there, and the answer to another."""

    def __init__(self) -> None:
        self.left = ["sending", "answering"]

    async def sending(self, actor: Actor, request: Request) -> None:
        self._lose("sending", request)

    async def answering(self, actor: Actor, request: Request) -> None:
        self._lose("answering", request)

    async def telling(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Watches are not disturbed."""

    def _lose(self, when: str, request: Request) -> None:
        if request.path.endswith("/binding") and when in self.left:
            self.left.remove(when)
            raise Unreachable(f"lost while {when}")


def test_a_pod_whose_binding_is_lost_gets_its_node_all_the_same() -> None:
    disturbance = Losing()

    async def tell(world: SimulatedWorld) -> None:
        world.disturbance = disturbance
        settings = WorkloadSettings(nodes=2)
        await world.run_operator(
            *controllers(settings), runnables=(*runnables(settings), *scheduler(settings))
        )
        for name in ("one", "two", "three"):
            await world.create(pod(name))
        await world.settle()
        await world.clock.sleep(5)
        await world.settle()

        assert disturbance.left == []
        assert {status_of(each).phase for each in await world.list(Pod)} == {"Running"}

    simulate(tell, settings=WorkloadSettings(parts=()))


def test_a_pod_that_asks_for_another_place_while_it_waits_is_tried_again() -> None:
    async def tell(world: SimulatedWorld) -> None:
        gate = core_v1.PodSchedulingGate(name="example.com/wait")
        gated = pod(scheduling_gates=(gate,))
        assert gated.spec is not None
        await world.create(replace(gated, spec=replace(gated.spec, node_selector={"disk": "ssd"})))
        await world.patch(Pod, "one", JsonPatch(JsonPatch.remove("/spec/schedulingGates")))
        await world.settle()
        waiting = await world.get(Pod, "one")

        labels = {"metadata": {"labels": {"disk": "ssd"}}}
        await world.patch(Node, "node-1", MergePatch(labels))
        await world.settle()

        assert node_of(waiting) is None
        assert node_of(await world.get(Pod, "one")) == "node-1"

    story(tell)


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
    async def tell(world: SimulatedWorld) -> None:
        await world.create(claiming("early", "data"))
        await world.create(claiming("served", "ready"))
        await world.create(claim("ready"))
        await world.settle()
        early = await world.get(Pod, "early")
        served = await world.get(Pod, "served")
        await world.create(claim("data"))
        await world.settle()

        assert message_of(early, "PodScheduled") == (
            '0/1 nodes are available: persistentvolumeclaim "data" not found.'
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )
        assert status_of(served).phase == "Running"
        assert status_of(await world.get(Pod, "early")).phase == "Running"

    story(tell, parts=("nodes", "scheduler", "volumes"))


def test_a_claim_that_nobody_serves_is_told_of() -> None:
    async def tell(world: SimulatedWorld) -> None:
        await world.create(claim("data"))
        await world.create(claiming("one", "data"))
        await world.settle()

        assert message_of(await world.get(Pod, "one"), "PodScheduled") == (
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )

    story(tell)
