"""The owners of the claims of a StatefulSet."""

import pytest

from steersman.controller import owner_reference
from steersman.kinds import Resource, apps_v1, meta_v1, replace
from steersman_cluster.workloads.statefulsets.retention import (
    belongs_to_earlier_pod,
    corrected_references,
    has_other_controller,
    initial_references,
)
from tests.unit.workloads.statefulsets.samples import claim, pod, stateful_set

KEPT = pod(0)

STRANGER = apps_v1.StatefulSet(metadata=meta_v1.ObjectMeta(name="other", uid="uid-of-other"))


def uids(references: tuple[meta_v1.OwnerReference, ...] | None) -> list[str] | None:
    return None if references is None else [each.uid for each in references]


@pytest.mark.parametrize(
    ("when_deleted", "when_scaled", "while_wanted", "while_too_many"),
    [
        ("Retain", "Retain", [], []),
        ("Delete", "Retain", ["uid-of-web"], ["uid-of-web"]),
        ("Retain", "Delete", [], ["uid-of-web-0"]),
        ("Delete", "Delete", ["uid-of-web"], ["uid-of-web-0"]),
    ],
)
def test_the_policy_determines_the_owner_of_a_claim(
    when_deleted: str, when_scaled: str, while_wanted: list[str], while_too_many: list[str]
) -> None:
    owner = stateful_set(1, when_deleted=when_deleted, when_scaled=when_scaled)
    smaller = stateful_set(0, when_deleted=when_deleted, when_scaled=when_scaled)
    wrong = claim(owner, KEPT)

    assert uids(initial_references(owner)) == while_wanted
    assert uids(corrected_references(wrong, owner, KEPT)) == while_wanted
    assert uids(corrected_references(wrong, smaller, KEPT)) == while_too_many


def test_a_claim_with_the_right_owners_is_not_changed() -> None:
    owner = stateful_set(1, when_deleted="Delete")

    assert corrected_references(claim(owner), owner, KEPT) is None
    assert corrected_references(claim(), stateful_set(1), KEPT) is None


def test_a_plain_owner_reference_becomes_a_controller_reference() -> None:
    owner = stateful_set(1, when_deleted="Delete")

    found = corrected_references(claim(owner_reference(owner, controller=False)), owner, KEPT)

    assert found == (owner_reference(owner),)


def test_foreign_owner_references_are_kept() -> None:
    owner = stateful_set(1, when_deleted="Delete")

    found = corrected_references(claim(owner_reference(STRANGER, controller=False)), owner, KEPT)

    assert uids(found) == ["uid-of-other", "uid-of-web"]


def test_a_claim_with_another_controller_loses_the_owners_of_the_set() -> None:
    owner = stateful_set(1, when_deleted="Delete")

    assert has_other_controller(claim(STRANGER), owner, KEPT)
    assert corrected_references(claim(STRANGER), owner, KEPT) is None
    assert uids(corrected_references(claim(STRANGER, owner), owner, KEPT)) == ["uid-of-other"]


@pytest.mark.parametrize("gone", [stateful_set(1), KEPT], ids=["set", "pod"])
def test_a_claim_of_an_earlier_set_or_pod_with_the_name_is_not_changed(gone: Resource) -> None:
    earlier = replace(owner_reference(gone), uid="uid-of-an-earlier-one")

    assert (
        corrected_references(claim(earlier), stateful_set(1, when_deleted="Delete"), KEPT) is None
    )


def test_a_claim_owned_by_an_earlier_pod_is_left_over() -> None:
    assert belongs_to_earlier_pod(claim(KEPT), "web-0")
    assert not belongs_to_earlier_pod(claim(stateful_set(1)), "web-0")
