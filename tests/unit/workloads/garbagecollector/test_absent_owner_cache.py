"""The cache of owners that are known not to exist."""

from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwnerCache
from tests.unit.workloads.garbagecollector.owners import identity


def test_an_added_owner_is_in_the_cache() -> None:
    absent = AbsentOwnerCache()

    absent.add(identity("a"))

    assert identity("a") in absent
    assert identity("b") not in absent


def test_the_same_uid_in_another_namespace_is_another_owner() -> None:
    absent = AbsentOwnerCache()

    absent.add(identity("a"))

    assert identity("a", namespace="solid") not in absent


def test_the_least_recently_used_owner_is_dropped_first() -> None:
    absent = AbsentOwnerCache(most=2)
    absent.add(identity("a"))
    absent.add(identity("b"))
    assert identity("a") in absent

    absent.add(identity("c"))

    assert identity("a") in absent
    assert identity("b") not in absent
    assert len(absent) == 2
