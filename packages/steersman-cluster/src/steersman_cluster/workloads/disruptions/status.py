"""The status of a PodDisruptionBudget. No I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from steersman.kinds import Condition, core_v1, policy_v1
from steersman.units import scaled
from steersman_cluster.workloads.pods import is_ready

Budget: TypeAlias = policy_v1.PodDisruptionBudget
Status: TypeAlias = policy_v1.PodDisruptionBudgetStatus
Pod: TypeAlias = core_v1.Pod

ALLOWED: Final = "DisruptionAllowed"

# How long after an eviction the deletion must begin; after that, the Pod counts as healthy again.
DELETION_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Disrupted:
    """The evicted Pods of a budget that are not yet being deleted.

    ``expected`` contains the eviction times of the Pods that should be deleted soon, by Pod name.
    ``overdue`` contains the Pods whose deletion is overdue. ``next_seconds`` is the time until the
    deletion of the next Pod in ``expected`` becomes overdue.
    """

    expected: Mapping[str, datetime]
    overdue: tuple[Pod, ...]
    next_seconds: float | None


def needs_scale(spec: policy_v1.PodDisruptionBudgetSpec) -> bool:
    """Return whether a budget with ``spec`` depends on the number of Pods that should exist."""
    return spec.max_unavailable is not None or isinstance(spec.min_available, str)


def desired_healthy(spec: policy_v1.PodDisruptionBudgetSpec, expected: int) -> int:
    """Return how many Pods must stay healthy if ``expected`` Pods should exist."""
    if spec.max_unavailable is not None:
        return max(0, expected - scaled(spec.max_unavailable, expected, round_up=True))
    if spec.min_available is not None:
        return scaled(spec.min_available, expected, round_up=True)
    return 0


def disrupted(
    pods: Iterable[Pod], before: Mapping[str, datetime] | None, now: datetime
) -> Disrupted:
    """Return which evicted Pods should be deleted soon, and whose deletion is overdue.

    ``before`` contains the eviction time of each evicted Pod, by Pod name. Pods that are already
    being deleted are left out.
    """
    if not before:
        return Disrupted(expected={}, overdue=(), next_seconds=None)
    expected: dict[str, datetime] = {}
    overdue: list[Pod] = []
    for pod in pods:
        since = before.get(pod.name)
        if since is None or pod.metadata.deletion_timestamp is not None:
            continue
        if since + timedelta(seconds=DELETION_SECONDS) < now:
            overdue.append(pod)
        else:
            expected[pod.name] = since
    waits = [DELETION_SECONDS - (now - since).total_seconds() for since in expected.values()]
    return Disrupted(
        expected=expected,
        overdue=tuple(overdue),
        # A little later: at that very moment it is still expected.
        next_seconds=min(waits) + 0.001 if waits else None,
    )


def healthy(pods: Iterable[Pod], going: Mapping[str, datetime]) -> int:
    """Return how many of ``pods`` are ready, not being deleted, and not in ``going``.

    ``going`` contains the eviction times of the evicted Pods that should be deleted soon, by Pod
    name.
    """
    return sum(
        1
        for pod in pods
        if pod.metadata.deletion_timestamp is None and pod.name not in going and is_ready(pod)
    )


def counted(
    budget: Budget,
    *,
    expected: int,
    desired: int,
    current: int,
    going: Mapping[str, datetime],
    now: datetime,
) -> Status:
    """Return the status of ``budget``.

    ``expected`` is the number of Pods that should exist, ``desired`` the number that must be
    healthy, and ``current`` the number that are healthy. ``going`` contains the eviction times of
    the evicted Pods that should be deleted soon, by Pod name.
    """
    # Without Pods no disruption is allowed: the first Pods must not be evicted before they are
    # counted.
    allowed = max(0, current - desired) if expected > 0 else 0
    said = budget.status.conditions if budget.status is not None else None
    condition = Condition(
        type=ALLOWED,
        status="True" if allowed else "False",
        reason="SufficientPods" if allowed else "InsufficientPods",
        message="",
        observed_generation=budget.generation,
    )
    return policy_v1.PodDisruptionBudgetStatus(
        conditions=_with(said, condition, now),
        current_healthy=current,
        desired_healthy=desired,
        disrupted_pods=going or None,
        disruptions_allowed=allowed,
        expected_pods=expected,
        observed_generation=budget.generation,
    )


def failed(budget: Budget, why: str, now: datetime) -> Status:
    """Return the status of ``budget`` if it cannot be computed; ``why`` is the error's text.

    The status permits no disruption. Its other fields do not change.
    """
    before = budget.status or policy_v1.PodDisruptionBudgetStatus()
    condition = Condition(
        type=ALLOWED,
        status="False",
        reason="SyncFailed",
        message=why,
        observed_generation=before.observed_generation,
    )
    return policy_v1.PodDisruptionBudgetStatus(
        conditions=_with(before.conditions, condition, now),
        current_healthy=before.current_healthy or 0,
        desired_healthy=before.desired_healthy or 0,
        disrupted_pods=before.disrupted_pods or None,
        disruptions_allowed=0,
        expected_pods=before.expected_pods or 0,
        observed_generation=before.observed_generation,
    )


def _with(
    before: tuple[Condition, ...] | None, said: Condition, now: datetime
) -> tuple[Condition, ...]:
    """Return the conditions ``before`` with the condition ``said`` added or replaced.

    The transition time changes only if the condition's status changes.
    """
    conditions = list(before or ())
    for place, old in enumerate(conditions):
        if old.type == said.type:
            is_old = old.status == said.status and old.last_transition_time is not None
            conditions[place] = _since(said, old.last_transition_time if is_old else now)
            return tuple(conditions)
    return (*conditions, _since(said, now))


def _since(said: Condition, moment: datetime | None) -> Condition:
    return Condition(
        type=said.type,
        status=said.status,
        reason=said.reason,
        message=said.message,
        last_transition_time=moment,
        observed_generation=said.observed_generation,
    )
