"""ReplicaSets on the embedded server."""

from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.kinds import core_v1, events_v1
from steersman_cluster.simulation import SimulatedCluster
from tests.cluster.workloads.replicated import (
    Pod,
    ReplicaSet,
    notes,
    pod,
    pod_quota,
    pods,
    ready_pods,
    replica_set,
    run_steps,
)
from tests.real.workload_steps import Stage


def sized(replicas: int) -> MergePatch:
    return MergePatch({"spec": {"replicas": replicas}})


def test_a_replicaset_has_the_desired_number_of_pods() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=3))
        counts = []
        for replicas in (3, 5, 1, 0):
            await cluster.patch(ReplicaSet, "web", sized(replicas))
            await stage.make_pods_ready()
            rs = await cluster.get(ReplicaSet, "web")
            assert rs.status is not None
            counts.append(
                (len(await pods(cluster)), rs.status.replicas, rs.status.available_replicas)
            )

        assert counts == [(3, 3, 3), (5, 5, 5), (1, 1, 1), (0, 0, None)]

    run_steps(steps)


def test_pods_without_a_controller_are_adopted_and_count() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(pod("lonely", app="web"))
        await cluster.create(pod("other", app="else"))

        await cluster.create(replica_set(replicas=2))
        await cluster.settle()

        lonely = await cluster.get(Pod, "lonely")
        owner = controller_of(lonely)
        assert owner is not None
        assert (owner.kind, owner.name, owner.block_owner_deletion) == ("ReplicaSet", "web", True)
        assert controller_of(await cluster.get(Pod, "other")) is None
        assert len(await pods(cluster)) == 3

    run_steps(steps)


def test_a_later_matching_pod_is_adopted_and_is_surplus() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=2))
        await stage.make_pods_ready()

        await cluster.create(pod("late", app="web"))
        await cluster.settle()

        # It is the only one that is not ready, so it is deleted first.
        assert await cluster.find(Pod, "late") is None
        assert len(await pods(cluster)) == 2

    run_steps(steps)


def test_a_pod_whose_labels_no_longer_match_is_released_and_replaced() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=1))
        await cluster.settle()
        (only,) = await pods(cluster)

        await cluster.patch(Pod, only.name, MergePatch({"metadata": {"labels": {"app": "debug"}}}))
        await cluster.settle()

        released = await cluster.get(Pod, only.name)
        assert controller_of(released) is None
        assert [each.name for each in await pods(cluster) if each.labels["app"] == "web"] != []
        assert len(await pods(cluster)) == 2

    run_steps(steps)


def test_failed_pods_are_replaced_and_not_deleted() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=2))
        await stage.make_pods_ready()
        failed, kept = await pods(cluster)

        await stage.set_pod_status(failed, "Failed", is_ready=False)
        await cluster.settle()

        assert (await cluster.get(Pod, failed.name)).status is not None
        assert len(await pods(cluster)) == 2
        assert kept.name in await ready_pods(cluster)

    run_steps(steps)


def test_unready_pods_are_deleted_first() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=4))
        await stage.make_pods_ready(at_most=2)
        working = await ready_pods(cluster)

        await cluster.patch(ReplicaSet, "web", sized(2))
        await cluster.settle()

        assert [each.name for each in await pods(cluster)] == working

    run_steps(steps)


def test_a_pod_counts_as_available_once_it_has_been_ready_for_long_enough() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=1, min_ready_seconds=300))
        await stage.make_pods_ready()
        rs = await cluster.get(ReplicaSet, "web")
        assert rs.status is not None
        assert (rs.status.ready_replicas, rs.status.available_replicas) == (1, None)

        await cluster.advance(300)
        await cluster.settle()

        rs = await cluster.get(ReplicaSet, "web")
        assert rs.status is not None
        assert rs.status.available_replicas == 1

    run_steps(steps)


def test_two_replicasets_with_the_same_selector_have_separate_pods() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set("one", replicas=2))
        await cluster.create(replica_set("two", replicas=3))
        await cluster.settle()

        owners = [controller_of(each) for each in await pods(cluster)]
        names = [owner.name for owner in owners if owner is not None]
        assert sorted(names) == ["one", "one", "two", "two", "two"]

    run_steps(steps)


def test_a_rejected_creation_is_tried_once_and_not_a_thousand_times() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await pod_quota(cluster, "pods", 0)
        before = cluster.history_position()

        await cluster.create(replica_set(replicas=1000))
        await cluster.clock.sleep(0.5)

        asked = [each for each in cluster.history.requests[before:] if each.status == 403]
        # Once, and once more after the change of its own status.
        assert len(asked) <= 2
        rs = await cluster.get(ReplicaSet, "web")
        assert rs.status is not None
        assert rs.status.conditions is not None
        (failure,) = rs.status.conditions
        assert (failure.type, failure.status, failure.reason) == (
            "ReplicaFailure",
            "True",
            "FailedCreate",
        )
        assert "is forbidden: exceeded quota: few" in (failure.message or "")
        assert (await notes(cluster, "FailedCreate"))[0] == f"Error creating: {failure.message}"

    run_steps(steps)


def test_a_rejected_pod_is_created_when_the_server_accepts_it() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await pod_quota(cluster, "pods", 0)
        await cluster.create(replica_set(replicas=3))
        await cluster.settle()

        await cluster.delete(core_v1.ResourceQuota, "few")
        await cluster.advance(300)
        await cluster.settle()

        rs = await cluster.get(ReplicaSet, "web")
        assert rs.status is not None
        assert (rs.status.replicas, rs.status.conditions) == (3, None)

    run_steps(steps)


def test_a_replicaset_in_deletion_counts_its_pods_and_creates_none() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        rs = replica_set(replicas=2)
        await cluster.create(rs)
        await cluster.settle()
        held = MergePatch({"metadata": {"finalizers": ["example.com/hold"]}})
        await cluster.patch(ReplicaSet, "web", held)

        await cluster.delete(ReplicaSet, "web")
        await cluster.delete(Pod, (await pods(cluster))[0].name)
        await cluster.settle()

        going = await cluster.get(ReplicaSet, "web")
        assert going.status is not None
        assert (len(await pods(cluster)), going.status.replicas) == (1, 1)

    run_steps(steps)


def test_each_creation_and_deletion_of_a_pod_has_an_event() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=2))
        await cluster.settle()
        names = [each.name for each in await pods(cluster)]

        await cluster.patch(ReplicaSet, "web", sized(0))
        await cluster.settle()

        created, deleted = (
            await notes(cluster, "SuccessfulCreate"),
            await notes(cluster, "SuccessfulDelete"),
        )
        assert sorted(created) == [f"Created pod: {name}" for name in names]
        assert sorted(deleted) == [f"Deleted pod: {name}" for name in names]
        events = await cluster.list(events_v1.Event)
        assert {each.reporting_controller for each in events} == {"replicaset-controller"}

    run_steps(steps)


def test_a_settled_replicaset_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(replica_set(replicas=2, min_ready_seconds=5))
        await stage.make_pods_ready()

        await cluster.assert_second_pass_writes_nothing()

    run_steps(steps)
