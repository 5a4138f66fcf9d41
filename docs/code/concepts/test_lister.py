"""Tests of the code in the page about the lister."""

import pytest

from docs.code.concepts.lister import image_of, running
from steersman import recipes
from steersman.cache import Informer, Scope
from steersman.errors import BadName, NotInScope, NotSynced
from steersman.kinds import core_v1
from steersman.observe import ignore
from steersman_cluster.simulation import Cluster


def pod(name: str, *, tier: str) -> core_v1.Pod:
    container = core_v1.Container(name="main", image="nginx")
    return recipes.pod(name, container, labels={"tier": tier})


def informer(cluster: Cluster) -> Informer[core_v1.Pod]:
    scope = Scope(namespaces=(cluster.namespace,))
    return Informer(cluster.client, core_v1.Pod, scope=scope, observe=ignore)


async def test_it_reads_cached_objects_without_a_request(cluster: Cluster) -> None:
    await cluster.create(pod("web", tier="front"))
    await cluster.create(pod("api", tier="back"))
    await cluster.settle()

    home, following = cluster.namespace, informer(cluster)
    async with following.running():
        before = len(cluster.history.requests)
        assert image_of(following.lister, "web", namespace=home) == "nginx"
        assert image_of(following.lister, "db", namespace=home) is None
        assert running(following.lister, namespace=home, tier="front") == ["web"]
        assert len(cluster.history.requests) == before


async def test_a_cache_that_has_not_synced_is_an_error(cluster: Cluster) -> None:
    with pytest.raises(NotSynced, match=r"await informer\.synced\(\)"):
        image_of(informer(cluster).lister, "web", namespace=cluster.namespace)


async def test_a_namespace_outside_of_its_scope_is_an_error(cluster: Cluster) -> None:
    following = informer(cluster)

    async with following.running():
        with pytest.raises(NotInScope, match="Widen the scope of the cache"):
            following.lister.get("web", namespace="kube-system")
        with pytest.raises(BadName, match="pass a namespace"):
            following.lister.get("web")


async def test_cached_objects_cannot_be_changed(cluster: Cluster) -> None:
    await cluster.create(pod("web", tier="front"))
    following = informer(cluster)

    async with following.running():
        found = following.lister.get("web", namespace=cluster.namespace)
        assert found is following.lister.get("web", namespace=cluster.namespace)
        with pytest.raises(AttributeError):
            found.metadata = None  # type: ignore[misc, union-attr]
