"""Tests of the code in the page about caches."""

import pytest

from docs.code.concepts.cache import count_up
from steersman.cache import Caches
from steersman.kinds import core_v1
from steersman.observe import ignore
from steersman_cluster.simulation import Cluster


@pytest.fixture
async def caches(cluster: Cluster) -> Caches:
    """Caches of the cluster."""
    return Caches(cluster.client, observe=ignore)


async def test_reads_include_own_writes(cluster: Cluster, caches: Caches) -> None:
    async with caches.running(), caches.informer(core_v1.ConfigMap):
        counted = [
            await count_up(cluster.client, caches, namespace=cluster.namespace) for _ in range(10)
        ]

    assert counted == [str(number) for number in range(1, 11)]


async def test_users_of_a_kind_share_one_informer(cluster: Cluster, caches: Caches) -> None:
    async with caches.running():
        async with caches.informer(core_v1.ConfigMap) as first:
            async with caches.informer(core_v1.ConfigMap) as second:
                assert first is second
                assert len(caches) == 1
        assert len(caches) == 0
