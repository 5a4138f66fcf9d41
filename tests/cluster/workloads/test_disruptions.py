"""Disruption budgets on the embedded server, and evictions that they allow or reject."""

from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.controller import owned_by
from steersman.errors import TooManyRequests
from steersman.kinds import apiextensions_v1, apps_v1, core_v1, meta_v1, policy_v1, replace
from steersman.manifests import crd_of
from steersman.units import format_time
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.disruptions import controllers
from tests.cluster.workloads.daemon_scenarios import (
    ConcurrentWrites,
    Pod,
    Steps,
    bare_pod,
    deployment,
    notes,
    simulate_steps,
    writes_of,
)

Budget = policy_v1.PodDisruptionBudget
PARTS = (
    "garbagecollector",
    "nodes",
    "scheduler",
    "replicasets",
    "deployments",
    "daemonsets",
    "disruptions",
)
WEB = {"app.kubernetes.io/name": "web"}


def budget(name: str = "web", **spec: Any) -> Budget:
    spec.setdefault("selector", meta_v1.LabelSelector(match_labels=WEB))
    return Budget(
        metadata=meta_v1.ObjectMeta(name=name), spec=policy_v1.PodDisruptionBudgetSpec(**spec)
    )


def slow(made: apps_v1.Deployment) -> apps_v1.Deployment:
    """The Deployment, with Pods that are ready after half a minute."""
    assert made.spec is not None
    template = made.spec.template
    metadata = replace(
        template.metadata or meta_v1.ObjectMeta(),
        annotations={"nodes.steersman.dev/ready-seconds": "30"},
    )
    return replace(made, spec=replace(made.spec, template=replace(template, metadata=metadata)))


async def numbers(cluster: SimulatedCluster, name: str = "web") -> tuple[int | None, ...]:
    """The expected, healthy and desired healthy Pods, and the allowed disruptions."""
    status = (await cluster.get(Budget, name)).status
    assert status is not None
    return (
        status.expected_pods,
        status.current_healthy,
        status.desired_healthy,
        status.disruptions_allowed,
    )


async def condition(
    cluster: SimulatedCluster, name: str = "web"
) -> tuple[str, str | None, str | None]:
    status = (await cluster.get(Budget, name)).status
    assert status is not None
    assert status.conditions is not None
    [only] = status.conditions
    return only.status, only.reason, only.message


async def evict(cluster: SimulatedCluster, pod: str) -> None:
    eviction = policy_v1.Eviction(metadata=meta_v1.ObjectMeta(name=pod, namespace="default"))
    await cluster.client.eviction(pod, namespace="default").create(eviction)


async def is_evicted(cluster: SimulatedCluster, pod: str) -> bool:
    try:
        await evict(cluster, pod)
    except TooManyRequests:
        return False
    return True


async def names(cluster: SimulatedCluster) -> list[str]:
    return sorted(pod.name for pod in await cluster.list(Pod))


async def target(cluster: SimulatedCluster, pod: str) -> tuple[str, str | None]:
    """The status and reason of the ``DisruptionTarget`` condition of a Pod."""
    status = (await cluster.get(Pod, pod)).status
    assert status is not None
    [said] = [each for each in status.conditions or () if each.type == "DisruptionTarget"]
    return said.status, said.reason


def run_steps(steps: Steps, **rest: Any) -> None:
    simulate_steps(steps, parts=PARTS, **rest)


def test_a_budget_counts_the_desired_replicas_and_not_the_existing_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(deployment(replicas=4))
        for name, spec in (
            ("all", {"max_unavailable": 1}),
            ("share", {"max_unavailable": "30%"}),
            ("half", {"min_available": "50%"}),
            ("two", {"min_available": 2}),
        ):
            await cluster.apply(budget(name, **spec))
        await cluster.settle()
        assert await numbers(cluster, "all") == (4, 4, 3, 1)
        assert await numbers(cluster, "share") == (4, 4, 2, 2)
        assert await numbers(cluster, "half") == (4, 4, 2, 2)
        assert await numbers(cluster, "two") == (4, 4, 2, 2)

        # One of the four is not ready, but still expected.
        first = (await names(cluster))[0]
        ready = {"type": "Ready", "status": "False"}
        unready = MergePatch({"status": {"conditions": [ready]}})
        await cluster.patch(Pod, first, unready, subresource="status")
        await cluster.settle()
        assert await numbers(cluster, "all") == (4, 3, 3, 0)

        await cluster.patch(apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 1}}))
        await cluster.settle()
        assert (await numbers(cluster, "all"))[0] == 1

    run_steps(steps)


