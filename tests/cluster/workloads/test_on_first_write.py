"""Kinds of which there is nothing are left alone by the garbage collector, until there is."""

from steersman.kinds import CustomResource, Part
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.owners import config_map, left, named, of

GARBAGE = WorkloadSettings(parts=("garbagecollector",))


class Empty(Part):
    """Nothing."""


class Boat(CustomResource[Empty, Empty], group="sea.example.com", version="v1"):
    """A kind that is defined while the collector runs."""


class OldBoat(
    CustomResource[Empty, Empty], group="sea.example.com", version="v1beta1", kind="Boat"
):
    """The same kind, before it was what it is now."""


async def a_boat_and_its_end(cluster: SimulatedCluster) -> None:
    """Of which something else is to go as well."""
    boat = await cluster.create(Boat(metadata=named("one"), spec=Empty()))
    await cluster.create(config_map("mine", of(boat)))
    await cluster.delete(Boat, "one")
    await cluster.settle()


def boats_watched(cluster: SimulatedCluster) -> list[str]:
    """In which versions the collector has begun to follow boats."""
    asked = (each.target.partition("?") for each in cluster.history.requests)
    paths = [path for path, _, query in asked if "/boats" in path and "watch" in query]
    return list(dict.fromkeys(each.split("/")[3] for each in paths))


def test_a_kind_of_which_there_is_nothing_is_left_alone_until_there_is() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        await cluster.settle()
        assert boats_watched(cluster) == []

        await a_boat_and_its_end(cluster)
        assert boats_watched(cluster) == ["v1"]
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)


def test_a_kind_that_came_back_in_another_version_is_followed_in_that_one_only() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(OldBoat)
        await cluster.settle()
        await cluster.delete(CustomResourceDefinition, "boats.sea.example.com")
        await cluster.settle()
        await cluster.install(Boat)
        await cluster.settle()

        await a_boat_and_its_end(cluster)
        assert boats_watched(cluster) == ["v1"]
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)


def test_a_kind_that_came_back_after_there_was_something_is_followed_again() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for _ in range(3):
            await cluster.install(Boat)
            await cluster.settle()
            await a_boat_and_its_end(cluster)
            assert await left(cluster) == []
            await cluster.delete(CustomResourceDefinition, "boats.sea.example.com")
            await cluster.settle()

    simulate(steps, settings=GARBAGE)


def test_whoever_writes_the_first_of_a_kind_is_answered_when_the_collector_has_stopped() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        await cluster.settle()
        (collector,) = cluster.operators
        await collector.stop()
        await a_boat_and_its_end(cluster)
        assert await left(cluster) == ["mine"]

        collector.again()
        await cluster.settle()
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)


def test_whoever_writes_the_first_of_a_kind_is_answered_when_the_collector_was_killed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        await cluster.settle()
        (collector,) = cluster.operators
        await collector.kill()
        await a_boat_and_its_end(cluster)
        assert await left(cluster) == ["mine"]

        collector.again()
        await cluster.settle()
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)
