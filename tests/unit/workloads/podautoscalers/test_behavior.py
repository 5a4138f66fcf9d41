"""Limits and rates at which replicas follow a recommendation."""

from datetime import timedelta

import pytest

from steersman.kinds import autoscaling_v2
from steersman_cluster.workloads.podautoscalers.behavior import (
    Bounded,
    Moment,
    ScalingHistory,
    bounded,
)
from tests.unit.workloads.podautoscalers.samples import NOW, ago

Behavior = autoscaling_v2.HorizontalPodAutoscalerBehavior
Policy = autoscaling_v2.HPAScalingPolicy
Rules = autoscaling_v2.HPAScalingRules


def result(
    recommended: int,
    *,
    current: int,
    least: int = 1,
    most: int = 100,
    behavior: Behavior | None = None,
    history: ScalingHistory | None = None,
) -> Bounded:
    return bounded(
        recommended,
        current=current,
        least=least,
        most=most,
        behavior=behavior,
        history=history or ScalingHistory(),
        now=NOW,
    )


@pytest.mark.parametrize(
    ("recommended", "current", "wanted", "reason"),
    [
        (5, 4, 5, "DesiredWithinRange"),
        (1, 4, 2, "TooFewReplicas"),
        (50, 10, 20, "ScaleUpLimit"),
        (50, 1, 4, "ScaleUpLimit"),
        (50, 20, 30, "TooManyReplicas"),
    ],
)
def test_replicas_stay_within_minreplicas_and_maxreplicas(
    recommended: int, current: int, wanted: int, reason: str
) -> None:
    found = result(recommended, current=current, least=2, most=30)

    assert (found.replicas, found.limit[0]) == (wanted, reason)
    assert found.is_limited == (reason != "DesiredWithinRange")


def test_a_lower_recommendation_waits_for_the_stabilization_window() -> None:
    recent = ScalingHistory(recommended=(Moment(8, ago(299)), Moment(9, ago(301))))

    held = result(3, current=8, history=recent)
    later = result(3, current=8, history=ScalingHistory(recommended=(Moment(8, ago(301)),)))

    assert (held.replicas, held.ability[0]) == (8, "ScaleDownStabilized")
    assert (later.replicas, later.ability[0]) == (3, "ReadyForNewScale")


def test_recommendations_are_kept_for_the_stabilization_window() -> None:
    found = result(3, current=3, history=ScalingHistory(recommended=(Moment(9, ago(301)),)))

    assert found.history.recommended == (Moment(3, NOW),)


def slowly(**up: object) -> Behavior:
    rules = {"select_policy": "Max", "stabilization_window_seconds": 0, **up}
    return Behavior(scale_up=Rules(**rules), scale_down=None)  # type: ignore[arg-type]


def test_a_behavior_allows_the_largest_change_of_its_policies() -> None:
    policies = (
        Policy(type="Pods", value=2, period_seconds=60),
        Policy(type="Percent", value=10, period_seconds=60),
    )

    most = result(50, current=10, behavior=slowly(policies=policies))
    least = result(50, current=10, behavior=slowly(policies=policies, select_policy="Min"))

    assert (most.replicas, most.limit[0]) == (12, "ScaleUpLimit")
    assert least.replicas == 11


def test_replicas_added_in_the_same_period_count() -> None:
    policies = (Policy(type="Pods", value=4, period_seconds=60),)
    history = ScalingHistory(ups=(Moment(3, ago(30)), Moment(3, ago(90))))

    assert (
        result(50, current=10, behavior=slowly(policies=policies), history=history).replicas == 11
    )


def test_a_behavior_can_disable_a_direction() -> None:
    behavior = Behavior(scale_down=Rules(select_policy="Disabled", stabilization_window_seconds=0))

    found = result(1, current=5, behavior=behavior)

    assert (found.replicas, found.limit[0]) == (5, "ScaleDownLimit")


def test_a_behavior_limits_the_rate_of_scaling_down() -> None:
    behavior = Behavior(
        scale_down=Rules(
            stabilization_window_seconds=0,
            policies=(Policy(type="Percent", value=10, period_seconds=60),),
        )
    )

    assert result(1, current=50, behavior=behavior).replicas == 45


def test_a_scale_up_window_uses_its_lowest_recommendation() -> None:
    history = ScalingHistory(recommended=(Moment(6, ago(30)), Moment(2, ago(90))))

    found = result(9, current=5, behavior=slowly(stabilization_window_seconds=60), history=history)

    assert (found.replicas, found.ability[0]) == (6, "ScaleUpStabilized")


def test_scale_events_older_than_all_policy_periods_are_dropped() -> None:
    behavior = slowly(policies=(Policy(type="Pods", value=4, period_seconds=60),))
    history = ScalingHistory(ups=(Moment(1, ago(61)), Moment(2, ago(59))))

    assert history.scaled(3, 6, behavior, NOW).ups == (Moment(2, ago(59)), Moment(3, NOW))
    assert history.scaled(6, 3, behavior, NOW).downs == (Moment(3, NOW),)
    assert history.scaled(3, 6, None, NOW) is history


def test_a_stabilized_recommendation_takes_effect_after_the_window() -> None:
    history = ScalingHistory().with_initial_recommendation(8, NOW)
    seen = []
    for seconds in range(0, 360, 15):
        found = bounded(
            2,
            current=8,
            least=1,
            most=10,
            behavior=None,
            history=history,
            now=NOW + timedelta(seconds=seconds),
        )
        history = found.history
        seen.append(found.replicas)

    assert seen == [8] * 21 + [2] * 3
