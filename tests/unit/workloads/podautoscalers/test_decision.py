"""The decision of one autoscaler sync, with conditions and events."""

from steersman.kinds import autoscaling_v2
from steersman.units import Quantity
from steersman_cluster.workloads.podautoscalers.behavior import Moment, ScalingHistory
from steersman_cluster.workloads.podautoscalers.decision import (
    Event,
    ScalingDecision,
    after_failed_rescale,
    after_rescale,
    decided,
    needs_metrics,
    without_scale,
)
from steersman_cluster.workloads.podautoscalers.metrics import Failed, Found, evaluated
from steersman_cluster.workloads.podautoscalers.replica_calculator import (
    ScalingProblem,
    Tolerances,
    Usages,
)
from tests.unit.workloads.podautoscalers.samples import NOW, ago, cpu, hpa, pods, used

Status = autoscaling_v2.HorizontalPodAutoscalerStatus

FAILED = Failed(reason="FailedGetResourceMetric", text="no cpu", full_message="no cpu at all")


def evaluation(
    metric: autoscaling_v2.MetricSpec, usages: Usages | ScalingProblem, current: int = 2
) -> Found | Failed:
    return evaluated(
        metric,
        usages,
        pods(2),
        current=current,
        tolerances=Tolerances(),
        namespace="here",
        now=NOW,
    )


def decision(*evaluations: Found | Failed, current: int = 2, least: int = 1) -> ScalingDecision:
    return decided(
        hpa(least=least), evaluations, current=current, history=ScalingHistory(), now=NOW
    )


def conditions(status: Status) -> dict[str, tuple[str, str | None]]:
    return {each.type: (each.status, each.reason) for each in status.conditions or ()}


def found(replicas: int, name: str = "cpu resource") -> Found:
    return Found(replicas=replicas, name=name, status=autoscaling_v2.MetricStatus(type="Resource"))


def test_the_metric_with_the_highest_recommendation_wins() -> None:
    made = decision(found(3), found(4, "memory resource"))

    assert (made.replicas, made.reason) == (4, "memory resource above target")
    assert conditions(made.status) == {
        "AbleToScale": ("True", "ReadyForNewScale"),
        "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"),
    }


def test_replicas_that_match_the_recommendation_are_kept() -> None:
    made = decision(found(2))

    assert made.replicas is None
    assert (made.status.current_replicas, made.status.desired_replicas) == (2, 2)


def test_a_target_with_zero_replicas_is_not_scaled() -> None:
    made = decision(current=0)

    assert made.replicas is None
    assert conditions(made.status)["ScalingActive"] == ("False", "ScalingDisabled")
    assert not needs_metrics(hpa(), 0)


def test_replicas_outside_the_bounds_are_corrected_without_metrics() -> None:
    above, below = decision(current=20), decision(current=1, least=3)

    assert (above.replicas, above.reason) == (
        10,
        "Current number of replicas above Spec.MaxReplicas",
    )
    assert (below.replicas, below.reason) == (
        3,
        "Current number of replicas below Spec.MinReplicas",
    )
    assert not needs_metrics(hpa(), 20)


def test_without_any_metric_replicas_are_kept() -> None:
    made = decision(FAILED)

    assert made.replicas is None
    assert conditions(made.status)["ScalingActive"] == ("False", "FailedGetResourceMetric")
    assert made.events == (
        Event("FailedGetResourceMetric", "no cpu"),
        Event(
            "FailedComputeMetricsReplicas",
            "invalid metrics (1 invalid out of 1), first error is: no cpu at all",
        ),
    )
    assert [each.type for each in made.status.current_metrics or ()] == [""]


def test_a_missing_metric_prevents_scaling_down() -> None:
    assert decision(FAILED, found(1)).replicas is None
    assert decision(FAILED, found(3)).replicas == 3


