"""The conditions of a namespace that is being deleted."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.workloads.namespaces.conditions import FINE, Findings, conditions_after

NOW, LATER = "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"


def true_conditions(conditions: list[dict[str, Any]]) -> dict[str, tuple[str, str, str]]:
    """Return the true conditions by type."""
    return {
        each["type"]: (each["reason"], each["message"], each["lastTransitionTime"])
        for each in conditions
        if each["status"] == "True"
    }


def test_without_findings_all_conditions_report_success() -> None:
    conditions = conditions_after([], Findings(), now=NOW)

    assert [each["type"] for each in conditions] == list(FINE)
    assert {each["status"] for each in conditions} == {"False"}
    assert [(each["reason"], each["message"]) for each in conditions] == list(FINE.values())


def test_remaining_objects_are_counted_by_kind_and_by_finalizer() -> None:
    findings = Findings(
        remaining={"pods.": 2, "boats.sea.example.com": 1},
        finalizers={"example.com/two": 1, "example.com/one": 3},
    )

    conditions = conditions_after([], findings, now=NOW)

    assert true_conditions(conditions) == {
        "NamespaceContentRemaining": (
            "SomeResourcesRemain",
            "Some resources are remaining: boats.sea.example.com has 1 resource instances,"
            " pods. has 2 resource instances",
            NOW,
        ),
        "NamespaceFinalizersRemaining": (
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining:"
            " example.com/one in 3 resource instances, example.com/two in 1 resource instances",
            NOW,
        ),
    }


def test_undiscoverable_groups_are_named() -> None:
    findings = Findings(stale=("metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1"))

    conditions = conditions_after([], findings, now=NOW)

    assert true_conditions(conditions) == {
        "NamespaceDeletionDiscoveryFailure": (
            "DiscoveryFailed",
            "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of"
            " server APIs: custom.metrics.k8s.io/v1: stale GroupVersion discovery:"
            " custom.metrics.k8s.io/v1, metrics.k8s.io/v1beta1: stale GroupVersion discovery:"
            " metrics.k8s.io/v1beta1",
            NOW,
        )
    }


def test_failures_are_reported_in_order() -> None:
    conditions = conditions_after([], Findings(failures=["no", "never"]), now=NOW)

    assert true_conditions(conditions)["NamespaceDeletionContentFailure"] == (
        "ContentDeletionFailed",
        "Failed to delete all resource types, 2 remaining: never, no",
        NOW,
    )


def test_while_pods_terminate_remaining_objects_are_not_counted() -> None:
    findings = Findings(remaining={"pods.": 1}, finalizers={"a/b": 1}, is_counted=False)

    assert true_conditions(conditions_after([], findings, now=NOW)) == {}


def test_the_transition_time_of_a_condition_changes_only_with_its_status() -> None:
    before = conditions_after([], Findings(remaining={"pods.": 2}), now=NOW)

    fewer = conditions_after(before, Findings(remaining={"pods.": 1}), now=LATER)
    none = conditions_after(fewer, Findings(), now=LATER)

    assert true_conditions(fewer)["NamespaceContentRemaining"][2] == NOW
    assert [each["lastTransitionTime"] for each in none] == [NOW, NOW, NOW, LATER, NOW]


def test_foreign_conditions_are_kept() -> None:
    other = {"type": "example.com/Ready", "status": "True"}

    conditions = conditions_after([other], Findings(), now=NOW)

    assert conditions[0] == other


counts = st.dictionaries(st.sampled_from(("a.", "b.c", "d/e")), st.integers(1, 3))


@given(st.builds(Findings, remaining=counts, finalizers=counts, is_counted=st.booleans()))
def test_the_same_findings_change_nothing(findings: Findings) -> None:
    once = conditions_after([], findings, now=NOW)

    assert conditions_after(once, findings, now=LATER) == once
