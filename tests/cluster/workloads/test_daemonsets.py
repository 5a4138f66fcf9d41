"""DaemonSets on the embedded server, with nodes that run their Pods."""

from collections.abc import Mapping
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.manager import Runnable, Services
from steersman.units import IntOrString, Quantity
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads.pods import is_ready
from tests.cluster.workloads.daemon_scenarios import (
    Pod,
    Steps,
    add_node,
    bare_pod,
    notes,
    set_taints,
    simulate_steps,
    writes_of,
)

DaemonSet = apps_v1.DaemonSet
PARTS = ("garbagecollector", "nodes", "scheduler", "daemonsets")
LABELS = {"app": "agent"}
NEVER_READY = {"nodes.steersman.dev/never-ready": "true"}


def daemon_set(
    image: str = "one",
    *,
    strategy: apps_v1.DaemonSetUpdateStrategy | None = None,
    pod_spec: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> DaemonSet:
    container = core_v1.Container(name="main", image=image)
    return DaemonSet(
        metadata=meta_v1.ObjectMeta(name="agent"),
        spec=apps_v1.DaemonSetSpec(
            selector=meta_v1.LabelSelector(match_labels=LABELS),
            update_strategy=strategy,
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=LABELS, annotations=annotations),
                spec=core_v1.PodSpec(containers=(container,), **(pod_spec or {})),
            ),
            **spec,
        ),
    )


def rolling(
    unavailable: IntOrString = 1, surge: IntOrString = 0
) -> apps_v1.DaemonSetUpdateStrategy:
    rolls = apps_v1.RollingUpdateDaemonSet(max_unavailable=unavailable, max_surge=surge)
    return apps_v1.DaemonSetUpdateStrategy(type="RollingUpdate", rolling_update=rolls)


async def places(cluster: SimulatedCluster) -> dict[str, list[str]]:
    """The images on each node that has Pods."""
    found: dict[str, list[str]] = {}
    for pod in await cluster.list(Pod):
        assert pod.spec is not None
        found.setdefault(pod.spec.node_name or "", []).append(pod.spec.containers[0].image or "")
    return {node: sorted(found[node]) for node in sorted(found)}


async def names(cluster: SimulatedCluster) -> list[str]:
    return sorted(pod.name for pod in await cluster.list(Pod))


async def status(cluster: SimulatedCluster) -> apps_v1.DaemonSetStatus:
    found = (await cluster.get(DaemonSet, "agent")).status
    assert found is not None
    return found


def numbers(said: apps_v1.DaemonSetStatus) -> tuple[int, ...]:
    """Desired, current, ready, updated, available, as kubectl shows them; and misplaced."""
    return (
        said.desired_number_scheduled,
        said.current_number_scheduled,
        said.number_ready,
        said.updated_number_scheduled or 0,
        said.number_available or 0,
        said.number_misscheduled,
    )


def run_steps(steps: Steps, *, nodes: int = 3) -> None:
    simulate_steps(steps, parts=PARTS, nodes=nodes)


def test_each_node_that_fits_has_one_pod_and_no_other_node_has_any() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await add_node(cluster, "fast", labels={"disk": "ssd"})
        await cluster.apply(daemon_set(pod_spec={"node_selector": {"disk": "ssd"}}))
        await cluster.settle()
        assert await places(cluster) == {"fast": ["one"]}

        await cluster.patch(
            core_v1.Node, "node-1", MergePatch({"metadata": {"labels": {"disk": "ssd"}}})
        )
        await add_node(cluster, "faster", labels={"disk": "ssd"})
        await cluster.settle()
        assert await places(cluster) == {"fast": ["one"], "faster": ["one"], "node-1": ["one"]}

        await cluster.patch(
            core_v1.Node, "fast", MergePatch({"metadata": {"labels": {"disk": None}}})
        )
        await cluster.settle()
        assert await places(cluster) == {"faster": ["one"], "node-1": ["one"]}
        assert numbers(await status(cluster)) == (2, 2, 2, 2, 2, 0)

    run_steps(steps)


