"""The effects of failure and success policies."""

import pytest

from steersman.kinds import batch_v1
from steersman_cluster.workloads.jobs.completion_indexes import Indexes
from steersman_cluster.workloads.jobs.policies import FailureEffect, failure_effect, success
from tests.unit.workloads.jobs.samples import pod


def on_codes(
    action: str, operator: str, *values: int, container: str | None = None
) -> batch_v1.PodFailurePolicyRule:
    return batch_v1.PodFailurePolicyRule(
        action=action,
        on_exit_codes=batch_v1.PodFailurePolicyOnExitCodesRequirement(
            container_name=container, operator=operator, values=values
        ),
    )


def on_condition(action: str, type: str) -> batch_v1.PodFailurePolicyRule:
    pattern = batch_v1.PodFailurePolicyOnPodConditionsPattern(type=type, status="True")
    return batch_v1.PodFailurePolicyRule(action=action, on_pod_conditions=(pattern,))


def policy(*rules: batch_v1.PodFailurePolicyRule) -> batch_v1.PodFailurePolicy:
    return batch_v1.PodFailurePolicy(rules=rules)


def test_a_failure_counts_unless_a_rule_ignores_it() -> None:
    assert failure_effect(None, pod("p", "Failed")) == FailureEffect()
    assert (
        failure_effect(policy(on_codes("Ignore", "In", 42)), pod("p", "Failed")) == FailureEffect()
    )


def test_the_first_rule_that_matches_decides() -> None:
    rules = policy(on_codes("Ignore", "In", 42), on_codes("FailJob", "NotIn", 1))

    assert failure_effect(rules, pod("p", "Failed", exit_code=42)) == FailureEffect(
        counts=False, action="Ignore"
    )
    assert failure_effect(rules, pod("p", "Failed", exit_code=1)) == FailureEffect()
    assert failure_effect(rules, pod("p", "Failed", exit_code=3)) == FailureEffect(
        action="FailJob",
        failure="Container main for pod here/p failed with exit code 3"
        " matching FailJob rule at index 1",
    )


def test_exit_code_zero_matches_no_rule() -> None:
    rules = policy(on_codes("FailJob", "NotIn", 1))

    assert failure_effect(rules, pod("p", "Failed", exit_code=0)) == FailureEffect()


def test_a_rule_for_one_container_does_not_match_another() -> None:
    rules = policy(on_codes("FailIndex", "In", 1, container="other"))

    assert failure_effect(rules, pod("p", "Failed", exit_code=1)) == FailureEffect()


def test_a_rule_can_match_a_pod_condition() -> None:
    rules = policy(on_condition("FailJob", "DisruptionTarget"))
    disrupted = pod("p", "Failed", conditions=(("DisruptionTarget", "True"),))

    assert failure_effect(rules, disrupted).failure == (
        "Pod here/p has condition DisruptionTarget matching FailJob rule at index 0"
    )
    assert failure_effect(rules, pod("p", "Failed")).failure is None


@pytest.mark.parametrize(
    ("indexes", "count", "done", "is_met"),
    [
        ("0,2", None, "0-2", True),
        ("0,2", None, "0,1", False),
        ("0-4", 2, "3,4", True),
        ("0-4", 2, "4-6", False),
        (None, 3, "4-6", True),
        (None, 3, "4,5", False),
        ("12", None, "1-6", False),
        (None, 0, "", False),
    ],
)
def test_a_success_rule_is_met_by_its_indexes_or_by_a_count(
    indexes: str | None, count: int | None, done: str, is_met: bool
) -> None:
    never = batch_v1.SuccessPolicyRule(succeeded_count=100)
    rule = batch_v1.SuccessPolicyRule(succeeded_indexes=indexes, succeeded_count=count)
    rules = batch_v1.SuccessPolicy(rules=(never, rule))

    reason = success(rules, Indexes.read(done, 10), 10)

    assert reason == ("Matched rules at index 1" if is_met else None)
