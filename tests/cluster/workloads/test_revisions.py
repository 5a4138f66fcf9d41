"""The history of a StatefulSet on the embedded server."""

from steersman.client import MergePatch, StrategicMergePatch
from steersman.errors import Unreachable
from steersman.kinds import meta_v1
from steersman.wire import Request
from steersman_cluster.simulation import Actor, SimulatedCluster
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.statefulsets import controllers
from tests.cluster.workloads.stateful import (
    Revision,
    StatefulSet,
    images,
    names,
    run_steps,
    stateful_set,
    status,
)

PARTS = ("garbagecollector", "nodes", "scheduler", "statefulsets")


class LosesResponses:
    """Loses the first response to the creation of a revision."""

    def __init__(self) -> None:
        self.lost = 0

    async def before_request(self, actor: Actor, request: Request) -> None:
        """No fault."""

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """No fault."""

    async def before_response(self, actor: Actor, request: Request) -> None:
        if request.method == "POST" and request.path.endswith("/controllerrevisions"):
            self.lost += 1
            if self.lost == 1:
                raise Unreachable("the answer was lost", may_have_happened=True)


async def numbers(cluster: SimulatedCluster) -> dict[str, int]:
    return {each.name: each.revision for each in await cluster.list(Revision)}


async def update(cluster: SimulatedCluster, image: str) -> str:
    """Set the image of all Pods; the name of the new revision."""
    await cluster.apply(stateful_set(1, image=image))
    await cluster.settle()
    newest = (await status(cluster)).update_revision
    assert newest is not None
    return newest


def test_a_revision_is_a_patch_that_restores_its_template() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        first = await update(cluster, "web:1")
        second = await update(cluster, "web:2")
        assert await numbers(cluster) == {first: 1, second: 2}

        kept = await cluster.get(Revision, first)
        await cluster.patch(StatefulSet, "web", StrategicMergePatch(kept.data))
        await cluster.settle()

        assert await images(cluster) == {"web-0": "web:1"}
        assert await numbers(cluster) == {first: 3, second: 2}
        assert (await status(cluster)).current_revision == first

    run_steps(steps, parts=PARTS)


def test_a_revision_has_the_annotations_of_its_set() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cause = {"kubernetes.io/change-cause": "because"}
        owner = stateful_set(1)
        metadata = meta_v1.ObjectMeta(name="web", annotations=cause)
        await cluster.apply(StatefulSet(metadata=metadata, spec=owner.spec))
        await cluster.settle()

        [made] = await cluster.list(Revision)
        assert made.annotations == cause

    run_steps(steps, parts=PARTS)


def test_a_revision_whose_create_response_was_lost_is_found_again() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        loses = LosesResponses()
        cluster.fault_injector = loses
        await cluster.run_operator(*controllers(WorkloadSettings()))

        newest = await update(cluster, "web:1")

        assert loses.lost >= 1
        assert await names(cluster, Revision) == [newest]
        assert (await status(cluster)).collision_count == 0

    run_steps(steps, parts=("nodes", "scheduler"))


def test_a_foreign_revision_with_the_same_name_counts_as_a_collision() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        first = await update(cluster, "web:1")
        await cluster.delete(StatefulSet, "web")
        await cluster.settle()
        other = Revision(metadata=meta_v1.ObjectMeta(name=first), data={"of": "a user"}, revision=1)
        await cluster.create(other)

        second = await update(cluster, "web:1")

        assert second != first
        assert await names(cluster, Revision) == sorted([first, second])
        assert (await status(cluster)).collision_count == 1

    run_steps(steps, parts=PARTS)


def test_the_history_limit_of_a_set_bounds_its_revisions() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        made = [await update(cluster, f"web:{each}") for each in range(4)]

        await cluster.patch(StatefulSet, "web", MergePatch({"spec": {"revisionHistoryLimit": 1}}))
        await cluster.settle()

        assert await names(cluster, Revision) == sorted(made[2:])

    run_steps(steps, parts=PARTS)


def test_orphaned_revisions_are_adopted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        first = await update(cluster, "web:1")
        await cluster.delete(StatefulSet, "web", propagation="Orphan")
        await cluster.settle()

        again = await update(cluster, "web:1")

        assert again == first
        [kept] = await cluster.list(Revision)
        owner = await cluster.get(StatefulSet, "web")
        assert [each.uid for each in kept.metadata.owner_references or ()] == [owner.uid]

    run_steps(steps, parts=PARTS)
