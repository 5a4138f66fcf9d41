"""The lifecycle of Pods on simulated nodes."""

from steersman.client import JsonPatch, MergePatch, StrategicMergePatch
from steersman.kinds import core_v1, policy_v1
from steersman_cluster.kubelet import has_pending_changes, simulated_kubelet
from steersman_cluster.kubelet.addresses import address_of
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads.settings import WorkloadSettings
from steersman_cluster.workloads.status_writer import plain, pod_difference
from tests.cluster.workloads.node_scenarios import (
    conditions_of,
    container_of,
    events_of,
    inits_of,
    last_state_of,
    node,
    node_of,
    pod,
    run_steps,
    script,
    state_of,
    status_of,
    writes_since,
)

Pod = core_v1.Pod
UNREADY = ("False", "ContainersNotReady")


def test_a_pod_that_starts_immediately_needs_only_two_writes_binding_and_status() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        before = len(cluster.history)

        await cluster.create(pod())
        await cluster.settle()

        assert writes_since(cluster, before) == [
            "POST /api/v1/namespaces/default/pods/one/binding",
            "PATCH /api/v1/namespaces/default/pods/one/status",
        ]

    run_steps(steps)


def test_a_ready_pod_has_the_status_that_a_kubelet_writes() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()

        one = await cluster.get(Pod, "one")
        status, container = status_of(one), container_of(one)
        assert (node_of(one), status.phase, status.qos_class) == ("node-1", "Running", "BestEffort")
        assert list(conditions_of(one).items()) == [
            ("PodReadyToStartContainers", ("True", None)),
            ("Initialized", ("True", None)),
            ("Ready", ("True", None)),
            ("ContainersReady", ("True", None)),
            ("PodScheduled", ("True", None)),
        ]
        assert (container.ready, container.started, container.restart_count) == (True, True, 0)
        assert state_of(container) == "running"
        assert status.host_ip == address_of(await cluster.get(core_v1.Node, "node-1"))
        assert status.pod_ips == (core_v1.PodIP(ip=status.pod_ip or ""),)
        assert status.start_time is not None
        assert await events_of(cluster, "one") == [
            ("default-scheduler", "Scheduled", "Successfully assigned default/one to node-1"),
            (
                "kubelet",
                "Pulled",
                'Container image "app:1" already present on machine and can be accessed by the pod',
            ),
            ("kubelet", "Created", "Container created"),
            ("kubelet", "Started", "Container started"),
        ]

    run_steps(steps)


def test_without_routine_events_only_warnings_are_recorded() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.create(pod("crashing", annotations=script(exit_code="1")))
        await cluster.settle()

        assert await events_of(cluster, "one") == []
        assert {reason for _, reason, _ in await events_of(cluster, "crashing")} == {"BackOff"}

    run_steps(steps, routine_events=False)


def test_the_delays_of_start_and_readiness_are_configurable() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(annotations=script(start_seconds="100", ready_seconds="200")))
        await cluster.clock.sleep(99)
        starting = await cluster.get(Pod, "one")
        await cluster.clock.sleep(2)
        running = await cluster.get(Pod, "one")
        await cluster.clock.sleep(200)
        ready = await cluster.get(Pod, "one")

        assert status_of(starting).phase == "Pending"
        assert conditions_of(starting)["PodReadyToStartContainers"] == ("False", None)
        assert state_of(container_of(starting)) == "waiting: ContainerCreating"
        assert status_of(running).phase == "Running"
        assert conditions_of(running)["Ready"] == UNREADY
        assert conditions_of(ready)["Ready"] == ("True", None)
        assert [has_pending_changes(each) for each in (starting, running, ready)] == [
            True,
            True,
            False,
        ]

    run_steps(steps)


def test_a_pod_with_the_never_ready_annotation_is_never_ready() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(annotations=script(never_ready="true")))
        await cluster.settle()

        one = await cluster.get(Pod, "one")
        assert status_of(one).phase == "Running"
        assert conditions_of(one)["Ready"] == UNREADY
        assert not has_pending_changes(one)
        assert "Unhealthy" in {reason for _, reason, _ in await events_of(cluster, "one")}

    run_steps(steps)


