"""The status of a PodDisruptionBudget."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from steersman.kinds import Condition, core_v1, meta_v1, policy_v1
from steersman_cluster.workloads.disruptions.selectors import by_labels, go_form, matters
from steersman_cluster.workloads.disruptions.status import (
    counted,
    desired_healthy,
    disrupted,
    failed,
    healthy,
    needs_scale,
)
from tests.unit.workloads.pods.samples import NOW, ago, pod

Spec = policy_v1.PodDisruptionBudgetSpec


def budget(status: policy_v1.PodDisruptionBudgetStatus | None = None) -> Any:
    return policy_v1.PodDisruptionBudget(
        metadata=meta_v1.ObjectMeta(name="web", namespace="here", generation=3), status=status
    )


def only(status: policy_v1.PodDisruptionBudgetStatus) -> Condition:
    conditions = status.conditions or ()
    assert len(conditions) == 1
    return conditions[0]


DESIRED = [
    (Spec(min_available=2), 5, 2),
    (Spec(min_available="50%"), 5, 3),
    (Spec(min_available="100%"), 5, 5),
    (Spec(max_unavailable=2), 5, 3),
    (Spec(max_unavailable=9), 5, 0),
    (Spec(max_unavailable="50%"), 5, 2),
    (Spec(max_unavailable=0), 5, 5),
    (Spec(), 5, 0),
]


@pytest.mark.parametrize(("spec", "expected", "wanted"), DESIRED)
def test_the_desired_healthy_count_follows_the_spec(spec: Spec, expected: int, wanted: int) -> None:
    assert desired_healthy(spec, expected) == wanted


def test_only_an_absolute_minavailable_needs_no_scale() -> None:
    specs = [Spec(min_available=2), Spec(min_available="2%"), Spec(max_unavailable=1), Spec()]

    assert [needs_scale(each) for each in specs] == [False, True, True, False]


def test_an_evicted_pod_does_not_count_as_healthy() -> None:
    pods = [pod("a", ready=ago(9)), pod("b", ready=ago(9)), pod("c"), pod("d", ready=ago(9))]

    assert healthy(pods, {}) == 3
    assert healthy(pods, {"a": ago(1)}) == 2
    assert healthy([pod("a", ready=ago(9), ending=True)], {}) == 0


def test_an_evicted_pod_that_still_exists_counts_again_after_two_minutes() -> None:
    pods = [pod("early"), pod("late"), pod("exact"), pod("ending", ending=True), pod("other")]
    before = {
        "early": ago(20),
        "late": ago(121),
        "exact": ago(120),
        "ending": ago(20),
        "gone": ago(20),
    }

    found = disrupted(pods, before, NOW)

    assert found.expected == {"early": ago(20), "exact": ago(120)}
    assert [each.name for each in found.overdue] == ["late"]
    assert found.next_seconds == pytest.approx(0.001)


def status_of(current: int, desired: int, expected: int = 3, **rest: Any) -> Any:
    return counted(
        budget(rest.pop("status", None)),
        expected=expected,
        desired=desired,
        current=current,
        going=rest.pop("going", {}),
        now=rest.pop("now", NOW),
    )


ALLOWED = [
    (3, 2, 3, 1, ("True", "SufficientPods")),
    (2, 2, 3, 0, ("False", "InsufficientPods")),
    (1, 2, 3, 0, ("False", "InsufficientPods")),
    # without Pods no disruption is allowed
    (0, 0, 0, 0, ("False", "InsufficientPods")),
    (3, 0, 0, 0, ("False", "InsufficientPods")),
]


@pytest.mark.parametrize(
    ("current", "desired", "expected", "allowed", "status_and_reason"), ALLOWED
)
def test_the_allowed_disruptions_are_the_healthy_pods_above_the_desired_count(
    current: int, desired: int, expected: int, allowed: int, status_and_reason: tuple[str, str]
) -> None:
    status = status_of(current, desired, expected)

    assert status.disruptions_allowed == allowed
    assert only(status) == Condition(
        type="DisruptionAllowed",
        status=status_and_reason[0],
        reason=status_and_reason[1],
        message="",
        last_transition_time=NOW,
        observed_generation=3,
    )
    assert status.observed_generation == 3


def test_the_transition_time_changes_only_with_the_status() -> None:
    later = NOW + timedelta(seconds=60)
    first = status_of(3, 2)

    again = status_of(3, 2, status=first, now=later)
    other = status_of(2, 2, status=first, now=later)

    def since(status: policy_v1.PodDisruptionBudgetStatus) -> datetime | None:
        return only(status).last_transition_time

    assert again == first
    assert (since(again), since(other)) == (NOW, later)


def test_a_budget_without_a_scale_keeps_its_counts_and_allows_no_disruption() -> None:
    before = status_of(3, 2, going={"a": NOW})

    after = failed(budget(before), "why not", NOW)

    condition = only(after)
    assert (condition.status, condition.reason, condition.message) == (
        "False",
        "SyncFailed",
        "why not",
    )
    assert after.disruptions_allowed == 0
    assert (after.current_healthy, after.desired_healthy, after.expected_pods) == (3, 2, 3)
    assert after.disrupted_pods == {"a": NOW}
    assert failed(budget(), "why not", NOW).observed_generation is None


# Selecting


def test_a_pod_is_found_under_each_of_its_labels() -> None:
    assert by_labels(pod(labels={"a": "1", "b": "2"})) == ["here/a=1", "here/b=2"]
    assert by_labels(core_v1.Pod()) == []


def test_only_relevant_pod_changes_enqueue_a_budget() -> None:
    there = pod(ready=ago(9))

    assert matters(None, there)
    assert not matters(there, pod(ready=ago(5), restarts=4, phase="Unknown"))
    assert matters(there, pod())
    assert matters(there, pod(ready=ago(9), ending=True))
    assert matters(there, pod(ready=ago(9), labels={"app": "other"}))


def test_a_selector_is_formatted_as_in_kube_controller_manager() -> None:
    selector = meta_v1.LabelSelector(
        match_labels={"b": "2", "a": "1"},
        match_expressions=(
            meta_v1.LabelSelectorRequirement(key="c", operator="In", values=("x", "y")),
        ),
    )

    assert go_form(selector) == (
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},"
        "MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},},}"
    )
