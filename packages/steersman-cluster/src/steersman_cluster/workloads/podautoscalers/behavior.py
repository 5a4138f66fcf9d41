"""The scaling behavior: limits, rates and stabilization of a recommendation. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from steersman.kinds import autoscaling_v2

Rules = autoscaling_v2.HPAScalingRules
Policy = autoscaling_v2.HPAScalingPolicy

#: The default stabilization window for scaling down.
DOWN_SECONDS: Final = 300

_WITHIN: Final = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_FAST_UP: Final = (
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
)
_TOO_FAST_DOWN: Final = (
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
)
_TOO_MANY: Final = (
    "TooManyReplicas",
    "the desired replica count is more than the maximum replica count",
)
_TOO_FEW: Final = (
    "TooFewReplicas",
    "the desired replica count is less than the minimum replica count",
)
_STEADY: Final = ("ReadyForNewScale", "recommended size matches current size")
_HELD_UP: Final = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent"
    " recommendation",
)
_HELD_DOWN: Final = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)

_UP: Final = Rules(
    stabilization_window_seconds=0,
    select_policy="Max",
    policies=(
        Policy(type="Pods", value=4, period_seconds=15),
        Policy(type="Percent", value=100, period_seconds=15),
    ),
)
_DOWN: Final = Rules(
    stabilization_window_seconds=DOWN_SECONDS,
    select_policy="Max",
    policies=(Policy(type="Percent", value=100, period_seconds=15),),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A number of replicas, or a change of this number, with the time at which it was recorded."""

    number: int
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingHistory:
    """The recent recommendations of an autoscaler, and its recent scalings up and down."""

    recommended: tuple[Moment, ...] = ()
    ups: tuple[Moment, ...] = ()
    downs: tuple[Moment, ...] = ()

    def with_initial_recommendation(self, current: int, now: datetime) -> "ScalingHistory":
        """Return the history with ``current`` as the first recommendation if it has none.

        ``current`` is the current number of replicas.
        """
        return self if self.recommended else replace(self, recommended=(Moment(current, now),))

    def scaled(
        self,
        before: int,
        after: int,
        behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None,
        now: datetime,
    ) -> "ScalingHistory":
        """Return the history with a change from ``before`` to ``after`` replicas at ``now``.

        Without a ``behavior``, the history does not change.
        """
        if behavior is None:
            return self
        change = Moment(abs(after - before), now)
        if after > before:
            return replace(self, ups=(*_recent(self.ups, _longest(behavior, now)), change))
        return replace(self, downs=(*_recent(self.downs, _longest(behavior, now)), change))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """A number of replicas within the autoscaler's limits.

    ``is_limited`` is whether a limit or a rate has changed this number. ``limit`` is
    the reason and message of the condition ScalingLimited, and ``ability`` that of AbleToScale.
    ``history`` contains the new recommendation.
    """

    replicas: int
    is_limited: bool
    limit: tuple[str, str]
    ability: tuple[str, str]
    history: ScalingHistory


def bounded(
    recommended: int,
    *,
    current: int,
    least: int,
    most: int,
    behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None,
    history: ScalingHistory,
    now: datetime,
) -> Bounded:
    """Return ``recommended`` after applying stabilization, rates and limits.

    ``current`` is the current number of replicas, ``least`` and ``most`` are the limits.
    ``behavior`` specifies the stabilization and rates; without it, the defaults apply.
    """
    if behavior is None:
        steady = _highest(recommended, history, now)
        ability = _STEADY if steady == recommended else _HELD_UP
        keep_seconds = float(DOWN_SECONDS)
        replicas, limit = _in_range(steady, current, least, most)
    else:
        up, down = _filled(behavior.scale_up, _UP), _filled(behavior.scale_down, _DOWN)
        steady = _between(recommended, current, up, down, history, now)
        ability = _STEADY
        if steady != recommended:
            ability = _HELD_DOWN if recommended >= current else _HELD_UP
        keep_seconds = float(max(_window(up), _window(down)))
        replicas, limit = _at_rate(steady, current, least, most, up, down, history, now)
    cutoff = now - timedelta(seconds=keep_seconds)
    kept = tuple(each for each in history.recommended if each.time >= cutoff)
    return Bounded(
        replicas=replicas,
        is_limited=replicas != steady,
        limit=limit,
        ability=ability,
        history=replace(history, recommended=(*kept, Moment(recommended, now))),
    )


