"""The status of definitions."""

from typing import Any

import pytest

from steersman_cluster.apiserver.custom.definition_status import (
    FINALIZER,
    accepted,
    approval_of,
    instances_gone,
    is_established,
    is_protected,
    terminating,
)
from tests.unit.apiserver.custom.definition_samples import approved, definition

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def named(plural: str, kind: str, **more: Any) -> dict[str, Any]:
    said = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return definition(names={**said, **more})


def conditions(crd: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in crd["status"]["conditions"]
    }


def test_names_that_are_free_are_accepted_and_served() -> None:
    crd = accepted(named("firsts", "First", shortNames=["f"]), (), now=NOW)

    assert crd["status"]["acceptedNames"] == crd["spec"]["names"]
    assert conditions(crd) == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }
    assert is_established(crd)


def test_names_are_accepted_first_come_first_served() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)

    second = accepted(named("seconds", "First"), [first], now=NOW)

    assert second["status"]["acceptedNames"] == {"plural": "seconds", "kind": ""}
    assert conditions(second) == {
        "NamesAccepted": ("False", "ListKindConflict", '"FirstList" is already in use'),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }


def test_short_names_share_the_names_of_resources() -> None:
    first = accepted(named("firsts", "First", shortNames=["f"]), (), now=NOW)

    second = accepted(named("seconds", "Second", shortNames=["f", "first", "s"]), [first], now=NOW)

    assert conditions(second)["NamesAccepted"] == (
        "False",
        "ShortNamesConflict",
        '["f" is already in use, "first" is already in use]',
    )


def test_another_group_has_names_of_its_own() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)
    other = named("firsts", "First")
    other["spec"]["group"] = "other.example.com"

    assert is_established(accepted(other, [first], now=NOW))


def test_names_that_became_free_are_accepted() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)
    second = accepted(named("seconds", "First"), [first], now=NOW)

    freed = accepted(second, (), now=LATER)

    assert is_established(freed)
    assert {each["lastTransitionTime"] for each in freed["status"]["conditions"]} == {LATER}


def test_a_definition_that_loses_a_new_name_keeps_being_served() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)
    second = accepted(named("seconds", "Second"), [first], now=NOW)
    second["spec"]["names"] = {**second["spec"]["names"], "singular": "first"}

    again = accepted(second, [first], now=LATER)

    assert is_established(again)
    assert conditions(again)["NamesAccepted"][1] == "SingularConflict"
    assert again["status"]["acceptedNames"]["singular"] == "second"


def test_a_status_that_is_as_it_should_be_is_left_alone() -> None:
    crd = accepted(named("firsts", "First"), (), now=NOW)

    assert accepted(crd, (), now=LATER) is crd


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (None, "MissingAnnotation"),
        ("unapproved, for now", "UnapprovedAnnotation"),
        ("https://example.com/pull/1", "ApprovedAnnotation"),
        ("yes", "InvalidAnnotation"),
        ("/pull/1", "InvalidAnnotation"),
    ],
)
def test_an_annotation_approves_or_does_not(said: str | None, reason: str) -> None:
    assert approval_of(approved(said))[0] == reason


def test_a_definition_in_a_protected_group_says_who_approved_it() -> None:
    crd = accepted(approved("https://example.com/pull/1"), (), now=NOW)

    assert list(conditions(crd)) == [
        "KubernetesAPIApprovalPolicyConformant",
        "NamesAccepted",
        "Established",
    ]


def test_the_groups_of_kubernetes_are_protected() -> None:
    groups = ("k8s.io", "a.k8s.io", "kubernetes.io", "a.kubernetes.io", "ak8s.io", "example.com")

    assert [is_protected(group) for group in groups] == [True] * 4 + [False] * 2


def test_deletion_waits_for_the_objects() -> None:
    crd = accepted(named("firsts", "First"), (), now=NOW)

    ending = terminating(crd, LATER)

    assert ending["metadata"]["finalizers"] == [FINALIZER]
    assert ending["metadata"]["deletionTimestamp"] == LATER
    assert conditions(ending)["Terminating"][:2] == ("True", "InstanceDeletionPending")
    assert "finalizers" not in crd["metadata"]


def test_a_definition_whose_objects_are_gone_may_go() -> None:
    ending = terminating(accepted(named("firsts", "First"), (), now=NOW), NOW)

    ended = instances_gone(ending, now=LATER)

    assert "finalizers" not in ended["metadata"]
    assert conditions(ended)["Terminating"] == (
        "False",
        "InstanceDeletionCompleted",
        "removed all instances",
    )
    assert instances_gone(ended, now=LATER) is ended
