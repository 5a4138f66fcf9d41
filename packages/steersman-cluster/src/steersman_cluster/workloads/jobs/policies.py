"""A Job's Pod failure policy, and its success policy for indexes. No I/O."""

from collections.abc import Iterable
from typing import NamedTuple

from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.jobs.completion_indexes import Indexes

Pod = core_v1.Pod


class FailureEffect(NamedTuple):
    """The effect of a Pod failure on its Job.

    ``counts`` is whether the failure counts toward the backoff limit. ``action`` is the action of
    the rule that matched. ``failure`` is the message of a Job that fails because of the rule.
    """

    counts: bool = True
    action: str = ""
    failure: str | None = None


def failure_effect(policy: batch_v1.PodFailurePolicy | None, pod: Pod) -> FailureEffect:
    """Return the effect of the first rule of ``policy`` that matches the failed Pod ``pod``.

    If no rule matches, the failure counts.
    """
    for number, rule in enumerate(policy.rules if policy is not None else ()):
        matched = _matched(rule, pod)
        if matched is not None:
            failure = f"{matched} matching FailJob rule at index {number}"
            return FailureEffect(
                counts=rule.action != "Ignore",
                action=rule.action,
                failure=failure if rule.action == "FailJob" else None,
            )
    return FailureEffect()


def success(policy: batch_v1.SuccessPolicy | None, done: Indexes, completions: int) -> str | None:
    """Return a message that names the first rule of ``policy`` that is fulfilled, or ``None``.

    ``done`` contains the completed indexes.
    """
    if policy is None or not done.intervals:
        return None
    for number, rule in enumerate(policy.rules):
        if _is_met(rule, done, completions):
            return f"Matched rules at index {number}"
    return None


def _is_met(rule: batch_v1.SuccessPolicyRule, done: Indexes, completions: int) -> bool:
    count = rule.succeeded_count
    if rule.succeeded_indexes is None:
        return count is not None and len(done) >= count
    wanted = Indexes.read(rule.succeeded_indexes, completions)
    if not wanted.intervals:
        return False
    common = wanted.common(done)
    return common == len(wanted) or (count is not None and common >= count)


def _matched(rule: batch_v1.PodFailurePolicyRule, pod: Pod) -> str | None:
    """Return a message that describes what matches the rule, or ``None`` if nothing matches."""
    status = pod.status or core_v1.PodStatus()
    if rule.on_exit_codes is not None:
        for statuses in (status.container_statuses, status.init_container_statuses):
            found = _container(statuses or (), rule.on_exit_codes)
            if found is not None:
                name, code = found
                whose = f"Container {name} for pod {pod.namespace}/{pod.name}"
                return f"{whose} failed with exit code {code}"
    elif rule.on_pod_conditions is not None:
        for condition in status.conditions or ():
            for pattern in rule.on_pod_conditions:
                if (condition.type, condition.status) == (pattern.type, pattern.status):
                    return f"Pod {pod.namespace}/{pod.name} has condition {condition.type}"
    return None


def _container(
    statuses: Iterable[core_v1.ContainerStatus],
    wanted: batch_v1.PodFailurePolicyOnExitCodesRequirement,
) -> tuple[str, int] | None:
    """Return the first container that failed with a matching exit code, and the code."""
    for each in statuses:
        terminated = each.state.terminated if each.state is not None else None
        if terminated is None or wanted.container_name not in (None, each.name):
            continue
        code = terminated.exit_code
        if code and (code in wanted.values) == (wanted.operator == "In"):
            return each.name, code
    return None
