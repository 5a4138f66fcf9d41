"""Kinds of which there is nothing are left alone by the garbage collector, until there is."""

from steersman.kinds import CustomResource, Part
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman_cluster.simulation import SimulatedWorld, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.owners import config_map, left, named, of

GARBAGE = WorkloadSettings(parts=("garbage",))


class Empty(Part):
    """Nothing."""


class Boat(CustomResource[Empty, Empty], group="sea.example.com", version="v1"):
    """A kind that is defined while the collector runs."""


class OldBoat(
    CustomResource[Empty, Empty], group="sea.example.com", version="v1beta1", kind="Boat"
):
    """The same kind, before it was what it is now."""


async def a_boat_and_its_end(world: SimulatedWorld) -> None:
    """Of which something else is to go as well."""
    boat = await world.create(Boat(metadata=named("one"), spec=Empty()))
    await world.create(config_map("mine", of(boat)))
    await world.delete(Boat, "one")
    await world.settle()


def boats_watched(world: SimulatedWorld) -> list[str]:
    """In which versions the collector has begun to follow boats."""
    asked = (each.target.partition("?") for each in world.history.asked)
    paths = [path for path, _, query in asked if "/boats" in path and "watch" in query]
    return list(dict.fromkeys(each.split("/")[3] for each in paths))


def test_a_kind_of_which_there_is_nothing_is_left_alone_until_there_is() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.install(Boat)
        await world.settle()
        assert boats_watched(world) == []

        await a_boat_and_its_end(world)
        assert boats_watched(world) == ["v1"]
        assert await left(world) == []

    simulate(story, settings=GARBAGE)


def test_a_kind_that_came_back_in_another_version_is_followed_in_that_one_only() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.install(OldBoat)
        await world.settle()
        await world.delete(CustomResourceDefinition, "boats.sea.example.com")
        await world.settle()
        await world.install(Boat)
        await world.settle()

        await a_boat_and_its_end(world)
        assert boats_watched(world) == ["v1"]
        assert await left(world) == []

    simulate(story, settings=GARBAGE)


def test_a_kind_that_came_back_after_there_was_something_is_followed_again() -> None:
    async def story(world: SimulatedWorld) -> None:
        for _ in range(3):
            await world.install(Boat)
            await world.settle()
            await a_boat_and_its_end(world)
            assert await left(world) == []
            await world.delete(CustomResourceDefinition, "boats.sea.example.com")
            await world.settle()

    simulate(story, settings=GARBAGE)


def test_whoever_writes_the_first_of_a_kind_is_answered_when_the_collector_has_stopped() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.install(Boat)
        await world.settle()
        (collector,) = world.operators
        await collector.stop()
        await a_boat_and_its_end(world)
        assert await left(world) == ["mine"]

        collector.again()
        await world.settle()
        assert await left(world) == []

    simulate(story, settings=GARBAGE)


def test_whoever_writes_the_first_of_a_kind_is_answered_when_the_collector_was_killed() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.install(Boat)
        await world.settle()
        (collector,) = world.operators
        await collector.kill()
        await a_boat_and_its_end(world)
        assert await left(world) == ["mine"]

        collector.again()
        await world.settle()
        assert await left(world) == []

    simulate(story, settings=GARBAGE)
