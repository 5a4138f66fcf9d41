"""The evaluation of one metric of an autoscaler. No I/O.

The result is a recommendation or an error. The caller has already read the usage of the Pods.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from steersman.kinds import autoscaling_v2, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.podautoscalers.replica_calculator import (
    Proposal,
    ScalingProblem,
    Tolerances,
    Usages,
    by_average,
    by_utilization,
)

MetricSpec = autoscaling_v2.MetricSpec
MetricStatus = autoscaling_v2.MetricStatus

_NO_CUSTOM: Final = (
    "unable to fetch metrics from custom metrics API: no custom metrics API"
    " (custom.metrics.k8s.io) registered"
)
_NO_TARGET: Final = (
    "invalid resource metric source: neither an average utilization target nor an average value"
    " (usage) target was set"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricQuery:
    """A query for the resource usage from which a metric is computed.

    It asks for the usage of ``resource`` by the container ``container``, or by all containers if
    ``container`` is empty.
    """

    resource: str
    container: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The number of replicas that a metric recommends, and the status of this metric."""

    replicas: int
    name: str
    status: MetricStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The reason why a metric recommends no number of replicas.

    ``reason`` and ``text`` are the reason and the message of an event; ``full_message`` is the
    message of the condition.
    """

    reason: str
    text: str
    full_message: str


def query_of(metric: MetricSpec) -> MetricQuery | None:
    """Return the usage that ``metric`` requires.

    Return ``None`` if steersman does not support this type of metric.
    """
    if metric.type == "Resource" and metric.resource is not None:
        return MetricQuery(resource=metric.resource.name)
    if metric.type == "ContainerResource" and metric.container_resource is not None:
        source = metric.container_resource
        return MetricQuery(resource=source.name, container=source.container)
    return None


def evaluated(
    metric: MetricSpec,
    usages: Usages | ScalingProblem,
    pods: Sequence[core_v1.Pod],
    *,
    current: int,
    tolerances: Tolerances,
    namespace: str,
    now: datetime,
) -> Found | Failed:
    """Return the number of replicas that ``metric`` recommends, or why it recommends none.

    ``usages`` contains the usage of ``pods``, and ``current`` is the current number of replicas.
    """
    query = query_of(metric)
    if query is None:
        return _no_adapter(metric, namespace)
    source = metric.resource if metric.resource is not None else metric.container_resource
    if source is None:
        return _failed(query, _NO_TARGET)
    target, resource = source.target, query.resource
    proposal: Proposal | ScalingProblem
    if target.average_value is not None:
        what, name = "usage", f"{resource} resource"
        proposal = (
            usages
            if isinstance(usages, ScalingProblem)
            else by_average(
                pods,
                usages,
                current=current,
                milli=target.average_value.milli_value(),
                resource=resource,
                tolerances=tolerances,
                now=now,
            )
        )
    elif target.average_utilization is not None:
        of = "container resource" if query.container else "resource"
        what, name = "utilization", f"{resource} {of} utilization (percentage of request)"
        proposal = (
            usages
            if isinstance(usages, ScalingProblem)
            else by_utilization(
                pods,
                usages,
                current=current,
                percent=target.average_utilization,
                resource=resource,
                container=query.container,
                tolerances=tolerances,
                now=now,
            )
        )
    else:
        return _failed(query, _NO_TARGET)
    if isinstance(proposal, ScalingProblem):
        return _failed(query, f"failed to get {resource} {what}: {proposal.text}")
    value = autoscaling_v2.MetricValueStatus(
        average_utilization=proposal.percent, average_value=_amount(resource, proposal)
    )
    return Found(replicas=proposal.replicas, name=name, status=_status(query, value))


def tolerances_of(behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None) -> Tolerances:
    """Return the tolerances that ``behavior`` specifies, with defaults for missing values."""
    usual = Tolerances()
    if behavior is None:
        return usual
    down = behavior.scale_down.tolerance if behavior.scale_down else None
    up = behavior.scale_up.tolerance if behavior.scale_up else None
    return Tolerances(
        down=usual.down if down is None else float(down.value),
        up=usual.up if up is None else float(up.value),
    )


def _failed(query: MetricQuery, text: str) -> Failed:
    if query.container:
        full_message = f"failed to get {query.container} container metric value: {text}"
        return Failed(
            reason="FailedGetContainerResourceMetric", text=text, full_message=full_message
        )
    full_message = f"failed to get {query.resource} resource metric value: {text}"
    return Failed(reason="FailedGetResourceMetric", text=text, full_message=full_message)


def _no_adapter(metric: MetricSpec, namespace: str) -> Failed:
    """Return the error of a cluster that has no adapter for metrics of this type."""
    if metric.type == "Pods" and metric.pods is not None:
        text = f"unable to get metric {metric.pods.metric.name}: {_NO_CUSTOM}"
        full_message = f"failed to get pods metric value: {text}"
        return Failed(reason="FailedGetPodsMetric", text=text, full_message=full_message)
    if metric.type == "Object" and metric.object is not None:
        about, name = metric.object.described_object, metric.object.metric.name
        text = f"unable to get metric {name}: {about.kind} on {namespace} {about.name}/{_NO_CUSTOM}"
        is_average = metric.object.target.average_value is not None
        inner = f"failed to get {name} object metric: {text}" if is_average else text
        full_message = f"failed to get object metric value: {inner}"
        return Failed(reason="FailedGetObjectMetric", text=text, full_message=full_message)
    if metric.type == "External" and metric.external is not None:
        name, selector = metric.external.metric.name, metric.external.metric.selector
        text = (
            f"unable to get external metric {namespace}/{name}/{_printed(selector)}: unable to"
            f" fetch metrics from external metrics API: the server could not find the requested"
            f" resource (get {name}.external.metrics.k8s.io)"
        )
        if metric.external.target.average_value is not None:
            inner = f"failed to get {name} external metric: {text}"
        else:
            inner = f"failed to get external metric {name}: {text}"
        full_message = f"failed to get {name} external metric value: {inner}"
        return Failed(reason="FailedGetExternalMetric", text=text, full_message=full_message)
    text = f'unknown metric source type "{metric.type}"'
    return Failed(reason="InvalidMetricSourceType", text=text, full_message=text)


def _status(query: MetricQuery, value: autoscaling_v2.MetricValueStatus) -> MetricStatus:
    if query.container:
        return MetricStatus(
            type="ContainerResource",
            container_resource=autoscaling_v2.ContainerResourceMetricStatus(
                name=query.resource, container=query.container, current=value
            ),
        )
    return MetricStatus(
        type="Resource",
        resource=autoscaling_v2.ResourceMetricStatus(name=query.resource, current=value),
    )


def _amount(resource: str, proposal: Proposal) -> Quantity:
    amount = Quantity(Decimal(proposal.average_milli) / 1000)
    if resource != "memory":
        return amount
    # Formatted like memory: the suffix of the first operand wins.
    unit = Quantity("1Ki")
    return unit + amount - unit


def _printed(selector: meta_v1.LabelSelector | None) -> str:
    if selector is None:
        return "nil"
    labels = "".join(
        f"{key}: {each}," for key, each in sorted((selector.match_labels or {}).items())
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        "MatchExpressions:[]LabelSelectorRequirement{},}"
    )