def test_a_rescale_is_reported_after_it_is_written() -> None:
    status, event = after_rescale(decision(found(4)), NOW)

    assert conditions(status)["AbleToScale"] == ("True", "SucceededRescale")
    assert event == Event(
        "SuccessfulRescale", "New size: 4; reason: cpu resource above target", is_warning=False
    )
    assert (status.last_scale_time, status.current_replicas, status.desired_replicas) == (NOW, 2, 4)


def test_a_failed_rescale_is_reported() -> None:
    status, event = after_failed_rescale(decision(found(4)), hpa(), "no such quota", NOW)

    assert conditions(status)["AbleToScale"] == ("False", "FailedUpdateScale")
    assert event.text == "New size: 4; reason: cpu resource above target; error: no such quota"
    assert status.last_scale_time is None


def test_an_unreadable_scale_is_reported_and_the_other_status_fields_are_kept() -> None:
    before = Status(current_replicas=3, desired_replicas=3)

    made = without_scale(hpa(status=before), "not there", ScalingHistory(), NOW)

    assert conditions(made.status) == {"AbleToScale": ("False", "FailedGetScale")}
    assert made.status.current_replicas == 3
    assert made.events == (Event("FailedGetScale", "not there"),)


def test_an_unchanged_condition_keeps_its_transition_time() -> None:
    first = decision(found(2)).status
    old = [each.last_transition_time for each in first.conditions or ()]

    later = decided(
        hpa(status=first), [found(2)], current=2, history=ScalingHistory(), now=ago(-60)
    )

    assert [each.last_transition_time for each in later.status.conditions or ()] == old


def test_the_current_replicas_are_the_first_recommendation() -> None:
    assert decision(found(1), current=5).replicas is None
    assert decision(found(1), current=5).history.recommended == (Moment(5, NOW), Moment(1, NOW))


def test_a_metric_without_samples_reports_the_full_error() -> None:
    failed = evaluation(cpu(average_utilization=50), ScalingProblem("unable to get metrics"))

    assert failed == Failed(
        reason="FailedGetResourceMetric",
        text="failed to get cpu utilization: unable to get metrics",
        full_message="failed to get cpu resource metric value: failed to get cpu utilization:"
        " unable to get metrics",
    )


def test_the_status_has_the_current_usage() -> None:
    evaluated = evaluation(cpu(average_utilization=50), used(100, 100))

    assert isinstance(evaluated, Found)
    assert evaluated.name == "cpu resource utilization (percentage of request)"
    current = evaluated.status.resource.current if evaluated.status.resource else None
    assert current == autoscaling_v2.MetricValueStatus(
        average_utilization=100, average_value=Quantity("100m")
    )


def test_memory_is_formatted_with_a_binary_suffix() -> None:
    metric = autoscaling_v2.MetricSpec(
        type="Resource",
        resource=autoscaling_v2.ResourceMetricSource(
            name="memory",
            target=autoscaling_v2.MetricTarget(type="AverageValue", average_value=Quantity("64Mi")),
        ),
    )

    evaluated = evaluation(metric, used(*[100 * 1024 * 1024 * 1000] * 2))

    assert isinstance(evaluated, Found)
    current = evaluated.status.resource.current if evaluated.status.resource else None
    assert str(current and current.average_value) == "100Mi"


def test_a_metric_without_an_adapter_reports_the_error_of_a_bare_cluster() -> None:
    identifier = autoscaling_v2.MetricIdentifier(name="queue")
    target = autoscaling_v2.MetricTarget(type="AverageValue", average_value=Quantity("5"))
    metric = autoscaling_v2.MetricSpec(
        type="Pods", pods=autoscaling_v2.PodsMetricSource(metric=identifier, target=target)
    )

    failed = evaluation(metric, {})

    assert isinstance(failed, Failed)
    assert failed.reason == "FailedGetPodsMetric"
    assert failed.text.endswith("no custom metrics API (custom.metrics.k8s.io) registered")
