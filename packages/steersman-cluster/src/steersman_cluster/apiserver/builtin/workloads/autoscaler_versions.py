"""Conversion of HorizontalPodAutoscalers between autoscaling/v1 and autoscaling/v2.

autoscaling/v1 has fields for only one metric, the CPU utilization. The conversion to autoscaling/v1
stores everything else in annotations, in the format that autoscaling/v1 specifies. A client of v1
can therefore write back what it has read.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.meta.strategy import Object

ANNOTATION = "autoscaling.alpha.kubernetes.io/"
METRICS = f"{ANNOTATION}metrics"
CURRENT_METRICS = f"{ANNOTATION}current-metrics"
CONDITIONS = f"{ANNOTATION}conditions"
BEHAVIOR = f"{ANNOTATION}behavior"
CARRIED = {
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    f"{ANNOTATION}scale-down-tolerance",
    f"{ANNOTATION}scale-up-tolerance",
}

UTILIZATION_PERCENT = 80

# For each metric type, in the order of encoding: the field in v1, the path in v2, and the value
# that v1 writes for an absent one.
_SPEC_FIELDS: dict[str, tuple[tuple[str, str, str | None], ...]] = {
    "object": (
        ("target", "describedObject", None),
        ("metricName", "metric.name", None),
        ("targetValue", "target.value", "0"),
        ("selector", "metric.selector", None),
        ("averageValue", "target.averageValue", None),
    ),
    "pods": (
        ("metricName", "metric.name", None),
        ("targetAverageValue", "target.averageValue", "0"),
        ("selector", "metric.selector", None),
    ),
    "resource": (
        ("name", "name", None),
        ("targetAverageUtilization", "target.averageUtilization", None),
        ("targetAverageValue", "target.averageValue", None),
    ),
    "containerResource": (
        ("name", "name", None),
        ("targetAverageUtilization", "target.averageUtilization", None),
        ("targetAverageValue", "target.averageValue", None),
        ("container", "container", None),
    ),
    "external": (
        ("metricName", "metric.name", None),
        ("metricSelector", "metric.selector", None),
        ("targetValue", "target.value", None),
        ("targetAverageValue", "target.averageValue", None),
    ),
}
_STATUS_FIELDS: dict[str, tuple[tuple[str, str, str | None], ...]] = {
    "object": (
        ("target", "describedObject", None),
        ("metricName", "metric.name", None),
        ("currentValue", "current.value", "0"),
        ("selector", "metric.selector", None),
        ("averageValue", "current.averageValue", None),
    ),
    "pods": (
        ("metricName", "metric.name", None),
        ("currentAverageValue", "current.averageValue", "0"),
        ("selector", "metric.selector", None),
    ),
    "resource": (
        ("name", "name", None),
        ("currentAverageUtilization", "current.averageUtilization", None),
        ("currentAverageValue", "current.averageValue", "0"),
    ),
    "containerResource": (
        ("name", "name", None),
        ("currentAverageUtilization", "current.averageUtilization", None),
        ("currentAverageValue", "current.averageValue", "0"),
        ("container", "container", None),
    ),
    "external": (
        ("metricName", "metric.name", None),
        ("metricSelector", "metric.selector", None),
        ("currentValue", "current.value", "0"),
        ("currentAverageValue", "current.averageValue", None),
    ),
}
_Records: TypeAlias = list[dict[str, Any]]
_CONDITION_FIELDS = ("type", "status", "lastTransitionTime", "reason", "message")


# Unlike the other annotations, that of the behavior contains kube-apiserver's internal type.
class _Policy(msgspec.Struct, rename="pascal"):
    type: str = ""
    value: int = 0
    period_seconds: int = 0


class _ScalingRules(msgspec.Struct, rename="pascal"):
    stabilization_window_seconds: int | None = None
    select_policy: str | None = None
    policies: list[_Policy] | None = None
    tolerance: str | None = None


class _Behavior(msgspec.Struct, rename="pascal"):
    scale_up: _ScalingRules | None = None
    scale_down: _ScalingRules | None = None


def utilization_metric(percent: int) -> Object:
    """Return a metric for the CPU utilization, the only one for which v1 has fields."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def default_behavior(behavior: Object) -> None:
    """Set the default scaling rules in ``behavior``."""
    up, down = behavior.setdefault("scaleUp", {}), behavior.setdefault("scaleDown", {})
    quickly = [_policy("Pods", 4), _policy("Percent", 100)]
    fill(up, stabilizationWindowSeconds=0, selectPolicy="Max", policies=quickly)
    fill(down, selectPolicy="Max", policies=[_policy("Percent", 100)])


def _policy(kind: str, value: int) -> Object:
    return {"type": kind, "value": value, "periodSeconds": 15}


def to_v1(autoscaler: Object) -> Object:
    """Convert an autoscaler from v2 to v1; annotations store data for which v1 has no fields."""
    spec, status = dict(autoscaler["spec"]), dict(autoscaler.get("status") or {})
    carried: dict[str, Any] = {}
    metrics = spec.pop("metrics", [])
    percents = [each for each in map(_percent, metrics) if each is not None]
    if percents:
        spec["targetCPUUtilizationPercentage"] = percents[0]
    if others := [each for each in metrics if _percent(each) is None]:
        carried[METRICS] = [_narrowed(each, _SPEC_FIELDS) for each in others]
    if (behavior := spec.pop("behavior", None)) is not None:
        inner = msgspec.convert(_renamed(behavior, _upper), _Behavior)
        carried[BEHAVIOR] = msgspec.to_builtins(inner)
    if current := status.pop("currentMetrics", None):
        carried[CURRENT_METRICS] = [_narrowed(each, _STATUS_FIELDS) for each in current]
        for each in current:
            if (percent := _percent(each, "current")) is not None:
                status["currentCPUUtilizationPercentage"] = percent
    if conditions := status.pop("conditions", None):
        carried[CONDITIONS] = [_picked(each, _CONDITION_FIELDS) for each in conditions]
    status.setdefault("currentReplicas", 0)
    annotations = _others(autoscaler["metadata"])
    annotations |= {key: _go_json(value) for key, value in carried.items()}
    return {
        **autoscaler,
        "apiVersion": "autoscaling/v1",
        "metadata": _annotated(autoscaler["metadata"], annotations),
        "spec": spec,
        "status": status,
    }


