"""PodSet on a cluster in this process, in virtual time: no test waits.

With ``--cluster=real`` the tests that ask for ``cluster`` run on a real control plane.
"""

from collections.abc import Awaitable, Callable

import pytest
import steersman as sm
from steersman.client import MergePatch, wait_for
from steersman.clock import Clock
from steersman.errors import Invalid
from steersman.kinds import core_v1, meta_v1
from steersman.units import Quantity
from steersman.wire import Request
from steersman_cluster.simulation import (
    Actor,
    Cluster,
    NoFaults,
    Scenario,
    SimulatedCluster,
    simulate,
    survives_crashes,
    survives_cut_watches,
    survives_late_caches,
)

from replicaset.replicaset import PodSet, Spec, controller


def wanted(replicas: int, *, name: str = "web", image: str = "nginx:1.29") -> PodSet:
    """An object as a user would apply it."""
    spec = Spec(image=image, replicas=replicas)
    return PodSet(metadata=meta_v1.ObjectMeta(name=name), spec=spec)


async def start_operator(cluster: Cluster) -> None:
    """Install the kind and run the operator."""
    await cluster.install(PodSet)
    await cluster.run_operator(controller)


async def names(cluster: Cluster) -> list[str]:
    """The names of all Pods."""
    return [pod.name for pod in await cluster.list(core_v1.Pod)]


async def no_more_than_two_pods(cluster: Cluster) -> None:
    """Create a quota of two Pods, and wait until its status is set."""
    quota = core_v1.ResourceQuota(
        metadata=meta_v1.ObjectMeta(name="two"),
        spec=core_v1.ResourceQuotaSpec(hard={"pods": Quantity("2")}),
    )
    await cluster.create(quota)
    await wait_for(
        cluster.client,
        core_v1.ResourceQuota,
        "two",
        lambda found: found.status is not None and found.status.used is not None,
        namespace=cluster.namespace,
        within_seconds=30.0,
    )


async def test_with_two_of_three_pods_the_controller_creates_one_and_reports_three(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(2))
    await cluster.settle()
    before = await cluster.list(core_v1.Pod)

    await cluster.apply(wanted(3))
    await cluster.settle()

    after = await cluster.list(core_v1.Pod)
    pod_set = await cluster.get(PodSet, "web")
    assert [pod.uid for pod in after[:2]] == [pod.uid for pod in before]
    assert [pod.name for pod in after] == ["web-0", "web-1", "web-2"]
    assert pod_set.status is not None
    assert (pod_set.status.replicas, pod_set.status.ready_replicas) == (3, 3)
    assert pod_set.status.observed_generation == pod_set.generation
    assert sm.is_ready(pod_set)


async def test_a_deleted_pod_is_replaced(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(3))
    await cluster.settle()

    await cluster.delete(core_v1.Pod, "web-1")
    await cluster.settle()

    assert await names(cluster) == ["web-0", "web-2", "web-3"]
    assert sm.is_ready(await cluster.get(PodSet, "web"))


async def test_an_evicted_pod_is_replaced(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(1))
    await cluster.settle()

    evicted = MergePatch({"status": {"phase": "Failed", "reason": "Evicted"}})
    await cluster.patch(core_v1.Pod, "web-0", evicted, subresource="status")
    await cluster.settle()

    assert await names(cluster) == ["web-0", "web-1"]
    assert sm.is_ready(await cluster.get(PodSet, "web"))


async def test_the_newest_surplus_pods_are_deleted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(3))
    await cluster.settle()

    await cluster.apply(wanted(1))
    await cluster.settle()

    assert await names(cluster) == ["web-0"]