def test_an_eviction_waits_until_a_replacement_is_ready() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(slow(deployment(replicas=2)))
        await cluster.apply(budget(max_unavailable=1))
        await cluster.settle()
        one, two = await names(cluster)
        assert await numbers(cluster) == (2, 2, 1, 1)

        await evict(cluster, one)
        with pytest.raises(TooManyRequests) as refused:
            await evict(cluster, two)
        await cluster.clock.sleep(10.0)
        assert await numbers(cluster) == (2, 1, 1, 0)
        assert await condition(cluster) == ("False", "InsufficientPods", "")
        with pytest.raises(TooManyRequests):
            await evict(cluster, two)
        await cluster.settle()
        await evict(cluster, two)

        assert refused.value.message.startswith("Cannot evict pod as it would violate")
        await cluster.settle()
        assert await numbers(cluster) == (2, 2, 1, 1)
        assert await condition(cluster) == ("True", "SufficientPods", "")
        assert not {one, two} & set(await names(cluster))

    run_steps(steps)


def test_no_more_pods_are_evicted_at_once_than_allowed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(slow(deployment(replicas=5)))
        await cluster.apply(budget(min_available=3))
        await cluster.settle()
        gone = [name for name in await names(cluster) if await is_evicted(cluster, name)]

        assert len(gone) == 2

    run_steps(steps)


def test_a_concurrent_status_update_by_the_server_is_never_overwritten() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = crossing = ConcurrentWrites("/poddisruptionbudgets/")
        await cluster.run_operator(*controllers(WorkloadSettings()))
        await cluster.apply(slow(deployment(replicas=5)))
        await cluster.apply(budget(min_available=3))
        await cluster.settle()
        one, two, three, unready, _ = await names(cluster)
        evicted: list[str] = []

        async def before() -> None:
            evicted.extend([each for each in (one, two) if await is_evicted(cluster, each)])

        async def after() -> None:
            evicted.extend([each for each in (three,) if await is_evicted(cluster, each)])

        # The controller writes one allowed disruption while the server evicts two Pods.
        crossing.before, crossing.after, crossing.is_armed = before, after, True
        ready = {"type": "Ready", "status": "False"}
        patch = MergePatch({"status": {"conditions": [ready]}})
        await cluster.patch(Pod, unready, patch, subresource="status")
        await cluster.clock.sleep(1.0)

        assert not crossing.is_armed
        assert evicted == [one, two]
        assert await numbers(cluster) == (5, 2, 3, 0)

    simulate_steps(
        steps, parts=("garbagecollector", "nodes", "scheduler", "replicasets", "deployments")
    )


def test_an_evicted_pod_that_is_not_deleted_counts_as_healthy_again() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(deployment(replicas=2))
        await cluster.apply(budget(max_unavailable=1))
        await cluster.settle()
        first = (await names(cluster))[0]
        now = format_time(cluster.clock.now())
        charged = {"disruptedPods": {first: now}, "disruptionsAllowed": 0}
        await cluster.patch(Budget, "web", MergePatch({"status": charged}), subresource="status")
        await cluster.clock.sleep(60.0)
        assert await numbers(cluster) == (2, 1, 1, 0)

        await cluster.advance(61.0)
        await cluster.settle()

        assert await numbers(cluster) == (2, 2, 1, 1)
        after = (await cluster.get(Budget, "web")).status
        assert after is not None
        assert after.disrupted_pods is None
        assert await notes(cluster, "NotDeleted") == [
            "controllermanager: Pod: Pod was expected by PDB default/default to be deleted but it"
            " wasn't"
        ]

    run_steps(steps)


def test_a_stale_disruptiontarget_condition_is_removed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(deployment(replicas=1))
        await cluster.apply(budget(max_unavailable=1))
        await cluster.settle()
        [name] = await names(cluster)
        pod = await cluster.get(Pod, name)
        assert pod.status is not None
        kept = [{"type": each.type, "status": each.status} for each in pod.status.conditions or ()]
        marked = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "lastTransitionTime": format_time(cluster.clock.now()),
        }
        marking = MergePatch({"status": {"conditions": [*kept, marked]}})
        await cluster.patch(Pod, name, marking, subresource="status")

        await cluster.clock.sleep(100.0)
        assert await target(cluster, name) == ("True", "EvictionByEvictionAPI")
        await cluster.advance(21.0)
        await cluster.settle()
        assert await target(cluster, name) == ("False", None)

    run_steps(steps)


def test_a_budget_that_cannot_be_computed_allows_no_disruption() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        template = core_v1.PodTemplateSpec(
            metadata=meta_v1.ObjectMeta(labels=WEB),
            spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="main"),)),
        )
        daemons = apps_v1.DaemonSet(
            metadata=meta_v1.ObjectMeta(name="web"),
            spec=apps_v1.DaemonSetSpec(
                selector=meta_v1.LabelSelector(match_labels=WEB), template=template
            ),
        )
        await cluster.apply(daemons)
        await cluster.apply(budget(max_unavailable=1))
        await cluster.settle()

        why = "daemonsets.apps does not implement the scale subresource"
        assert await condition(cluster) == ("False", "SyncFailed", why)
        assert (await numbers(cluster))[-1] == 0
        assert await notes(cluster, "CalculateExpectedPodCountFailed") == [
            "controllermanager: PodDisruptionBudget: Failed to calculate the number of expected"
            f" pods: {why}"
        ]

    run_steps(steps)


