"""Tests of the code in the page about spec and status."""

import pytest

from docs.code.concepts.spec_and_status import Heating, Spec, Status, Thermostat, controller
from steersman.client import MergePatch
from steersman.kinds import meta_v1
from steersman_cluster.simulation import Cluster

pytestmark = pytest.mark.embedded_only  # an hour is skipped


@pytest.fixture
async def thermostat(cluster: Cluster) -> Thermostat:
    """A thermostat set to 20 degrees, in a room of 15."""
    await cluster.install(Thermostat)
    await cluster.run_operator(controller(Heating()))
    await cluster.apply(
        Thermostat(metadata=meta_v1.ObjectMeta(name="study"), spec=Spec(degrees=20))
    )
    return await cluster.get(Thermostat, "study")


async def status(cluster: Cluster) -> Status:
    found = await cluster.get(Thermostat, "study")
    assert found.status is not None
    return found.status


async def test_the_status_reaches_the_spec(cluster: Cluster, thermostat: Thermostat) -> None:
    await cluster.clock.sleep(90)
    halfway = await status(cluster)
    await cluster.advance(seconds=3600)
    await cluster.settle()
    there = await status(cluster)

    assert halfway.degrees == 17
    assert [each.reason for each in halfway.conditions] == ["StillChanging"]
    assert there.degrees == 20
    assert [each.reason for each in there.conditions] == ["AsWanted"]


async def test_the_generation_counts_changes_of_the_spec_only(
    cluster: Cluster, thermostat: Thermostat
) -> None:
    await cluster.advance(seconds=3600)
    await cluster.settle()
    before = await cluster.get(Thermostat, "study")

    await cluster.patch(Thermostat, "study", MergePatch({"spec": {"degrees": 21}}))
    await cluster.advance(seconds=3600)
    await cluster.settle()

    after = await cluster.get(Thermostat, "study")
    assert (before.generation, after.generation) == (1, 2)
    assert (await status(cluster)).observed_generation == 2


async def test_a_write_of_the_object_does_not_change_the_status(
    cluster: Cluster, thermostat: Thermostat
) -> None:
    await cluster.advance(seconds=3600)
    await cluster.settle()

    await cluster.patch(Thermostat, "study", MergePatch({"status": {"degrees": 100}}))

    assert (await status(cluster)).degrees == 20