async def test_the_name_of_a_foreign_pod_is_skipped(cluster: Cluster) -> None:
    await start_operator(cluster)
    foreign = sm.recipes.pod("web-0", core_v1.Container(name="main", image="postgres:18"))
    theirs = await cluster.create(foreign)

    await cluster.apply(wanted(2))
    await cluster.settle()

    assert await names(cluster) == ["web-0", "web-1", "web-2"]
    assert (await cluster.get(core_v1.Pod, "web-0")).uid == theirs.uid


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (wanted(-1), "spec.replicas"),
        (wanted(1, image=""), "spec.image"),
        (wanted(1, name="w" * 64), "at most 63 characters"),
    ],
    ids=["negative replicas", "empty image", "name too long for a label"],
)
async def test_an_invalid_spec_is_rejected_and_changes_nothing(
    cluster: Cluster, bad: PodSet, problem: str
) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(1))
    await cluster.settle()

    with pytest.raises(Invalid, match=problem):
        await cluster.apply(bad)
    await cluster.settle()

    assert await names(cluster) == ["web-0"]


async def test_the_status_has_the_reason_why_a_pod_cannot_be_created(cluster: Cluster) -> None:
    await start_operator(cluster)
    await no_more_than_two_pods(cluster)

    await cluster.apply(wanted(3))
    pod_set = await wait_for(
        cluster.client,
        PodSet,
        "web",
        lambda found: found.status is not None and found.status.ready_replicas == 2,
        namespace=cluster.namespace,
        within_seconds=30.0,
    )

    assert await names(cluster) == ["web-0", "web-1"]
    assert pod_set.status is not None
    assert "exceeded quota: two" in (pod_set.status.conditions[0].message or "")
    assert not sm.is_ready(pod_set)


# Deletion


async def test_the_pods_are_deleted_one_after_the_other_before_the_pod_set(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(3))
    await cluster.settle()
    start = cluster.history_position()

    await cluster.delete(PodSet, "web")
    await cluster.settle()

    sent = [(each.method, each.target) for each in cluster.writes_since(start)]
    deleted = [target.rpartition("/")[2] for method, target in sent if method == "DELETE"]
    assert deleted == ["web-2", "web-1", "web-0"]
    assert await names(cluster) == []
    assert await cluster.find(PodSet, "web") is None


async def test_an_orphaning_delete_keeps_the_pods(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(2))
    await cluster.settle()

    await cluster.delete(PodSet, "web", propagation="Orphan")
    await cluster.settle()

    assert await names(cluster) == ["web-0", "web-1"]
    assert await cluster.find(PodSet, "web") is None


# Failures


async def scale_up_and_down(cluster: Cluster) -> None:
    """The steps of a user: three replicas, a deleted Pod, and one replica."""
    await cluster.apply(wanted(3))
    await cluster.settle()
    await cluster.delete(core_v1.Pod, "web-0")
    await cluster.settle()
    await cluster.apply(wanted(1))
    await cluster.settle()


async def create_and_delete(cluster: Cluster) -> None:
    """The steps of a user: two replicas, and the deletion of the PodSet."""
    await cluster.apply(wanted(2))
    await cluster.settle()
    await cluster.delete(PodSet, "web")
    await cluster.settle()


@pytest.mark.parametrize("steps", [scale_up_and_down, create_and_delete])
@pytest.mark.parametrize("survives", [survives_crashes, survives_late_caches, survives_cut_watches])
async def test_the_result_is_the_same_after_each_failure(
    survives: Callable[[Scenario], Awaitable[None]], steps: Callable[[Cluster], Awaitable[None]]
) -> None:
    await survives(Scenario(operator=lambda: [controller], kinds=[PodSet], steps=steps))


def test_a_stale_cache_does_not_lead_to_a_surplus_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = LatePods(cluster.clock)
        await start_operator(cluster)
        for replicas, image in ((2, "nginx:1.28"), (3, "nginx:1.28"), (3, "nginx:1.29")):
            await cluster.apply(wanted(replicas, image=image))
            await cluster.clock.sleep(1.0)

        by_operator = [each for each in cluster.history.requests if each.actor == "operator"]
        created = [each for each in by_operator if each.method == "POST" and "/pods" in each.target]
        assert [each.status for each in created] == [201, 201, 201]

    simulate(steps)


class LatePods(NoFaults):
    """Delays each watch event of a Pod by an hour."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Delay the events of Pods."""
        if request.path.endswith("/pods"):
            await self._clock.sleep(3600.0)


async def test_the_operator_writes_nothing_if_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(wanted(2))

    await cluster.assert_second_pass_writes_nothing()
