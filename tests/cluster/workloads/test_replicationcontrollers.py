"""ReplicationControllers on the embedded cluster."""

from collections.abc import Awaitable, Callable
from typing import Literal

import pytest

from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.kinds import autoscaling_v2, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.replicated import pod, pods
from tests.real.replication_scenarios import (
    ReplicationController,
    limit_range,
    replication_controller,
)

Pod = core_v1.Pod


def run_steps(steps: Callable[[SimulatedCluster], Awaitable[None]]) -> None:
    simulate(steps, settings=WorkloadSettings())


async def status_of(cluster: SimulatedCluster, name: str = "web") -> tuple[int | None, ...]:
    found = await cluster.get(ReplicationController, name)
    assert found.status is not None
    assert found.status.observed_generation == found.generation
    status = found.status
    return status.replicas, status.ready_replicas, status.available_replicas


def test_a_replicationcontroller_has_the_desired_number_of_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(replication_controller(3))
        counts = []
        for replicas in (3, 5, 1, 0):
            sized = MergePatch({"spec": {"replicas": replicas}})
            await cluster.patch(ReplicationController, "web", sized)
            await cluster.settle()
            counts.append((len(await pods(cluster)), await status_of(cluster)))

        assert counts == [
            (3, (3, 3, 3)),
            (5, (5, 5, 5)),
            (1, (1, 1, 1)),
            (0, (0, None, None)),
        ]

    run_steps(steps)


def test_a_settled_replicationcontroller_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(replication_controller(2))
        await cluster.settle()
        before = len(cluster.history)

        await cluster.advance(3600)

        assert cluster.history.writes(since=before) == []

    run_steps(steps)


def test_the_scale_subresource_changes_the_replicas() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(replication_controller(1))
        target = autoscaling_v2.CrossVersionObjectReference(
            api_version="v1", kind="ReplicationController", name="web"
        )
        await cluster.create(
            autoscaling_v2.HorizontalPodAutoscaler(
                metadata=meta_v1.ObjectMeta(name="web"),
                spec=autoscaling_v2.HorizontalPodAutoscalerSpec(
                    scale_target_ref=target, min_replicas=3, max_replicas=5
                ),
            )
        )
        await cluster.advance(60)
        await cluster.settle()

        found = await cluster.get(ReplicationController, "web")
        assert found.spec is not None
        assert found.spec.replicas == 3
        assert len(await pods(cluster)) == 3

    run_steps(steps)


def test_pods_without_a_controller_are_adopted_by_their_labels() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(pod("lonely", app="web"))
        await cluster.create(pod("other", app="else"))
        await cluster.create(replication_controller(2))
        await cluster.settle()

        owner = controller_of(await cluster.get(Pod, "lonely"))
        assert owner is not None
        assert (owner.api_version, owner.kind, owner.name, owner.block_owner_deletion) == (
            "v1",
            "ReplicationController",
            "web",
            True,
        )
        assert controller_of(await cluster.get(Pod, "other")) is None
        assert len(await pods(cluster)) == 3

    run_steps(steps)


@pytest.mark.parametrize(("policy", "left"), [("Background", 0), ("Foreground", 0), ("Orphan", 2)])
def test_its_pods_are_deleted_or_orphaned_by_the_propagation_policy(
    policy: Literal["Background", "Foreground", "Orphan"], left: int
) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(replication_controller(2))
        await cluster.settle()

        await cluster.delete(ReplicationController, "web", propagation=policy)
        await cluster.settle()

        found = await pods(cluster)
        assert await cluster.find(ReplicationController, "web") is None
        assert len(found) == left
        assert [controller_of(each) for each in found] == [None] * left

    run_steps(steps)


def test_orphans_are_adopted_by_a_replicationcontroller_with_their_labels() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(replication_controller(2))
        await cluster.settle()
        before = [each.name for each in await pods(cluster)]
        await cluster.delete(ReplicationController, "web", propagation="Orphan")
        await cluster.settle()

        await cluster.create(replication_controller(2, "next"))
        await cluster.settle()

        assert [each.name for each in await pods(cluster)] == before
        assert {getattr(controller_of(each), "name", "") for each in await pods(cluster)} == {
            "next"
        }

    run_steps(steps)


def test_a_rejected_pod_is_reported_in_the_status_and_in_an_event() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(limit_range())
        await cluster.create(replication_controller(2, cpu="2"))
        await cluster.advance(10)

        found = await cluster.get(ReplicationController, "web")
        assert found.status is not None
        assert found.status.conditions is not None
        [condition] = found.status.conditions
        assert (condition.type, condition.status, condition.reason) == (
            "ReplicaFailure",
            "True",
            "FailedCreate",
        )
        events = [each for each in await cluster.list(events_v1.Event) if each.regarding]
        assert {each.reporting_controller for each in events if each.reason == "FailedCreate"} == {
            "replication-controller"
        }

    run_steps(steps)


def test_a_pod_that_is_deleted_is_replaced() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(replication_controller(2))
        await cluster.settle()
        gone, kept = await pods(cluster)

        await cluster.delete(Pod, gone.name)
        await cluster.settle()

        names = [each.name for each in await pods(cluster)]
        assert len(names) == 2
        assert kept.name in names
        assert gone.name not in names

    run_steps(steps)
