"""What is said of a namespace that is being deleted."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.workloads.namespaces.conditions import FINE, Findings, conditions_after

NOW, LATER = "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"


def said(conditions: list[dict[str, Any]]) -> dict[str, tuple[str, str, str]]:
    """Those that are true, by type."""
    return {
        each["type"]: (each["reason"], each["message"], each["lastTransitionTime"])
        for each in conditions
        if each["status"] == "True"
    }


def test_all_is_said_to_be_fine_when_nothing_was_found() -> None:
    conditions = conditions_after([], Findings(), now=NOW)

    assert [each["type"] for each in conditions] == list(FINE)
    assert {each["status"] for each in conditions} == {"False"}
    assert [(each["reason"], each["message"]) for each in conditions] == list(FINE.values())


def test_what_remains_is_counted_by_kind_and_by_finalizer() -> None:
    findings = Findings(
        remaining={"pods.": 2, "boats.sea.example.com": 1},
        finalizers={"example.com/two": 1, "example.com/one": 3},
    )

    conditions = conditions_after([], findings, now=NOW)

    assert said(conditions) == {
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


def test_what_cannot_be_discovered_is_named() -> None:
    findings = Findings(stale=("metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1"))

    conditions = conditions_after([], findings, now=NOW)

    assert said(conditions) == {
        "NamespaceDeletionDiscoveryFailure": (
            "DiscoveryFailed",
            "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of"
            " server APIs: custom.metrics.k8s.io/v1: stale GroupVersion discovery:"
            " custom.metrics.k8s.io/v1, metrics.k8s.io/v1beta1: stale GroupVersion discovery:"
            " metrics.k8s.io/v1beta1",
            NOW,
        )
    }


def test_failures_are_told_in_order() -> None:
    conditions = conditions_after([], Findings(failures=["no", "never"]), now=NOW)

    assert said(conditions)["NamespaceDeletionContentFailure"] == (
        "ContentDeletionFailed",
        "Failed to delete all resource types, 2 remaining: never, no",
        NOW,
    )


def test_while_pods_end_nothing_is_said_of_what_remains() -> None:
    findings = Findings(remaining={"pods.": 1}, finalizers={"a/b": 1}, is_counted=False)

    assert said(conditions_after([], findings, now=NOW)) == {}


def test_the_time_is_moved_only_when_a_condition_flips() -> None:
    before = conditions_after([], Findings(remaining={"pods.": 2}), now=NOW)

    fewer = conditions_after(before, Findings(remaining={"pods.": 1}), now=LATER)
    none = conditions_after(fewer, Findings(), now=LATER)

    assert said(fewer)["NamespaceContentRemaining"][2] == NOW
    assert [each["lastTransitionTime"] for each in none] == [NOW, NOW, NOW, LATER, NOW]


def test_conditions_of_others_stay() -> None:
    other = {"type": "example.com/Ready", "status": "True"}

    conditions = conditions_after([other], Findings(), now=NOW)

    assert conditions[0] == other


counts = st.dictionaries(st.sampled_from(("a.", "b.c", "d/e")), st.integers(1, 3))


@given(st.builds(Findings, remaining=counts, finalizers=counts, is_counted=st.booleans()))
def test_to_say_the_same_again_changes_nothing(findings: Findings) -> None:
    once = conditions_after([], findings, now=NOW)

    assert conditions_after(once, findings, now=LATER) == once