def test_a_pod_becomes_ready_after_the_never_ready_annotation_is_removed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(annotations=script(never_ready="true")))
        await cluster.settle()

        patch = MergePatch({"metadata": {"annotations": script(never_ready="false")}})
        await cluster.patch(Pod, "one", patch)
        await cluster.settle()

        assert conditions_of(await cluster.get(Pod, "one"))["Ready"] == ("True", None)

    run_steps(steps)


def test_a_crashing_container_is_restarted_with_increasing_backoff() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(annotations=script(exit_code="3")))
        restarts = []
        for seconds in (1, 10, 20, 40, 80, 160, 300, 300):
            await cluster.clock.sleep(seconds)
            restarts.append(container_of(await cluster.get(Pod, "one")).restart_count)

        one = await cluster.get(Pod, "one")
        container = container_of(one)
        assert restarts == [1, 2, 3, 4, 5, 6, 7, 8]
        assert (state_of(container), last_state_of(container)) == (
            "waiting: CrashLoopBackOff",
            "terminated: 3 Error",
        )
        message = f"back-off 5m0s restarting failed container=app pod=one_default({one.uid})"
        waiting = core_v1.ContainerStateWaiting(reason="CrashLoopBackOff", message=message)
        assert container.state == core_v1.ContainerState(waiting=waiting)
        assert (status_of(one).phase, conditions_of(one)["Ready"]) == ("Running", UNREADY)
        assert not has_pending_changes(one)

    run_steps(steps)


def test_the_exit_code_decides_whether_a_pod_succeeds_or_fails() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("good", restart_policy="Never"))
        await cluster.create(
            pod("bad", restart_policy="Never", annotations=script(exit_code="2", run_seconds="30"))
        )
        await cluster.create(
            pod("tried", restart_policy="OnFailure", annotations=script(exit_code="1"))
        )
        await cluster.clock.sleep(29)
        running = await cluster.get(Pod, "bad")
        await cluster.clock.sleep(2)

        good, bad = await cluster.get(Pod, "good"), await cluster.get(Pod, "bad")
        tried = await cluster.get(Pod, "tried")
        assert status_of(running).phase == "Running"
        assert has_pending_changes(running)
        assert (status_of(good).phase, conditions_of(good)["Ready"]) == (
            "Succeeded",
            ("False", "PodCompleted"),
        )
        assert (status_of(bad).phase, conditions_of(bad)["Ready"]) == (
            "Failed",
            ("False", "PodFailed"),
        )
        assert (status_of(tried).phase, container_of(tried).restart_count) == ("Running", 3)
        assert [has_pending_changes(good), has_pending_changes(bad)] == [False, False]

    run_steps(steps)


def test_the_end_of_a_pod_costs_one_write() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(
            pod("done", restart_policy="Never", annotations=script(run_seconds="5"))
        )
        await cluster.create(pod("gone"))
        await cluster.clock.sleep(1)
        before = len(cluster.history)

        await cluster.delete(Pod, "gone")
        await cluster.settle()

        assert writes_since(cluster, before) == [
            "DELETE /api/v1/namespaces/default/pods/gone",
            "PATCH /api/v1/namespaces/default/pods/done/status",
        ]
        assert await cluster.find(Pod, "gone") is None
        assert ("kubelet", "Killing", "Stopping container app") in await events_of(cluster, "gone")

    run_steps(steps)


def test_a_pod_terminates_in_its_configured_time_within_its_grace_period() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        slow = script(stop_seconds="100")
        await cluster.create(pod("patient", annotations=slow, termination_grace_period_seconds=300))
        await cluster.create(pod("hasty", annotations=slow, termination_grace_period_seconds=20))
        await cluster.settle()

        await cluster.delete(Pod, "patient")
        await cluster.delete(Pod, "hasty")
        await cluster.clock.sleep(19)
        early = {each.name for each in await cluster.list(Pod)}
        await cluster.clock.sleep(2)
        later = {each.name for each in await cluster.list(Pod)}
        await cluster.clock.sleep(80)

        assert early == {"patient", "hasty"}
        assert later == {"patient"}
        assert await cluster.list(Pod) == []

    run_steps(steps)