def test_a_taint_prevents_or_evicts_daemon_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        await set_taints(cluster, "node-1", ("own", "NoSchedule"))
        await cluster.apply(daemon_set())
        await cluster.settle()
        assert await places(cluster) == {"node-2": ["one"], "node-3": ["one"]}

        await set_taints(cluster, "node-2", ("own", "NoSchedule"))
        await cluster.settle()
        assert numbers(await status(cluster)) == (1, 1, 1, 1, 1, 1)

        await set_taints(cluster, "node-2", ("own", "NoExecute"))
        await set_taints(cluster, "node-1")
        await cluster.settle()
        assert await places(cluster) == {"node-1": ["one"], "node-3": ["one"]}
        assert numbers(await status(cluster)) == (2, 2, 2, 2, 2, 0)

    run_steps(steps)


def test_a_cordoned_node_has_its_daemon_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        cordon = MergePatch({"spec": {"unschedulable": True}})
        await cluster.patch(core_v1.Node, "node-1", cordon)
        await set_taints(cluster, "node-1", ("node.kubernetes.io/unschedulable", "NoSchedule"))
        await cluster.apply(daemon_set())
        await cluster.settle()

        assert await places(cluster) == {"node-1": ["one"]}

    run_steps(steps, nodes=1)


def test_creations_and_deletions_are_reported_in_events() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await add_node(cluster, "near", labels={"place": "near"})
        await cluster.apply(daemon_set(pod_spec={"node_selector": {"place": "near"}}))
        await cluster.settle()
        [pod] = await cluster.list(Pod)
        away = MergePatch({"metadata": {"labels": {"place": "far"}}})
        await cluster.patch(core_v1.Node, "near", away)
        await cluster.settle()

        said = "daemonset-controller: DaemonSet:"
        assert await notes(cluster, "SuccessfulCreate") == [f"{said} Created pod: {pod.name}"]
        assert await notes(cluster, "SuccessfulDelete") == [f"{said} Deleted pod: {pod.name}"]

    run_steps(steps, nodes=1)


class PodCounts:
    """The minimum of available Pods, and the maximum of existing Pods."""

    def __init__(self) -> None:
        self.available = 99
        self.there = 0

    async def follow(self, cluster: SimulatedCluster) -> None:
        await cluster.run_operator(runnables=[Runnable(self._run, name="watching")], name="watcher")
        await cluster.settle()

    async def _run(self, services: Services) -> None:
        async with services.caches.informer(Pod) as informer:

            def look(_: object) -> None:
                staying = [pod for pod in informer.lister.list() if pod.deletion_time is None]
                self.available = min(self.available, sum(map(is_ready, staying)))
                self.there = max(self.there, len(staying))

            informer.add_handler(look)
            await services.clock.sleep(1e6)


def test_a_rolling_update_of_a_daemonset_respects_maxunavailable() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(daemon_set(strategy=rolling(2)))
        await cluster.settle()
        least = PodCounts()
        await least.follow(cluster)

        await cluster.apply(daemon_set("two", strategy=rolling(2)))
        await cluster.settle()

        assert await places(cluster) == {f"node-{each}": ["two"] for each in range(1, 6)}
        assert (least.available, least.there) == (3, 5)
        assert numbers(await status(cluster)) == (5, 5, 5, 5, 5, 0)

    run_steps(steps, nodes=5)


def test_with_maxsurge_the_new_pod_is_available_before_the_old_one_is_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        surging = rolling(0, 1)
        await cluster.apply(daemon_set(strategy=surging, min_ready_seconds=7))
        await cluster.settle()
        least = PodCounts()
        await least.follow(cluster)

        await cluster.apply(daemon_set("two", strategy=surging, min_ready_seconds=7))
        await cluster.settle()

        assert await places(cluster) == {f"node-{each}": ["two"] for each in range(1, 4)}
        assert (least.available, least.there) == (3, 4)
        assert numbers(await status(cluster)) == (3, 3, 3, 3, 3, 0)

    run_steps(steps)


def test_with_ondelete_a_daemon_pod_is_updated_after_a_user_deletes_it() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        by_hand = apps_v1.DaemonSetUpdateStrategy(type="OnDelete")
        await cluster.apply(daemon_set(strategy=by_hand))
        await cluster.settle()
        await cluster.apply(daemon_set("two", strategy=by_hand))
        await cluster.settle()
        assert await places(cluster) == {"node-1": ["one"], "node-2": ["one"]}
        assert numbers(await status(cluster)) == (2, 2, 2, 0, 2, 0)

        first = next(pod for pod in await cluster.list(Pod) if pod.spec and pod.spec.node_name)
        await cluster.delete(Pod, first.name)
        await cluster.settle()

        assert sorted((await places(cluster)).values()) == [["one"], ["two"]]
        assert numbers(await status(cluster)) == (2, 2, 2, 1, 2, 0)

    run_steps(steps, nodes=2)


