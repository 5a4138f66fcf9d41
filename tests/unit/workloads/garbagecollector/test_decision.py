"""What becomes of an object, by what is known of its owners."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.workloads.garbagecollector.decision import (
    ClassifiedOwner,
    Decision,
    Delete,
    Keep,
    OwnerState,
    Unlink,
    decide,
    unblock_owner_references,
)
from steersman_cluster.workloads.garbagecollector.graph import FOREGROUND, ORPHAN
from tests.unit.workloads.garbagecollector.owners import owner


def judged(
    *standings: OwnerState,
    finalizers: tuple[str, ...] = (),
    has_dependents: bool = False,
    has_circle: bool = False,
) -> Decision:
    classified = [
        ClassifiedOwner(owner(str(number)), each) for number, each in enumerate(standings)
    ]
    return decide(
        classified, finalizers=finalizers, has_dependents=has_dependents, has_circle=has_circle
    )


def test_what_names_no_owner_stays() -> None:
    assert judged() == Keep()


def test_what_has_lost_its_only_owner_goes() -> None:
    assert judged("absent") == Delete(propagation="Background")


def test_what_has_lost_all_its_owners_goes() -> None:
    assert judged("absent", "absent") == Delete(propagation="Background")


def test_what_has_all_its_owners_stays_as_it_is() -> None:
    assert judged("solid", "solid") == Keep()


@pytest.mark.parametrize("lost", ["absent", "waiting"])
def test_a_dependent_keeps_its_owners_that_are_there(lost: OwnerState) -> None:
    assert judged("solid", lost) == Unlink(left=(owner("0"),))


def test_what_has_dependents_itself_goes_in_the_foreground_if_its_owner_waits() -> None:
    found = judged("waiting", has_dependents=True)

    assert found == Delete(propagation="Foreground")


def test_what_has_none_goes_at_once_if_its_owner_waits() -> None:
    assert judged("waiting") == Delete(propagation="Background")


def test_a_circle_of_those_that_wait_is_broken() -> None:
    found = judged("waiting", has_dependents=True, has_circle=True)

    assert found == Delete(propagation="Foreground", unblock=True)


@pytest.mark.parametrize(
    ("finalizer", "propagation"), [(ORPHAN, "Orphan"), (FOREGROUND, "Foreground")]
)
def test_what_another_client_has_decided_for_its_dependents_is_kept_to(
    finalizer: str, propagation: str
) -> None:
    found = judged("absent", finalizers=(finalizer,))

    assert isinstance(found, Delete)
    assert found.propagation == propagation


def test_what_names_an_owner_that_nobody_can_look_for_stays() -> None:
    assert judged("absent", "unresolvable") == Keep()


@given(
    st.lists(st.sampled_from(("solid", "absent", "waiting", "unresolvable")), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_nothing_goes_that_has_an_owner(
    standings: list[OwnerState], has_dependents: bool, has_circle: bool
) -> None:
    found = judged(*standings, has_dependents=has_dependents, has_circle=has_circle)

    if "solid" in standings:
        assert not isinstance(found, Delete)


def test_owners_that_are_unblocked_are_otherwise_the_same() -> None:
    blocking, other = owner("a", blocks=True), owner("b")

    assert unblock_owner_references([blocking, other]) == (owner("a", blocks=False), other)