def test_a_terminated_pod_with_a_finalizer_has_its_final_status() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(finalizers=("example.com/held",)))
        await cluster.settle()

        await cluster.delete(Pod, "one")
        await cluster.settle()

        one = await cluster.get(Pod, "one")
        assert status_of(one).phase == "Failed"
        assert state_of(container_of(one)) == "terminated: 143 Error"
        assert not has_pending_changes(one)

    run_steps(steps)


def test_a_pod_waits_for_an_image_that_cannot_be_pulled() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(annotations=script(image="missing")))
        await cluster.clock.sleep(1)
        first = await cluster.get(Pod, "one")
        await cluster.clock.sleep(60)
        then = await cluster.get(Pod, "one")
        await cluster.patch(
            Pod, "one", MergePatch({"metadata": {"annotations": script(image="present")}})
        )
        await cluster.settle()

        assert state_of(container_of(first)) == "waiting: ErrImagePull"
        assert state_of(container_of(then)) == "waiting: ImagePullBackOff"
        assert (status_of(then).phase, has_pending_changes(then)) == ("Pending", False)
        assert conditions_of(await cluster.get(Pod, "one"))["Ready"] == ("True", None)

    run_steps(steps)


def test_a_container_with_another_image_is_restarted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()

        image = JsonPatch(JsonPatch.replace("/spec/containers/0/image", "app:2"))
        await cluster.patch(Pod, "one", image)
        await cluster.settle()

        container = container_of(await cluster.get(Pod, "one"))
        assert (container.image, container.restart_count, container.ready) == ("app:2", 1, True)
        assert last_state_of(container) == "terminated: 143 Error"

    run_steps(steps)


def test_init_containers_run_first_and_sidecars_continue() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        init = (
            core_v1.Container(name="setup", image="setup:1"),
            core_v1.Container(name="proxy", image="proxy:1", restart_policy="Always"),
        )
        annotations = {**script(), "nodes.steersman.dev/run-seconds.setup": "30"}
        await cluster.create(pod(init=init, annotations=annotations, restart_policy="Never"))
        await cluster.clock.sleep(29)
        preparing = await cluster.get(Pod, "one")
        await cluster.settle()

        one = await cluster.get(Pod, "one")
        assert (status_of(preparing).phase, conditions_of(preparing)["Initialized"]) == (
            "Pending",
            ("False", "ContainersNotInitialized"),
        )
        assert inits_of(preparing) == ["running", "waiting: PodInitializing"]
        assert status_of(one).phase == "Succeeded"
        assert inits_of(one) == ["terminated: 0 Completed", "terminated: 0 Completed"]

    run_steps(steps)


def test_a_permanently_failed_init_container_fails_the_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        init = (core_v1.Container(name="setup", image="setup:1"),)
        annotations = {"nodes.steersman.dev/exit-code.setup": "1"}
        await cluster.create(
            pod("never", init=init, annotations=annotations, restart_policy="Never")
        )
        await cluster.create(pod("always", init=init, annotations=annotations))
        await cluster.clock.sleep(5)

        never, always = await cluster.get(Pod, "never"), await cluster.get(Pod, "always")
        assert status_of(never).phase == "Failed"
        assert status_of(always).phase == "Pending"
        assert inits_of(always) == ["waiting: CrashLoopBackOff"]

    run_steps(steps)


def test_a_pod_is_not_ready_until_its_readiness_gate_is_true() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        gate = core_v1.PodReadinessGate(condition_type="example.com/open")
        await cluster.create(pod(readiness_gates=(gate,)))
        await cluster.settle()
        closed = await cluster.get(Pod, "one")

        conditions = [*(status_of(closed).conditions or ())]
        conditions.append(core_v1.PodCondition(type="example.com/open", status="True"))
        patch = MergePatch({"status": {"conditions": conditions}})
        await cluster.patch(Pod, "one", patch, subresource="status")
        await cluster.settle()

        assert conditions_of(closed)["ContainersReady"] == ("True", None)
        assert conditions_of(closed)["Ready"] == ("False", "ReadinessGatesNotReady")
        assert conditions_of(await cluster.get(Pod, "one"))["Ready"] == ("True", None)

    run_steps(steps)