def test_an_update_with_broken_pods_stops_after_the_first() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(daemon_set())
        await cluster.settle()
        await cluster.apply(daemon_set("two", annotations=NEVER_READY))
        await cluster.settle()

        assert sorted((await places(cluster)).values()) == [["one"], ["one"], ["two"]]
        said = await status(cluster)
        assert numbers(said) == (3, 3, 2, 1, 2, 0)
        assert said.number_unavailable == 1

    run_steps(steps)


def test_a_rolled_back_template_keeps_its_revision_with_a_new_number() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for image in ("one", "two", "one"):
            await cluster.apply(daemon_set(image))
            await cluster.settle()

        revisions = await cluster.list(apps_v1.ControllerRevision)
        assert sorted(each.revision for each in revisions) == [2, 3]
        assert await places(cluster) == {"node-1": ["one"]}

    run_steps(steps, nodes=1)


def test_the_history_limit_bounds_the_revisions() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for image in ("one", "two", "three", "four"):
            await cluster.apply(daemon_set(image, revision_history_limit=1))
            await cluster.settle()

        revisions = await cluster.list(apps_v1.ControllerRevision)
        assert sorted(each.revision for each in revisions) == [3, 4]

    run_steps(steps, nodes=1)


def test_a_failed_daemon_pod_is_recreated_with_increasing_backoff() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(daemon_set())
        await cluster.settle()
        waits: list[int] = []
        for _ in range(5):
            [failing] = await cluster.list(Pod)
            fails = MergePatch({"status": {"phase": "Failed"}})
            await cluster.patch(Pod, failing.name, fails, subresource="status")
            began_at = cluster.clock.monotonic()
            while await names(cluster) in ([failing.name], []):
                await cluster.clock.sleep(0.1)
            waits.append(round(cluster.clock.monotonic() - began_at))

        # After the first failure the backoff is a second, then twice as long each time.
        assert waits == [0, 1, 2, 4, 8]
        [first, *_] = await notes(cluster, "FailedDaemonPod")
        assert first.endswith("on node node-1, will try to kill it")

    run_steps(steps, nodes=1)


def test_a_selected_pod_without_a_controller_is_adopted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        stray = bare_pod("stray", labels=LABELS, node_name="node-1")
        await cluster.create(stray)
        await cluster.settle()
        await cluster.apply(daemon_set())
        await cluster.settle()

        # It has no revision, so the update replaces it.
        [pod] = await cluster.list(Pod)
        assert pod.name != "stray"
        assert numbers(await status(cluster)) == (1, 1, 1, 1, 1, 0)

    run_steps(steps, nodes=1)


def test_a_daemonset_without_permission_to_create_pods_reports_it_and_retries() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        spec = core_v1.ResourceQuotaSpec(hard={"pods": Quantity(1)})
        limits = core_v1.ResourceQuota(metadata=meta_v1.ObjectMeta(name="few"), spec=spec)
        await cluster.apply(limits)
        await cluster.settle()
        await cluster.apply(daemon_set())
        await cluster.clock.sleep(10.0)
        assert len(await names(cluster)) == 1
        assert numbers(await status(cluster)) == (2, 1, 1, 1, 1, 0)
        [note, *_] = await notes(cluster, "FailedCreate")
        assert note.startswith('daemonset-controller: DaemonSet: Error creating: pods "agent-')
        assert note.endswith(
            "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1"
        )

        await cluster.patch(
            core_v1.ResourceQuota, "few", MergePatch({"spec": {"hard": {"pods": "2"}}})
        )
        await cluster.settle()
        assert numbers(await status(cluster)) == (2, 2, 2, 2, 2, 0)

    simulate_steps(steps, parts=(*PARTS, "quotas"), nodes=2)


def test_a_settled_daemonset_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(daemon_set())
        await cluster.settle()
        since = cluster.history_position()
        await add_node(cluster, "far", taints=[core_v1.Taint(key="own", effect="NoExecute")])
        await cluster.advance(3600)
        await cluster.settle()

        assert writes_of(cluster, "/daemonsets", since) == []
        assert writes_of(cluster, "/pods", since) == []

    run_steps(steps)
