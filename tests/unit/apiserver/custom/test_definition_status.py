"""The status of a definition: names, approval and termination."""

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
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return definition(names={**names, **more})


def conditions(crd: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in crd["status"]["conditions"]
    }


def test_unused_names_are_accepted_and_served() -> None:
    crd = accepted(named("firsts", "First", shortNames=["f"]), (), now=NOW)

    assert crd["status"]["acceptedNames"] == crd["spec"]["names"]
    assert conditions(crd) == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }
    assert is_established(crd)


def test_the_names_of_the_first_definition_take_precedence() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)

    second = accepted(named("seconds", "First"), [first], now=NOW)

    assert second["status"]["acceptedNames"] == {"plural": "seconds", "kind": ""}
    assert conditions(second) == {
        "NamesAccepted": ("False", "ListKindConflict", '"FirstList" is already in use'),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }


def test_short_names_conflict_with_the_names_of_other_resources() -> None:
    first = accepted(named("firsts", "First", shortNames=["f"]), (), now=NOW)

    second = accepted(named("seconds", "Second", shortNames=["f", "first", "s"]), [first], now=NOW)

    assert conditions(second)["NamesAccepted"] == (
        "False",
        "ShortNamesConflict",
        '["f" is already in use, "first" is already in use]',
    )


def test_names_in_different_groups_do_not_conflict() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)
    other = named("firsts", "First")
    other["spec"]["group"] = "other.example.com"

    assert is_established(accepted(other, [first], now=NOW))


def test_a_released_name_is_accepted() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)
    second = accepted(named("seconds", "First"), [first], now=NOW)

    freed = accepted(second, (), now=LATER)

    assert is_established(freed)
    assert {each["lastTransitionTime"] for each in freed["status"]["conditions"]} == {LATER}


def test_a_definition_with_a_conflicting_new_name_stays_established() -> None:
    first = accepted(named("firsts", "First"), (), now=NOW)
    second = accepted(named("seconds", "Second"), [first], now=NOW)
    second["spec"]["names"] = {**second["spec"]["names"], "singular": "first"}

    again = accepted(second, [first], now=LATER)

    assert is_established(again)
    assert conditions(again)["NamesAccepted"][1] == "SingularConflict"
    assert again["status"]["acceptedNames"]["singular"] == "second"


def test_a_current_status_is_not_changed() -> None:
    crd = accepted(named("firsts", "First"), (), now=NOW)

    assert accepted(crd, (), now=LATER) is crd


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (None, "MissingAnnotation"),
        ("unapproved, for now", "UnapprovedAnnotation"),
        ("https://example.com/pull/1", "ApprovedAnnotation"),
        ("yes", "InvalidAnnotation"),
        ("/pull/1", "InvalidAnnotation"),
    ],
)
def test_the_approval_annotation_determines_the_reason(annotation: str | None, reason: str) -> None:
    assert approval_of(approved(annotation))[0] == reason


def test_a_definition_in_a_protected_group_has_an_approval_condition() -> None:
    crd = accepted(approved("https://example.com/pull/1"), (), now=NOW)

    assert list(conditions(crd)) == [
        "KubernetesAPIApprovalPolicyConformant",
        "NamesAccepted",
        "Established",
    ]


def test_the_groups_of_kubernetes_are_protected() -> None:
    groups = ("k8s.io", "a.k8s.io", "kubernetes.io", "a.kubernetes.io", "ak8s.io", "example.com")

    assert [is_protected(group) for group in groups] == [True] * 4 + [False] * 2


def test_a_deleted_definition_has_a_finalizer_until_its_objects_are_deleted() -> None:
    crd = accepted(named("firsts", "First"), (), now=NOW)

    ending = terminating(crd, LATER)

    assert ending["metadata"]["finalizers"] == [FINALIZER]
    assert ending["metadata"]["deletionTimestamp"] == LATER
    assert conditions(ending)["Terminating"][:2] == ("True", "InstanceDeletionPending")
    assert "finalizers" not in crd["metadata"]


def test_a_definition_without_objects_loses_its_finalizer() -> None:
    ending = terminating(accepted(named("firsts", "First"), (), now=NOW), NOW)

    ended = instances_gone(ending, now=LATER)

    assert "finalizers" not in ended["metadata"]
    assert conditions(ended)["Terminating"] == (
        "False",
        "InstanceDeletionCompleted",
        "removed all instances",
    )
    assert instances_gone(ended, now=LATER) is ended
