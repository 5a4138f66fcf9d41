"""The garbage collector watches a kind only after its first object was written."""

from steersman.kinds import CustomResource, Part
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings
from tests.cluster.workloads.owners import config_map, left, named, of

GARBAGE = WorkloadSettings(parts=("garbagecollector",))


class Empty(Part):
    """No fields."""


class Boat(CustomResource[Empty, Empty], group="sea.example.com", version="v1"):
    """A kind that is defined while the collector runs."""


class OldBoat(
    CustomResource[Empty, Empty], group="sea.example.com", version="v1beta1", kind="Boat"
):
    """The same kind in an older version."""


async def create_and_delete_boat(cluster: SimulatedCluster) -> None:
    """Create and delete a boat with a dependent."""
    boat = await cluster.create(Boat(metadata=named("one"), spec=Empty()))
    await cluster.create(config_map("mine", of(boat)))
    await cluster.delete(Boat, "one")
    await cluster.settle()


def boats_watched(cluster: SimulatedCluster) -> list[str]:
    """The versions in which the collector watches boats."""
    targets = (each.target.partition("?") for each in cluster.history.requests)
    paths = [path for path, _, query in targets if "/boats" in path and "watch" in query]
    return list(dict.fromkeys(each.split("/")[3] for each in paths))


def test_a_kind_without_objects_is_watched_after_its_first_write() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        await cluster.settle()
        assert boats_watched(cluster) == []

        await create_and_delete_boat(cluster)
        assert boats_watched(cluster) == ["v1"]
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)


def test_a_kind_that_is_redefined_in_another_version_is_watched_only_in_that_one() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(OldBoat)
        await cluster.settle()
        await cluster.delete(CustomResourceDefinition, "boats.sea.example.com")
        await cluster.settle()
        await cluster.install(Boat)
        await cluster.settle()

        await create_and_delete_boat(cluster)
        assert boats_watched(cluster) == ["v1"]
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)


def test_a_redefined_kind_that_had_objects_is_watched_again() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for _ in range(3):
            await cluster.install(Boat)
            await cluster.settle()
            await create_and_delete_boat(cluster)
            assert await left(cluster) == []
            await cluster.delete(CustomResourceDefinition, "boats.sea.example.com")
            await cluster.settle()

    simulate(steps, settings=GARBAGE)


def test_the_first_write_of_a_kind_succeeds_while_the_collector_is_stopped() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        await cluster.settle()
        (collector,) = cluster.operators
        await collector.stop()
        await create_and_delete_boat(cluster)
        assert await left(cluster) == ["mine"]

        collector.again()
        await cluster.settle()
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)


def test_the_first_write_of_a_kind_succeeds_after_the_collector_was_killed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        await cluster.settle()
        (collector,) = cluster.operators
        await collector.kill()
        await create_and_delete_boat(cluster)
        assert await left(cluster) == ["mine"]

        collector.again()
        await cluster.settle()
        assert await left(cluster) == []

    simulate(steps, settings=GARBAGE)