def _highest(recommended: int, history: ScalingHistory, now: datetime) -> int:
    cutoff = now - timedelta(seconds=DOWN_SECONDS)
    recent = [each.number for each in history.recommended if each.time >= cutoff]
    return max([recommended, *recent])


def _between(
    recommended: int, current: int, up: Rules, down: Rules, history: ScalingHistory, now: datetime
) -> int:
    lowest = highest = recommended
    up_cutoff = now - timedelta(seconds=_window(up))
    down_cutoff = now - timedelta(seconds=_window(down))
    for each in history.recommended:
        if each.time > up_cutoff:
            lowest = min(lowest, each.number)
        if each.time > down_cutoff:
            highest = max(highest, each.number)
    return min(max(current, lowest), highest)


def _in_range(wanted: int, current: int, least: int, most: int) -> tuple[int, tuple[str, str]]:
    fastest = max(2 * current, 4)
    if wanted < least:
        return least, _TOO_FEW
    if wanted > min(most, fastest):
        return (fastest, _TOO_FAST_UP) if most > fastest else (most, _TOO_MANY)
    return wanted, _WITHIN


def _at_rate(
    wanted: int,
    current: int,
    least: int,
    most: int,
    up: Rules,
    down: Rules,
    history: ScalingHistory,
    now: datetime,
) -> tuple[int, tuple[str, str]]:
    if wanted > current:
        fastest = max(_limit(current, up, history, now, is_up=True), current)
        top, why = (fastest, _TOO_FAST_UP) if most > fastest else (most, _TOO_MANY)
        if wanted > top:
            return top, why
    elif wanted < current:
        fastest = min(_limit(current, down, history, now, is_up=False), current)
        bottom, why = (fastest, _TOO_FAST_DOWN) if least < fastest else (least, _TOO_FEW)
        if wanted < bottom:
            return bottom, why
    return wanted, _WITHIN


def _limit(
    current: int, rules: Rules, history: ScalingHistory, now: datetime, *, is_up: bool
) -> int:
    """Return the limit that the selected scaling policy sets."""
    if rules.select_policy == "Disabled":
        return current
    limits: list[int] = []
    for policy in rules.policies or ():
        cutoff = now - timedelta(seconds=policy.period_seconds)
        at_period_start = (
            current - _sum_since(history.ups, cutoff) + _sum_since(history.downs, cutoff)
        )
        if policy.type == "Pods":
            limits.append(
                at_period_start + policy.value if is_up else at_period_start - policy.value
            )
        elif is_up:
            # Rounded up: a few percent of a few Pods are one Pod.
            limits.append(ceil(at_period_start * (1 + policy.value / 100)))
        else:
            limits.append(int(at_period_start * (1 - policy.value / 100)))
    if not limits:
        return current
    return max(limits) if is_up == (rules.select_policy != "Min") else min(limits)


def _filled(rules: Rules | None, defaults: Rules) -> Rules:
    if rules is None:
        return defaults
    window = rules.stabilization_window_seconds
    return Rules(
        policies=rules.policies or defaults.policies,
        select_policy=rules.select_policy or defaults.select_policy,
        stabilization_window_seconds=(
            defaults.stabilization_window_seconds if window is None else window
        ),
    )


def _window(rules: Rules) -> int:
    return rules.stabilization_window_seconds or 0


def _sum_since(changes: Sequence[Moment], cutoff: datetime) -> int:
    return sum(each.number for each in changes if each.time > cutoff)


def _longest(behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior, now: datetime) -> datetime:
    rules = (_filled(behavior.scale_up, _UP), _filled(behavior.scale_down, _DOWN))
    seconds = max(policy.period_seconds for each in rules for policy in each.policies or ())
    return now - timedelta(seconds=seconds)


def _recent(changes: Sequence[Moment], cutoff: datetime) -> tuple[Moment, ...]:
    return tuple(each for each in changes if each.time >= cutoff)
