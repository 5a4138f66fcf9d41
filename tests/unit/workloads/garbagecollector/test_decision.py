"""The decision about an object, by the state of its owners."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.workloads.garbagecollector.decision import (
    ClassifiedOwner,
    CollectionDecision,
    DeleteObject,
    KeepObject,
    OwnerState,
    Unlink,
    decide,
    unblock_owner_references,
)
from steersman_cluster.workloads.garbagecollector.graph import FOREGROUND, ORPHAN
from tests.unit.workloads.garbagecollector.owners import owner


def decided(
    *states: OwnerState,
    finalizers: tuple[str, ...] = (),
    has_dependents: bool = False,
    has_circle: bool = False,
) -> CollectionDecision:
    classified = [ClassifiedOwner(owner(str(number)), each) for number, each in enumerate(states)]
    return decide(
        classified, finalizers=finalizers, has_dependents=has_dependents, has_circle=has_circle
    )


def test_an_object_without_owner_references_is_kept() -> None:
    assert decided() == KeepObject()


def test_an_object_without_its_only_owner_is_deleted() -> None:
    assert decided("absent") == DeleteObject(propagation="Background")


def test_an_object_without_any_of_its_owners_is_deleted() -> None:
    assert decided("absent", "absent") == DeleteObject(propagation="Background")


def test_an_object_with_all_its_owners_is_kept_unchanged() -> None:
    assert decided("solid", "solid") == KeepObject()


@pytest.mark.parametrize("lost", ["absent", "waiting"])
def test_a_dependent_keeps_the_references_to_existing_owners(lost: OwnerState) -> None:
    assert decided("solid", lost) == Unlink(left=(owner("0"),))


def test_a_dependent_with_dependents_is_deleted_in_the_foreground_if_its_owner_waits() -> None:
    found = decided("waiting", has_dependents=True)

    assert found == DeleteObject(propagation="Foreground")


def test_a_dependent_without_dependents_is_deleted_at_once_if_its_owner_waits() -> None:
    assert decided("waiting") == DeleteObject(propagation="Background")


def test_a_cycle_of_waiting_owners_is_broken() -> None:
    found = decided("waiting", has_dependents=True, has_circle=True)

    assert found == DeleteObject(propagation="Foreground", unblock=True)


@pytest.mark.parametrize(
    ("finalizer", "propagation"), [(ORPHAN, "Orphan"), (FOREGROUND, "Foreground")]
)
def test_the_finalizers_of_a_dependent_choose_its_propagation_policy(
    finalizer: str, propagation: str
) -> None:
    found = decided("absent", finalizers=(finalizer,))

    assert isinstance(found, DeleteObject)
    assert found.propagation == propagation


def test_an_object_with_an_unresolvable_owner_is_kept() -> None:
    assert decided("absent", "unresolvable") == KeepObject()


@given(
    st.lists(st.sampled_from(("solid", "absent", "waiting", "unresolvable")), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_an_object_with_an_owner_is_never_deleted(
    states: list[OwnerState], has_dependents: bool, has_circle: bool
) -> None:
    found = decided(*states, has_dependents=has_dependents, has_circle=has_circle)

    if "solid" in states:
        assert not isinstance(found, DeleteObject)


def test_unblocking_changes_only_blockownerdeletion() -> None:
    blocking, other = owner("a", blocks=True), owner("b")

    assert unblock_owner_references([blocking, other]) == (owner("a", blocks=False), other)
