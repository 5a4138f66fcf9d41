"""What the page about spec and status says."""

import pytest

from docs.code.concepts.spec_and_status import Heating, Room, Spec, Status, controller
from steersman.client import MergePatch
from steersman.kinds import meta_v1
from steersman_cluster.simulation import Cluster

pytestmark = pytest.mark.embedded_only  # an hour is skipped


@pytest.fixture
async def room(cluster: Cluster) -> Room:
    """A room with a wanted temperature, and its heating."""
    await cluster.install(Room)
    await cluster.run_operator(controller(Heating()))
    await cluster.apply(Room(metadata=meta_v1.ObjectMeta(name="study"), spec=Spec(degrees=20)))
    return await cluster.get(Room, "study")


async def status(cluster: Cluster) -> Status:
    found = await cluster.get(Room, "study")
    assert found.status is not None
    return found.status


async def test_the_status_comes_to_what_the_spec_says(cluster: Cluster, room: Room) -> None:
    await cluster.clock.sleep(90)
    halfway = await status(cluster)
    await cluster.advance(seconds=3600)
    await cluster.settle()
    there = await status(cluster)

    assert halfway.degrees == 17
    assert [each.reason for each in halfway.conditions] == ["OnTheWay"]
    assert there.degrees == 20
    assert [each.reason for each in there.conditions] == ["AsWanted"]


async def test_the_generation_counts_changes_of_the_spec_only(cluster: Cluster, room: Room) -> None:
    await cluster.advance(seconds=3600)
    await cluster.settle()
    before = await cluster.get(Room, "study")

    await cluster.patch(Room, "study", MergePatch({"spec": {"degrees": 21}}))
    await cluster.advance(seconds=3600)
    await cluster.settle()

    after = await cluster.get(Room, "study")
    assert (before.generation, after.generation) == (1, 2)
    assert (await status(cluster)).observed_generation == 2


async def test_a_write_of_the_object_leaves_the_status_alone(cluster: Cluster, room: Room) -> None:
    await cluster.advance(seconds=3600)
    await cluster.settle()

    await cluster.patch(Room, "study", MergePatch({"status": {"degrees": 100}}))

    assert (await status(cluster)).degrees == 20
