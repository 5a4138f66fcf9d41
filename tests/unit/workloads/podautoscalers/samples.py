"""Pods with usage, and their autoscalers, as the server returns them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.kinds import autoscaling_v2, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.podautoscalers.replica_calculator import Usage

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    """A time before now."""
    return NOW - timedelta(seconds=seconds)


def pod(
    name: str = "web-1",
    *,
    requests: str | None = "100m",
    phase: str = "Running",
    ready: bool = True,
    started: datetime | None = None,
    ready_changed: datetime | None = None,
    ending: bool = False,
    annotations: Mapping[str, str] | None = None,
    containers: tuple[str, ...] = ("main",),
) -> core_v1.Pod:
    """A Pod that has been running for an hour."""
    resources = None
    if requests is not None:
        resources = core_v1.ResourceRequirements(
            requests={"cpu": Quantity(requests), "memory": Quantity("100Mi")}
        )
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace="here",
            deletion_timestamp=NOW if ending else None,
            annotations=annotations,
        ),
        spec=core_v1.PodSpec(
            containers=tuple(
                core_v1.Container(name=each, image="main", resources=resources)
                for each in containers
            )
        ),
        status=core_v1.PodStatus(
            phase=phase,
            start_time=started or ago(3600),
            conditions=(
                core_v1.PodCondition(
                    type="Ready",
                    status="True" if ready else "False",
                    last_transition_time=ready_changed or ago(3500),
                ),
            ),
        ),
    )


def pods(number: int) -> list[core_v1.Pod]:
    """So many such Pods."""
    return [pod(f"web-{n}") for n in range(number)]


def used(*milli: int) -> dict[str, Usage]:
    """The usage of the first Pod, the second, and so on."""
    return {f"web-{n}": Usage(milli=each, time=NOW) for n, each in enumerate(milli)}


def hpa(
    *,
    least: int | None = 1,
    most: int = 10,
    behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None = None,
    status: autoscaling_v2.HorizontalPodAutoscalerStatus | None = None,
    metrics: tuple[autoscaling_v2.MetricSpec, ...] = (),
) -> autoscaling_v2.HorizontalPodAutoscaler:
    """An autoscaler of a Deployment."""
    return autoscaling_v2.HorizontalPodAutoscaler(
        metadata=meta_v1.ObjectMeta(name="web", namespace="here", uid="the-hpa"),
        spec=autoscaling_v2.HorizontalPodAutoscalerSpec(
            min_replicas=least,
            max_replicas=most,
            behavior=behavior,
            metrics=metrics,
            scale_target_ref=autoscaling_v2.CrossVersionObjectReference(
                api_version="apps/v1", kind="Deployment", name="web"
            ),
        ),
        status=status,
    )


def cpu(**target: Any) -> autoscaling_v2.MetricSpec:
    """A CPU metric."""
    return autoscaling_v2.MetricSpec(
        type="Resource",
        resource=autoscaling_v2.ResourceMetricSource(
            name="cpu", target=autoscaling_v2.MetricTarget(type="Utilization", **target)
        ),
    )
