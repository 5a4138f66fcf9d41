"""Tests of the code in the page about volumes."""

import pytest

from docs.code.how_to.volumes import Database, Spec, controller, has_grown, size_of
from steersman import is_ready, recipes, replace
from steersman.errors import Invalid
from steersman.kinds import core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.simulation import Cluster


def database(*, storage_gi: int, replicas: int = 2) -> Database:
    spec = Spec(storage_gi=storage_gi, replicas=replicas)
    return Database(metadata=meta_v1.ObjectMeta(name="db"), spec=spec)


async def test_existing_and_new_volumes_get_the_new_size(cluster: Cluster) -> None:
    await cluster.install(Database)
    await cluster.run_operator(controller)
    await cluster.apply(database(storage_gi=1))
    await cluster.settle()

    await cluster.apply(database(storage_gi=3))
    await cluster.settle()
    await cluster.apply(database(storage_gi=3, replicas=3))
    await cluster.settle()

    claims = await cluster.list(core_v1.PersistentVolumeClaim)
    assert is_ready(await cluster.get(Database, "db"))
    assert [size_of(each) for each in claims] == [Quantity("3Gi")] * 3
    assert all(has_grown(each, Quantity("3Gi")) for each in claims)


def test_a_claim_has_grown_once_its_driver_says_so() -> None:
    claim = recipes.pvc("data-db-0", "3Gi")
    capacity = {"storage": Quantity("1Gi")}
    smaller = replace(claim, status=core_v1.PersistentVolumeClaimStatus(capacity=capacity))

    assert not has_grown(claim, Quantity("3Gi"))
    assert not has_grown(smaller, Quantity("3Gi"))
    assert has_grown(smaller, Quantity("1Gi"))


async def test_a_volume_cannot_shrink(cluster: Cluster) -> None:
    await cluster.install(Database)
    await cluster.apply(database(storage_gi=3))

    with pytest.raises(Invalid, match="a volume cannot shrink"):
        await cluster.apply(database(storage_gi=2))