def to_v2(autoscaler: Object) -> Object:
    """Convert an autoscaler from v1 to v2, including the data in its annotations."""
    metadata = autoscaler["metadata"]
    spec, status = dict(autoscaler["spec"]), dict(autoscaler.get("status") or {})
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = [_widened(each, _SPEC_FIELDS) for each in _carried(metadata, METRICS, _Records) or ()]
    if percent is not None or not metrics:
        metrics.append(utilization_metric(UTILIZATION_PERCENT if percent is None else percent))
    spec["metrics"] = [_with_target_type(each) for each in metrics]
    if behavior := _carried(metadata, BEHAVIOR, _Behavior):
        spec["behavior"] = _renamed(msgspec.to_builtins(behavior), _lower)
        default_behavior(spec["behavior"])
    current_percent = status.pop("currentCPUUtilizationPercentage", None)
    if (current := _carried(metadata, CURRENT_METRICS, _Records)) is not None:
        status["currentMetrics"] = [_widened(each, _STATUS_FIELDS) for each in current]
    elif current_percent is not None:
        measured = {"name": "cpu", "current": {"averageUtilization": current_percent}}
        status["currentMetrics"] = [{"type": "Resource", "resource": measured}]
    else:
        status["currentMetrics"] = None
    if (conditions := _carried(metadata, CONDITIONS, _Records)) is not None:
        status["conditions"] = conditions
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    return {
        **autoscaler,
        "apiVersion": "autoscaling/v2",
        "metadata": _annotated(metadata, _others(metadata)),
        "spec": spec,
        "status": status,
    }


def _percent(metric: Object, side: str = "target") -> int | None:
    resource = metric.get("resource")
    if metric.get("type") != "Resource" or not resource or resource.get("name") != "cpu":
        return None
    percent: int | None = resource.get(side, {}).get("averageUtilization")
    return percent


def _narrowed(metric: Object, fields: dict[str, tuple[tuple[str, str, str | None], ...]]) -> Object:
    narrow: Object = {"type": metric["type"]}
    for source, names in fields.items():
        if (wide := metric.get(source)) is not None:
            found = ((name, _dig(wide, path, default)) for name, path, default in names)
            narrow[source] = {name: value for name, value in found if value is not None}
    return narrow


def _widened(metric: Object, fields: dict[str, tuple[tuple[str, str, str | None], ...]]) -> Object:
    wide: Object = {"type": metric.get("type", "")}
    for source, names in fields.items():
        if isinstance(narrow := metric.get(source), dict):
            for name, path, default in names:
                if (value := narrow.get(name, default)) is not None:
                    outer, _, inner = path.partition(".")
                    place = wide.setdefault(source, {})
                    if inner:
                        place.setdefault(outer, {})[inner] = value
                    else:
                        place[outer] = value
    return wide


def _dig(value: Object, path: str, default: str | None) -> Any:
    outer, _, inner = path.partition(".")
    return (value.get(outer) or {}).get(inner, default) if inner else value.get(outer, default)


def _with_target_type(metric: Object) -> Object:
    """Return ``metric`` with the type of its target, which v1 does not store.

    The type is derived from the fields that are set.
    """
    for source in _SPEC_FIELDS:
        target = metric.get(source, {}).get("target")
        if target is None or "type" in target:
            continue
        if "averageUtilization" in target:
            target["type"] = "Utilization"
        elif "averageValue" in target and (source != "external" or "value" not in target):
            target["type"] = "AverageValue"
            if source == "object" and target.get("value") == "0":
                # v1 cannot omit the value, and zero is not a valid target.
                del target["value"]
        else:
            target["type"] = "Value" if "value" in target else "AverageValue"
    return metric


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    """Return ``value`` with keys renamed by ``rename``, and without nulls."""
    if isinstance(value, dict):
        return {
            rename(key): _renamed(each, rename) for key, each in value.items() if each is not None
        }
    return [_renamed(each, rename) for each in value] if isinstance(value, list) else value


def _upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def _picked(value: Object, names: tuple[str, ...]) -> Object:
    return {name: value[name] for name in names if name in value}


def _carried(metadata: Object, annotation: str, kind: Any) -> Any:
    """Return the data in an annotation; None if the annotation is missing or invalid."""
    written = metadata.get("annotations", {}).get(annotation)
    if written is None:
        return None
    try:
        return msgspec.json.decode(written, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _others(metadata: Object) -> dict[str, str]:
    annotations: dict[str, str] = metadata.get("annotations") or {}
    return {key: value for key, value in annotations.items() if key not in CARRIED}


def _annotated(metadata: Object, annotations: dict[str, str]) -> Object:
    written = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**written, "annotations": annotations} if annotations else written


def _go_json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Go's JSON encoder escapes these characters for HTML.
    for harmful in "<>&":
        text = text.replace(harmful, f"\\u{ord(harmful):04x}")
    return text
