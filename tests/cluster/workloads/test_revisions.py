"""The history of a StatefulSet on the embedded server."""

from steersman.client import MergePatch, StrategicMergePatch
from steersman.errors import Unreachable
from steersman.kinds import meta_v1
from steersman.wire import Request
from steersman_cluster.simulation import Actor, SimulatedWorld
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.statefulsets import controllers
from tests.cluster.workloads.stateful import (
    Revision,
    StatefulSet,
    images,
    names,
    stateful_set,
    status,
    told,
)

PARTS = ("garbage", "nodes", "scheduler", "statefulsets")


class LosesAnswers:
    """The first answer to a new revision is lost."""

    def __init__(self) -> None:
        self.lost = 0

    async def sending(self, actor: Actor, request: Request) -> None:
        """Nothing."""

    async def telling(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Nothing."""

    async def answering(self, actor: Actor, request: Request) -> None:
        if request.method == "POST" and request.path.endswith("/controllerrevisions"):
            self.lost += 1
            if self.lost == 1:
                raise Unreachable("the answer was lost", may_have_happened=True)


async def numbers(world: SimulatedWorld) -> dict[str, int]:
    return {each.name: each.revision for each in await world.list(Revision)}


async def update(world: SimulatedWorld, image: str) -> str:
    """Another image in all Pods; the name of its revision."""
    await world.apply(stateful_set(1, image=image))
    await world.settle()
    newest = (await status(world)).update_revision
    assert newest is not None
    return newest


def test_a_revision_holds_what_restores_its_template_as_a_patch() -> None:
    async def story(world: SimulatedWorld) -> None:
        first = await update(world, "web:1")
        second = await update(world, "web:2")
        assert await numbers(world) == {first: 1, second: 2}

        kept = await world.get(Revision, first)
        await world.patch(StatefulSet, "web", StrategicMergePatch(kept.data))
        await world.settle()

        assert await images(world) == {"web-0": "web:1"}
        assert await numbers(world) == {first: 3, second: 2}
        assert (await status(world)).current_revision == first

    told(story, parts=PARTS)


def test_a_revision_carries_the_annotations_of_its_set_for_kubectl_to_show() -> None:
    async def story(world: SimulatedWorld) -> None:
        cause = {"kubernetes.io/change-cause": "because"}
        owner = stateful_set(1)
        metadata = meta_v1.ObjectMeta(name="web", annotations=cause)
        await world.apply(StatefulSet(metadata=metadata, spec=owner.spec))
        await world.settle()

        [made] = await world.list(Revision)
        assert made.annotations == cause

    told(story, parts=PARTS)


def test_a_revision_whose_answer_was_lost_is_found_again() -> None:
    async def story(world: SimulatedWorld) -> None:
        loses = LosesAnswers()
        world.disturbance = loses
        await world.run_operator(*controllers(WorkloadSettings()))

        newest = await update(world, "web:1")

        assert loses.lost >= 1
        assert await names(world, Revision) == [newest]
        assert (await status(world)).collision_count == 0

    told(story, parts=("nodes", "scheduler"))


def test_a_name_that_somebody_else_has_taken_is_counted_as_a_collision() -> None:
    async def story(world: SimulatedWorld) -> None:
        first = await update(world, "web:1")
        await world.delete(StatefulSet, "web")
        await world.settle()
        other = Revision(
            metadata=meta_v1.ObjectMeta(name=first), data={"of": "somebody else"}, revision=1
        )
        await world.create(other)

        second = await update(world, "web:1")

        assert second != first
        assert await names(world, Revision) == sorted([first, second])
        assert (await status(world)).collision_count == 1

    told(story, parts=PARTS)


def test_a_history_is_kept_as_short_as_the_set_says() -> None:
    async def story(world: SimulatedWorld) -> None:
        made = [await update(world, f"web:{each}") for each in range(4)]

        await world.patch(StatefulSet, "web", MergePatch({"spec": {"revisionHistoryLimit": 1}}))
        await world.settle()

        assert await names(world, Revision) == sorted(made[2:])

    told(story, parts=PARTS)


def test_revisions_left_behind_are_taken_up_again() -> None:
    async def story(world: SimulatedWorld) -> None:
        first = await update(world, "web:1")
        await world.delete(StatefulSet, "web", propagation="Orphan")
        await world.settle()

        again = await update(world, "web:1")

        assert again == first
        [kept] = await world.list(Revision)
        owner = await world.get(StatefulSet, "web")
        assert [each.uid for each in kept.metadata.owner_references or ()] == [owner.uid]

    told(story, parts=PARTS)
