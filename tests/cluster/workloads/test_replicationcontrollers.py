"""ReplicationControllers on the embedded cluster."""

from collections.abc import Awaitable, Callable
from typing import Literal

import pytest

from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.kinds import autoscaling_v2, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import SimulatedWorld, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.replicated import pod, pods
from tests.real.replication_stories import (
    ReplicationController,
    limit_range,
    replication_controller,
)

Pod = core_v1.Pod


def told(story: Callable[[SimulatedWorld], Awaitable[None]]) -> None:
    simulate(story, settings=WorkloadSettings())


async def status_of(world: SimulatedWorld, name: str = "web") -> tuple[int | None, ...]:
    found = await world.get(ReplicationController, name)
    assert found.status is not None
    assert found.status.observed_generation == found.generation
    status = found.status
    return status.replicas, status.ready_replicas, status.available_replicas


def test_a_replicationcontroller_has_as_many_pods_as_it_wants() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(replication_controller(3))
        counts = []
        for replicas in (3, 5, 1, 0):
            sized = MergePatch({"spec": {"replicas": replicas}})
            await world.patch(ReplicationController, "web", sized)
            await world.settle()
            counts.append((len(await pods(world)), await status_of(world)))

        assert counts == [
            (3, (3, 3, 3)),
            (5, (5, 5, 5)),
            (1, (1, 1, 1)),
            (0, (0, None, None)),
        ]

    told(story)


def test_a_replicationcontroller_at_rest_writes_nothing() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(replication_controller(2))
        await world.settle()
        before = len(world.history)

        await world.advance(3600)

        assert world.history.writes(since=before) == []

    told(story)


def test_its_scale_is_what_an_autoscaler_and_people_change() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(replication_controller(1))
        target = autoscaling_v2.CrossVersionObjectReference(
            api_version="v1", kind="ReplicationController", name="web"
        )
        await world.create(
            autoscaling_v2.HorizontalPodAutoscaler(
                metadata=meta_v1.ObjectMeta(name="web"),
                spec=autoscaling_v2.HorizontalPodAutoscalerSpec(
                    scale_target_ref=target, min_replicas=3, max_replicas=5
                ),
            )
        )
        await world.advance(60)
        await world.settle()

        found = await world.get(ReplicationController, "web")
        assert found.spec is not None
        assert found.spec.replicas == 3
        assert len(await pods(world)) == 3

    told(story)


def test_pods_that_nobody_controls_are_adopted_by_their_labels() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(pod("lonely", app="web"))
        await world.create(pod("other", app="else"))
        await world.create(replication_controller(2))
        await world.settle()

        owner = controller_of(await world.get(Pod, "lonely"))
        assert owner is not None
        assert (owner.api_version, owner.kind, owner.name, owner.block_owner_deletion) == (
            "v1",
            "ReplicationController",
            "web",
            True,
        )
        assert controller_of(await world.get(Pod, "other")) is None
        assert len(await pods(world)) == 3

    told(story)


@pytest.mark.parametrize(("policy", "left"), [("Background", 0), ("Foreground", 0), ("Orphan", 2)])
def test_its_pods_go_with_it_or_are_left_as_the_policy_says(
    policy: Literal["Background", "Foreground", "Orphan"], left: int
) -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(replication_controller(2))
        await world.settle()

        await world.delete(ReplicationController, "web", propagation=policy)
        await world.settle()

        found = await pods(world)
        assert await world.find(ReplicationController, "web") is None
        assert len(found) == left
        assert [controller_of(each) for each in found] == [None] * left

    told(story)


def test_orphans_are_taken_back_by_a_replicationcontroller_of_their_labels() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(replication_controller(2))
        await world.settle()
        before = [each.name for each in await pods(world)]
        await world.delete(ReplicationController, "web", propagation="Orphan")
        await world.settle()

        await world.create(replication_controller(2, "next"))
        await world.settle()

        assert [each.name for each in await pods(world)] == before
        assert {getattr(controller_of(each), "name", "") for each in await pods(world)} == {"next"}

    told(story)


def test_what_cannot_be_made_is_in_its_status_and_in_an_event() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(limit_range())
        await world.create(replication_controller(2, cpu="2"))
        await world.advance(10)

        found = await world.get(ReplicationController, "web")
        assert found.status is not None
        assert found.status.conditions is not None
        [condition] = found.status.conditions
        assert (condition.type, condition.status, condition.reason) == (
            "ReplicaFailure",
            "True",
            "FailedCreate",
        )
        events = [each for each in await world.list(events_v1.Event) if each.regarding]
        assert {each.reporting_controller for each in events if each.reason == "FailedCreate"} == {
            "replication-controller"
        }

    told(story)


def test_a_pod_that_is_deleted_is_replaced() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(replication_controller(2))
        await world.settle()
        gone, kept = await pods(world)

        await world.delete(Pod, gone.name)
        await world.settle()

        names = [each.name for each in await pods(world)]
        assert len(names) == 2
        assert kept.name in names
        assert gone.name not in names

    told(story)