class Spec(sm.Part):
    """The desired number of Pods."""

    size: int


class Database(sm.CustomResource[Spec, sm.Part], group="test.example.com", version="v1"):
    """A kind that controls Pods."""


def scaled(definition: apiextensions_v1.CustomResourceDefinition) -> Any:
    """The definition, with a scale subresource."""
    [version] = definition.spec.versions
    scale = apiextensions_v1.CustomResourceSubresourceScale(
        spec_replicas_path=".spec.size", status_replicas_path=".status.size"
    )
    beside = replace(
        version.subresources or apiextensions_v1.CustomResourceSubresources(), scale=scale
    )
    spec = replace(definition.spec, versions=(replace(version, subresources=beside),))
    return replace(definition, spec=spec)


def test_the_controller_of_pods_can_be_of_any_kind_with_a_scale() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        made = Database(metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(size=4))
        await cluster.install(Database)
        await cluster.create(made)
        for number in range(3):
            child = bare_pod(f"web-{number}", labels=WEB)
            await cluster.create(owned_by(child, await cluster.get(Database, "web")))
        await cluster.apply(budget(max_unavailable=1))
        await cluster.settle()
        why = "databases.test.example.com does not implement the scale subresource"
        assert await condition(cluster) == ("False", "SyncFailed", why)

        await cluster.apply(scaled(crd_of(Database)))
        await cluster.patch(Pod, "web-0", MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await cluster.settle()
        assert await numbers(cluster) == (4, 3, 3, 0)

        await cluster.patch(Database, "web", MergePatch({"spec": {"size": 3}}))
        await cluster.patch(Pod, "web-0", MergePatch({"metadata": {"labels": {"a": "c"}}}))
        await cluster.settle()
        assert await numbers(cluster) == (3, 3, 2, 1)

    run_steps(steps)


def test_pods_without_a_controller_are_reported_and_count_only_for_minavailable() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(bare_pod("alone", labels=WEB))
        await cluster.apply(budget("share", max_unavailable=1))
        await cluster.settle()
        assert await numbers(cluster, "share") == (0, 1, 0, 0)
        [note] = await notes(cluster, "UnmanagedPods")
        assert "(selector: &LabelSelector{MatchLabels:map[string]string{app." in note

        await cluster.delete(Budget, "share")
        await cluster.apply(budget("number", min_available=1))
        await cluster.settle()
        assert await numbers(cluster, "number") == (1, 1, 1, 0)

    run_steps(steps)


def test_a_pod_with_two_budgets_is_reported() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(budget("one", min_available=1))
        await cluster.apply(budget("two", min_available=0))
        await cluster.settle()
        await cluster.create(bare_pod("alone", labels=WEB))
        await cluster.settle()

        assert await notes(cluster, "MultiplePodDisruptionBudgets") == [
            'controllermanager: Pod: Pod "default"/"alone" matches multiple PodDisruptionBudgets. '
            ' Chose "one" arbitrarily.'
        ]

    run_steps(steps)


def test_a_budget_without_pods_reports_it_and_an_empty_selector_counts_all_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        no_pods = meta_v1.LabelSelector(match_labels={"app": "missing"})
        await cluster.apply(budget("none", min_available=1, selector=no_pods))
        await cluster.apply(budget("all", min_available=1, selector=meta_v1.LabelSelector()))
        await cluster.create(bare_pod("without-labels"))
        await cluster.create(bare_pod("with-labels", labels=WEB))
        await cluster.settle()

        assert await numbers(cluster, "none") == (0, 0, 1, 0)
        assert await numbers(cluster, "all") == (2, 2, 1, 1)
        said = "controllermanager: PodDisruptionBudget: No matching pods found"
        assert said in await notes(cluster, "NoPods")

    run_steps(steps)


def test_an_unrelated_pod_change_writes_no_budget() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(deployment(replicas=2))
        await cluster.apply(budget(max_unavailable=1))
        await cluster.settle()
        since = cluster.history_position()
        for name in await names(cluster):
            await cluster.patch(Pod, name, MergePatch({"metadata": {"annotations": {"a": "b"}}}))
        await cluster.create(bare_pod("another"))
        await cluster.settle()

        assert writes_of(cluster, "/poddisruptionbudgets", since) == []

    run_steps(steps)
