"""Tests of the code in the page about owner references."""

import pytest

from docs.code.concepts.owner_references import Door, Spec, controller
from steersman import recipes
from steersman.controller import controller_of
from steersman.kinds import core_v1, events_v1, meta_v1
from steersman_cluster.simulation import Cluster


def door(*ports: int) -> Door:
    return Door(metadata=meta_v1.ObjectMeta(name="front"), spec=Spec(ports=ports))


@pytest.fixture
async def operator(cluster: Cluster) -> None:
    """The running operator of Doors."""
    await cluster.install(Door)
    await cluster.run_operator(controller)


async def services(cluster: Cluster) -> set[str]:
    return {each.name for each in await cluster.list(core_v1.Service)} - {"kubernetes"}


async def test_a_dependent_refers_to_its_owner(cluster: Cluster, operator: None) -> None:
    applied = await cluster.apply(door(80))
    await cluster.settle()

    child = await cluster.get(core_v1.Service, "front-80")
    owner = controller_of(child)
    assert owner is not None
    assert (owner.kind, owner.name, owner.uid) == ("Door", "front", applied.uid)
    assert owner.block_owner_deletion


async def test_a_dependent_that_is_no_longer_applied_is_deleted(
    cluster: Cluster, operator: None
) -> None:
    await cluster.apply(door(80, 443))
    await cluster.settle()

    await cluster.apply(door(443))
    await cluster.settle()

    assert await services(cluster) == {"front-443"}


async def test_the_garbage_collector_deletes_dependents_of_a_deleted_owner(
    cluster: Cluster, operator: None
) -> None:
    await cluster.apply(door(80, 443))
    await cluster.settle()

    await cluster.delete(Door, "front")
    await cluster.settle()

    assert await services(cluster) == set()


@pytest.mark.embedded_only
async def test_an_object_without_this_owner_is_not_changed(
    cluster: Cluster, operator: None
) -> None:
    theirs = await cluster.create(recipes.service("front-80", (core_v1.ServicePort(port=8080),)))

    await cluster.apply(door(80))
    await cluster.clock.sleep(60)  # not settle: it is tried again until the other is gone

    found = await cluster.get(core_v1.Service, "front-80")
    assert found.resource_version == theirs.resource_version
    said = {event.reason: event.note or "" for event in await cluster.list(events_v1.Event)}
    assert "Service default/front-80, which already exists" in said["NotOurs"]