def test_a_concurrent_write_of_a_foreign_condition_is_kept() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()
        known = plain(status_of(await cluster.get(Pod, "one")))
        theirs = {"type": "example.com/open", "status": "True"}
        patch = StrategicMergePatch({"status": {"conditions": [theirs]}})
        await cluster.patch(Pod, "one", patch, subresource="status")

        unready = [
            {**each, "status": "False"} if each["type"] == "Ready" else each
            for each in known["conditions"]
        ]
        with_address = {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}
        change = pod_difference(known, {**known, **with_address, "conditions": unready})
        await cluster.patch(
            Pod, "one", StrategicMergePatch({"status": change}), subresource="status"
        )

        after = await cluster.get(Pod, "one")
        assert conditions_of(after)["example.com/open"] == ("True", None)
        assert conditions_of(after)["Ready"] == ("False", None)
        assert [each for each in conditions_of(after) if each != theirs["type"]] == [
            each["type"] for each in known["conditions"]
        ]
        assert status_of(after).pod_ips == (core_v1.PodIP(ip="10.9.9.9"),)

    run_steps(steps)


def test_a_pod_with_a_deadline_fails_when_it_has_passed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(active_deadline_seconds=50))
        await cluster.clock.sleep(49)
        before = await cluster.get(Pod, "one")
        await cluster.clock.sleep(2)

        one = await cluster.get(Pod, "one")
        assert status_of(before).phase == "Running"
        assert (status_of(one).phase, status_of(one).reason) == ("Failed", "DeadlineExceeded")

    run_steps(steps)


def test_an_invalid_annotation_is_reported_in_an_event_and_ignored() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod(annotations=script(start_seconds="soon")))
        await cluster.settle()

        assert conditions_of(await cluster.get(Pod, "one"))["Ready"] == ("True", None)
        complaints = [
            note
            for _, reason, note in await events_of(cluster, "one")
            if reason == "UnreadableAnnotation"
        ]
        assert complaints == [
            "nodes.steersman.dev/start-seconds is 'soon', which is not a number of seconds;"
            " it is ignored"
        ]

    run_steps(steps)


def test_no_two_pods_have_the_same_ip_address() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        # Thirteen addresses, and all Pods need one at the same time.
        await cluster.create(node("tight", pod_cidr="10.1.2.0/28"))
        for number in range(13):
            await cluster.create(pod(f"pod-{number}", node_name="tight"))
        await cluster.create(pod("at-home", node_name="tight", host_network=True))
        await cluster.run_operator(*simulated_kubelet(WorkloadSettings()).controllers)
        await cluster.settle()

        addresses = [
            status_of(each).pod_ip for each in await cluster.list(Pod) if each.name != "at-home"
        ]
        assert None not in addresses
        assert len(set(addresses)) == 13
        home = await cluster.get(Pod, "at-home")
        assert status_of(home).pod_ip == status_of(home).host_ip

    run_steps(steps, parts=())


def test_a_pod_of_another_scheduler_or_kubelet_is_left_alone() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("theirs", scheduler_name="another"))
        await cluster.create(core_v1.Node(metadata=pod("real").metadata))
        await cluster.create(pod("elsewhere", node_name="real"))
        await cluster.settle()

        theirs, elsewhere = await cluster.get(Pod, "theirs"), await cluster.get(Pod, "elsewhere")
        assert (node_of(theirs), status_of(theirs).phase) == (None, "Pending")
        assert not has_pending_changes(theirs)
        assert (status_of(elsewhere).phase, status_of(elsewhere).host_ip) == ("Pending", None)

    run_steps(steps)


def test_an_evicted_pod_is_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod())
        await cluster.settle()

        one = await cluster.get(Pod, "one")
        eviction = policy_v1.Eviction(metadata=one.metadata)
        await cluster.client.eviction("one", namespace="default").create(eviction)
        await cluster.settle()

        assert await cluster.find(Pod, "one") is None

    run_steps(steps)
