"""Tests of the code in the page about the indexer."""

import pytest

from docs.code.concepts.indexer import pods
from steersman.errors import UnknownIndex
from steersman.kinds import core_v1, meta_v1
from steersman.watch import key_of


def pod(name: str, *images: str, tier: str = "front") -> core_v1.Pod:
    containers = tuple(core_v1.Container(name=f"c{n}", image=i) for n, i in enumerate(images))
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name, namespace="default", labels={"tier": tier}),
        spec=core_v1.PodSpec(containers=containers),
    )


def test_an_object_is_found_under_each_of_its_values() -> None:
    store = pods()

    store.put(pod("web", "nginx", "envoy"))
    store.put(pod("api", "python", "envoy", tier="back"))

    assert [each.name for each in store.by_index("image", "envoy")] == ["web", "api"]
    assert [each.name for each in store.by_index("tier", "back")] == ["api"]


def test_a_change_updates_every_index() -> None:
    store = pods()
    store.put(pod("web", "nginx"))

    store.put(pod("web", "caddy"))

    assert store.by_index("image", "nginx") == []
    assert len(store) == 1


def test_a_removed_object_is_in_no_index() -> None:
    store = pods()
    store.put(pod("web", "nginx"))

    store.remove(key_of(pod("web")))

    assert store.index_values("image") == []


def test_an_unknown_index_is_an_error() -> None:
    with pytest.raises(UnknownIndex, match="controller, image, tier"):
        pods().by_index("node", "one")
