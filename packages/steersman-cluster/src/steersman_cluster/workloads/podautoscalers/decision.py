"""The decision about an autoscaler: its replicas, conditions, events and status. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from steersman.kinds import autoscaling_v2, replace
from steersman_cluster.workloads.podautoscalers.behavior import ScalingHistory, bounded
from steersman_cluster.workloads.podautoscalers.metrics import Failed, Found

Autoscaler = autoscaling_v2.HorizontalPodAutoscaler
Condition = autoscaling_v2.HorizontalPodAutoscalerCondition
Status = autoscaling_v2.HorizontalPodAutoscalerStatus


@dataclass(frozen=True, slots=True)
class Event:
    """A Kubernetes event to record about an autoscaler."""

    reason: str
    text: str
    is_warning: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingDecision:
    """The result of one sync of an autoscaler.

    ``status``, ``history`` and ``events`` are written or stored. If the number of replicas has to
    change, ``replicas`` is the new number and ``reason`` is why.
    """

    status: Status
    history: ScalingHistory
    events: tuple[Event, ...] = ()
    replicas: int | None = None
    reason: str = ""


class AutoscalerConditions:
    """The conditions of an autoscaler, in a stable order."""

    def __init__(self, status: Status | None, now: datetime) -> None:
        self._now = now
        self._by_type = {each.type: each for each in (status.conditions if status else None) or ()}

    def set(self, type: str, holds: bool, reason: str, message: str) -> None:
        """Set the condition of type ``type`` to true if ``holds``, else to false.

        The transition time of the condition changes only if its status changes.
        """
        status = "True" if holds else "False"
        old = self._by_type.get(type)
        since = old.last_transition_time if old is not None and old.status == status else self._now
        self._by_type[type] = Condition(
            type=type, status=status, reason=reason, message=message, last_transition_time=since
        )

    @property
    def all(self) -> tuple[Condition, ...]:
        """Return all conditions, in the order in which their types were first added."""
        return tuple(self._by_type.values())


def without_scale(
    hpa: Autoscaler, why: str, history: ScalingHistory, now: datetime
) -> ScalingDecision:
    """Return the decision for ``hpa`` if its target's scale cannot be read.

    ``why`` is the text of the error.
    """
    conditions = AutoscalerConditions(hpa.status, now)
    conditions.set(
        "AbleToScale",
        False,
        "FailedGetScale",
        f"the HPA controller was unable to get the target's current scale: {why}",
    )
    status = replace(hpa.status or Status(desired_replicas=0), conditions=conditions.all)
    return ScalingDecision(status=status, history=history, events=(Event("FailedGetScale", why),))


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSelector:
    """The reason why the selector of an autoscaler's target is invalid.

    ``event`` is recorded. ``reason`` and ``message`` are written to a condition.
    """

    event: Event
    reason: str
    message: str


@dataclass(slots=True)
class _Sync:
    hpa: Autoscaler
    current: int
    now: datetime
    conditions: AutoscalerConditions = field(init=False)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.conditions = AutoscalerConditions(self.hpa.status, self.now)

    def status(self, desired: int, metrics: Sequence[autoscaling_v2.MetricStatus] | None) -> Status:
        before = self.hpa.status
        return Status(
            current_replicas=self.current or None,
            desired_replicas=desired,
            last_scale_time=before.last_scale_time if before else None,
            current_metrics=tuple(metrics) if metrics is not None else None,
            conditions=self.conditions.all,
        )

    @property
    def desired_before(self) -> int:
        return self.hpa.status.desired_replicas if self.hpa.status else 0


def needs_metrics(hpa: Autoscaler, current: int) -> bool:
    """Return whether the recommended replicas of ``hpa`` depend on metrics.

    They do not if ``current``, the current number of replicas, is 0 or not within the limits of
    ``hpa``.
    """
    return current != 0 and _min_replicas(hpa) <= current <= hpa.spec.max_replicas


def decided(
    hpa: Autoscaler,
    evaluations: Sequence[Found | Failed] | InvalidSelector,
    *,
    current: int,
    history: ScalingHistory,
    now: datetime,
) -> ScalingDecision:
    """Return the decision for ``hpa``, whose target has ``current`` replicas.

    ``evaluations`` contains the result for each metric, or the reason why the target's selector is
    invalid.
    """
    look = _Sync(hpa, current, now)
    look.conditions.set(
        "AbleToScale",
        True,
        "SucceededGetScale",
        "the HPA controller was able to get the target's current scale",
    )
    history = history.with_initial_recommendation(current, now)
    least, most = _min_replicas(hpa), hpa.spec.max_replicas
    if current == 0:
        look.conditions.set(
            "ScalingActive",
            False,
            "ScalingDisabled",
            "scaling is disabled since the replica count of the target is zero",
        )
        return ScalingDecision(status=look.status(current, None), history=history)
    if not least <= current <= most:
        bound = "above Spec.MaxReplicas" if current > most else "below Spec.MinReplicas"
        return ScalingDecision(
            status=look.status(max(least, min(current, most)), None),
            history=history,
            replicas=most if current > most else least,
            reason=f"Current number of replicas {bound}",
        )
    return _by_metrics(look, evaluations, history)


def _by_metrics(
    look: _Sync, evaluations: Sequence[Found | Failed] | InvalidSelector, history: ScalingHistory
) -> ScalingDecision:
    hpa, current = look.hpa, look.current
    if isinstance(evaluations, InvalidSelector):
        look.conditions.set("ScalingActive", False, evaluations.reason, evaluations.message)
        look.events.append(evaluations.event)
        return _without_metrics(look, evaluations.event.text, None, history)
    found = [each for each in evaluations if isinstance(each, Found)]
    failed = [each for each in evaluations if isinstance(each, Failed)]
    look.events += [Event(each.reason, each.text) for each in failed]
    statuses = [
        each.status if isinstance(each, Found) else autoscaling_v2.MetricStatus(type="")
        for each in evaluations
    ]
    best = max(found, key=lambda each: each.replicas, default=None)
    # Missing metrics might have required more replicas.
    if best is None or (failed and best.replicas < current):
        look.conditions.set(
            "ScalingActive",
            False,
            failed[0].reason if failed else "",
            f"the HPA was unable to compute the replica count: {failed[0].text if failed else ''}",
        )
        number, full_message = len(failed), failed[0].full_message if failed else ""
        why = (
            f"invalid metrics ({number} invalid out of {len(evaluations)}),"
            f" first error is: {full_message}"
        )
        return _without_metrics(look, why, statuses, history)
    look.conditions.set(
        "ScalingActive",
        True,
        "ValidMetricFound",
        f"the HPA was able to successfully calculate a replica count from {best.name}",
    )
    reason = ""
    if best.replicas > current:
        reason = f"{best.name} above target"
    elif best.replicas < current:
        reason = "All metrics below target"
    result = bounded(
        best.replicas,
        current=current,
        least=_min_replicas(hpa),
        most=hpa.spec.max_replicas,
        behavior=hpa.spec.behavior,
        history=history,
        now=look.now,
    )
    look.conditions.set("AbleToScale", True, *result.ability)
    look.conditions.set("ScalingLimited", result.is_limited, *result.limit)
    return ScalingDecision(
        status=look.status(result.replicas, statuses),
        history=result.history,
        events=tuple(look.events),
        replicas=result.replicas if result.replicas != current else None,
        reason=reason,
    )


def _without_metrics(
    look: _Sync,
    why: str,
    statuses: Sequence[autoscaling_v2.MetricStatus] | None,
    history: ScalingHistory,
) -> ScalingDecision:
    look.events.append(Event("FailedComputeMetricsReplicas", why))
    return ScalingDecision(
        status=look.status(look.desired_before, statuses),
        history=history,
        events=tuple(look.events),
    )


def after_rescale(decision: ScalingDecision, now: datetime) -> tuple[Status, Event]:
    """Return the status and the event after the scale was updated as ``decision`` requires."""
    conditions = AutoscalerConditions(decision.status, now)
    conditions.set(
        "AbleToScale",
        True,
        "SucceededRescale",
        f"the HPA controller was able to update the target scale to {decision.replicas}",
    )
    said = f"New size: {decision.replicas}; reason: {decision.reason}"
    status = replace(decision.status, conditions=conditions.all, last_scale_time=now)
    return status, Event("SuccessfulRescale", said, is_warning=False)


def after_failed_rescale(
    decision: ScalingDecision, hpa: Autoscaler, why: str, now: datetime
) -> tuple[Status, Event]:
    """Return the status and the event after the update of the scale failed.

    ``why`` is the text of the error.
    """
    conditions = AutoscalerConditions(decision.status, now)
    conditions.set(
        "AbleToScale",
        False,
        "FailedUpdateScale",
        f"the HPA controller was unable to update the target scale: {why}",
    )
    said = f"New size: {decision.replicas}; reason: {decision.reason}; error: {why}"
    status = replace(
        decision.status,
        conditions=conditions.all,
        desired_replicas=hpa.status.desired_replicas if hpa.status else 0,
    )
    return status, Event("FailedRescale", said)


def _min_replicas(hpa: Autoscaler) -> int:
    return 1 if hpa.spec.min_replicas is None else hpa.spec.min_replicas
