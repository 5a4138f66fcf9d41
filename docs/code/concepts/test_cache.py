"""What the page about caches says."""

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


async def test_we_read_our_own_writes(cluster: Cluster, caches: Caches) -> None:
    async with caches.running(), caches.informer(core_v1.ConfigMap):
        counted = [
            await count_up(cluster.client, caches, namespace=cluster.namespace) for _ in range(10)
        ]

    assert counted == [str(number) for number in range(1, 11)]


async def test_there_is_one_informer_however_many_follow(cluster: Cluster, caches: Caches) -> None:
    async with caches.running():
        async with caches.informer(core_v1.ConfigMap) as mine:
            async with caches.informer(core_v1.ConfigMap) as yours:
                assert mine is yours
                assert len(caches) == 1
        assert len(caches) == 0
