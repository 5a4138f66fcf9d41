"""The table row of an autoscaler: each target with its current value."""

from collections.abc import Sequence

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.tables.cells import NONE, UNKNOWN, UNSET, amount
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    column,
    name_column,
    number,
    part,
    printer,
)

_MOST = 2  # the number of targets that are shown

# The field of each metric type, in the spec and in the status.
_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_OF_RESOURCES = ("ContainerResource", "Resource")
# Types that are shown as <unknown> without a current average; the others are shown as 0.
_MAY_LACK_AVERAGE = ("External", "Object")


def _target(metric: Object, status: Object) -> str:
    kind = metric.get("type", "")
    field = _SOURCES.get(kind)
    if field is None:
        return "<unknown type>"
    source, measured = metric.get(field) or {}, status.get(field)
    target = source.get("target") or {}
    current = None if measured is None else measured.get("current") or {}
    if kind in _OF_RESOURCES:
        return f"{source.get('name', '')}: {_of_resource(target, current)}"
    if kind == "Pods":
        return f"{_average(kind, current)}/{amount(target.get('averageValue'))}"
    if target.get("averageValue") is not None:
        return f"{_average(kind, current)}/{amount(target['averageValue'])} (avg)"
    value = UNKNOWN if current is None else amount(current.get("value"))
    return f"{value}/{amount(target.get('value'))}"


def _of_resource(target: Object, current: Object | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_average('Resource', current)}/{amount(target['averageValue'])}"
    used = None if current is None else current.get("averageUtilization")
    wanted = target.get("averageUtilization")
    return f"{_percent(used, UNKNOWN)}/{_percent(wanted, '<auto>')}"


def _percent(number: int | None, otherwise: str) -> str:
    return otherwise if number is None else f"{number}%"


def _average(kind: str, current: Object | None) -> str:
    if current is None:
        return UNKNOWN
    average = current.get("averageValue")
    return UNKNOWN if average is None and kind in _MAY_LACK_AVERAGE else amount(average)


def _targets(autoscaler: Object, _: Ages) -> str:
    metrics: Sequence[Object] = part(autoscaler, "spec", "metrics")
    statuses: Sequence[Object] = part(autoscaler, "status", "currentMetrics") or ()
    if not metrics:
        return NONE
    known = [*statuses, *[{}] * len(metrics)]
    shown = ", ".join(_target(metric, known[index]) for index, metric in enumerate(metrics[:_MOST]))
    more = len(metrics) - _MOST
    return f"{shown} + {more} more..." if more > 0 else shown


def _reference(autoscaler: Object, _: Ages) -> str:
    ref = part(autoscaler, "spec", "scaleTargetRef")
    return f"{ref.get('kind', '')}/{ref.get('name', '')}"


def _least(autoscaler: Object, _: Ages) -> str:
    least = part(autoscaler, "spec").get("minReplicas")
    return UNSET if least is None else str(least)


HORIZONTAL_POD_AUTOSCALER = printer(
    name_column(),
    column("Reference", _reference),
    column("Targets", _targets),
    column("MinPods", _least),
    column("MaxPods", number("spec.maxReplicas")),
    column("Replicas", number("status.currentReplicas")),
    age_column(),
)
