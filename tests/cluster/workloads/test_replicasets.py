"""ReplicaSets on the embedded server."""

from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.kinds import core_v1, events_v1
from steersman_cluster.simulation import SimulatedWorld
from tests.cluster.workloads.replicated import (
    Pod,
    ReplicaSet,
    no_more,
    notes,
    pod,
    pods,
    ready_pods,
    replica_set,
    told,
)
from tests.real.workload_steps import Stage


def sized(replicas: int) -> MergePatch:
    return MergePatch({"spec": {"replicas": replicas}})


def test_a_replicaset_has_as_many_pods_as_it_wants() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=3))
        counts = []
        for replicas in (3, 5, 1, 0):
            await world.patch(ReplicaSet, "web", sized(replicas))
            await stage.all_ready()
            rs = await world.get(ReplicaSet, "web")
            assert rs.status is not None
            counts.append(
                (len(await pods(world)), rs.status.replicas, rs.status.available_replicas)
            )

        assert counts == [(3, 3, 3), (5, 5, 5), (1, 1, 1), (0, 0, None)]

    told(story)


def test_pods_that_nobody_controls_are_adopted_and_count() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(pod("lonely", app="web"))
        await world.create(pod("other", app="else"))

        await world.create(replica_set(replicas=2))
        await world.settle()

        lonely = await world.get(Pod, "lonely")
        owner = controller_of(lonely)
        assert owner is not None
        assert (owner.kind, owner.name, owner.block_owner_deletion) == ("ReplicaSet", "web", True)
        assert controller_of(await world.get(Pod, "other")) is None
        assert len(await pods(world)) == 3

    told(story)


def test_a_pod_that_comes_later_and_matches_is_adopted_and_is_one_too_many() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=2))
        await stage.all_ready()

        await world.create(pod("late", app="web"))
        await world.settle()

        # It is the only one that is not ready, and so does the least work.
        assert await world.find(Pod, "late") is None
        assert len(await pods(world)) == 2

    told(story)


def test_a_pod_whose_labels_no_longer_match_is_let_go_and_another_is_made() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=1))
        await world.settle()
        (only,) = await pods(world)

        await world.patch(Pod, only.name, MergePatch({"metadata": {"labels": {"app": "debug"}}}))
        await world.settle()

        released = await world.get(Pod, only.name)
        assert controller_of(released) is None
        assert [each.name for each in await pods(world) if each.labels["app"] == "web"] != []
        assert len(await pods(world)) == 2

    told(story)


def test_pods_that_have_failed_are_replaced_and_stay_to_be_looked_at() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=2))
        await stage.all_ready()
        failed, kept = await pods(world)

        await stage.say(failed, "Failed", is_ready=False)
        await world.settle()

        assert (await world.get(Pod, failed.name)).status is not None
        assert len(await pods(world)) == 2
        assert kept.name in await ready_pods(world)

    told(story)


def test_those_that_are_not_ready_go_first() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=4))
        await stage.all_ready(at_most=2)
        working = await ready_pods(world)

        await world.patch(ReplicaSet, "web", sized(2))
        await world.settle()

        assert [each.name for each in await pods(world)] == working

    told(story)


def test_a_pod_counts_as_available_once_it_has_been_ready_for_long_enough() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=1, min_ready_seconds=300))
        await stage.all_ready()
        rs = await world.get(ReplicaSet, "web")
        assert rs.status is not None
        assert (rs.status.ready_replicas, rs.status.available_replicas) == (1, None)

        await world.advance(300)
        await world.settle()

        rs = await world.get(ReplicaSet, "web")
        assert rs.status is not None
        assert rs.status.available_replicas == 1

    told(story)


def test_two_that_select_the_same_pods_each_have_their_own() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set("one", replicas=2))
        await world.create(replica_set("two", replicas=3))
        await world.settle()

        owners = [controller_of(each) for each in await pods(world)]
        names = [owner.name for owner in owners if owner is not None]
        assert sorted(names) == ["one", "one", "two", "two", "two"]

    told(story)


def test_what_cannot_be_made_is_tried_once_and_not_a_thousand_times() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await no_more(world, "pods", 0)
        before = world.moment()

        await world.create(replica_set(replicas=1000))
        await world.clock.sleep(0.5)

        asked = [each for each in world.history.asked[before:] if each.status == 403]
        # Once, and once more because its own status has changed.
        assert len(asked) <= 2
        rs = await world.get(ReplicaSet, "web")
        assert rs.status is not None
        assert rs.status.conditions is not None
        (failure,) = rs.status.conditions
        assert (failure.type, failure.status, failure.reason) == (
            "ReplicaFailure",
            "True",
            "FailedCreate",
        )
        assert "is forbidden: exceeded quota: few" in (failure.message or "")
        assert (await notes(world, "FailedCreate"))[0] == f"Error creating: {failure.message}"

    told(story)


def test_what_could_not_be_made_is_made_when_it_can_be() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await no_more(world, "pods", 0)
        await world.create(replica_set(replicas=3))
        await world.settle()

        await world.delete(core_v1.ResourceQuota, "few")
        await world.advance(300)
        await world.settle()

        rs = await world.get(ReplicaSet, "web")
        assert rs.status is not None
        assert (rs.status.replicas, rs.status.conditions) == (3, None)

    told(story)


def test_one_that_is_going_makes_no_pods_and_still_counts_them() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        rs = replica_set(replicas=2)
        await world.create(rs)
        await world.settle()
        held = MergePatch({"metadata": {"finalizers": ["example.com/hold"]}})
        await world.patch(ReplicaSet, "web", held)

        await world.delete(ReplicaSet, "web")
        await world.delete(Pod, (await pods(world))[0].name)
        await world.settle()

        going = await world.get(ReplicaSet, "web")
        assert going.status is not None
        assert (len(await pods(world)), going.status.replicas) == (1, 1)

    told(story)


def test_each_pod_that_comes_or_goes_is_told() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=2))
        await world.settle()
        names = [each.name for each in await pods(world)]

        await world.patch(ReplicaSet, "web", sized(0))
        await world.settle()

        created, deleted = (
            await notes(world, "SuccessfulCreate"),
            await notes(world, "SuccessfulDelete"),
        )
        assert sorted(created) == [f"Created pod: {name}" for name in names]
        assert sorted(deleted) == [f"Deleted pod: {name}" for name in names]
        events = await world.list(events_v1.Event)
        assert {each.reporting_controller for each in events} == {"replicaset-controller"}

    told(story)


def test_a_replicaset_at_rest_writes_nothing() -> None:
    async def story(world: SimulatedWorld, stage: Stage) -> None:
        await world.create(replica_set(replicas=2, min_ready_seconds=5))
        await stage.all_ready()

        await world.assert_second_pass_writes_nothing()

    told(story)
