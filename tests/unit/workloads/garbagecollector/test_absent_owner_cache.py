"""Owners that are known not to be there."""

from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwnerCache
from tests.unit.workloads.garbagecollector.owners import identity


def test_those_that_were_added_are_known() -> None:
    absent = AbsentOwnerCache()

    absent.add(identity("a"))

    assert identity("a") in absent
    assert identity("b") not in absent


def test_the_same_uid_elsewhere_is_another() -> None:
    absent = AbsentOwnerCache()

    absent.add(identity("a"))

    assert identity("a", namespace="solid") not in absent


def test_the_one_that_was_longest_not_asked_for_is_forgotten_first() -> None:
    absent = AbsentOwnerCache(most=2)
    absent.add(identity("a"))
    absent.add(identity("b"))
    assert identity("a") in absent

    absent.add(identity("c"))

    assert identity("a") in absent
    assert identity("b") not in absent
    assert len(absent) == 2
