"""Validation of the metrics of HorizontalPodAutoscalers."""

from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.common_rules import segment_errors
from steersman_cluster.apiserver.builtin.pods.resource_amounts import container_resource_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, path_segment
from steersman_cluster.apiserver.meta.strategy import Object

# The field with the details of each metric type, in kube-apiserver's order of validation.
_SOURCES: Final = {
    "object": "Object",
    "external": "External",
    "pods": "Pods",
    "resource": "Resource",
    "containerResource": "ContainerResource",
}
_TYPES: Final = tuple(sorted(_SOURCES.values()))
_TARGETS: Final = ("Utilization", "Value", "AverageValue")
_EITHER: Final = {
    "object": "must set either a target value or averageValue",
    "external": "must set either a target value for metric or a per-pod target",
}


def reference_errors(
    reference: Object, path: str, *, needs_group: bool, any_version: bool = False
) -> list[FieldError]:
    """Return the errors in a reference to an object by kind, name and apiVersion.

    ``needs_group``: whether apiVersion must contain an API group. ``any_version``: whether
    apiVersion is not validated.
    """
    errors = segment_errors(reference.get("kind"), f"{path}.kind")
    errors += segment_errors(reference.get("name"), f"{path}.name")
    version = reference.get("apiVersion", "")
    group, slash, rest = version.partition("/")
    if any_version:
        return errors
    if "/" in rest:
        why = f"unexpected GroupVersion string: {version}"
        errors.append(invalid(f"{path}.apiVersion", version, why))
    elif needs_group and not (slash and group):
        why = "apiVersion must specify API group"
        errors.append(invalid(f"{path}.apiVersion", version, why))
    return errors


def metric_errors(metric: Object, path: str) -> list[FieldError]:
    """Return the errors in one of the metrics of a HorizontalPodAutoscaler."""
    errors: list[FieldError] = []
    kind = metric.get("type", "")
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    unknown = [] if kind in _TYPES else [not_supported(f"{path}.type", kind, _TYPES)]
    errors += unknown
    there = [name for name in _SOURCES if metric.get(name) is not None]
    if there:
        errors += _source_errors(metric[there[0]], there[0], f"{path}.{there[0]}")
    wanted = next((name for name, each in _SOURCES.items() if each == kind), "")
    if wanted and wanted not in there:
        why = "must populate information for the given metric source"
        errors.append(required(f"{path}.{wanted}", why))
    errors += unknown
    if len(there) != 1:
        why = "must populate the given metric source only"
        errors += [forbidden(f"{path}.{each}", why) for each in there if each != wanted]
    return errors


def _source_errors(source: Object, kind: str, path: str) -> list[FieldError]:
    target, at = source.get("target", {}), f"{path}.target"
    if kind in ("resource", "containerResource"):
        return [
            *_resource_errors(source, kind, path),
            *_target_errors(target, at),
            *_resource_target_errors(target, at),
        ]
    errors: list[FieldError] = []
    if kind == "object":
        described = source.get("describedObject", {})
        errors += reference_errors(described, f"{path}.describedObject", needs_group=False)
    if name := source.get("metric", {}).get("name"):
        errors += all_invalid(f"{path}.metric.name", name, path_segment(name))
    else:
        errors.append(required(f"{path}.metric.name", "must specify a metric name"))
    errors += _target_errors(target, at)
    has_value, has_average = "value" in target, "averageValue" in target
    if kind == "pods":
        if not has_average:
            why = "must specify a positive target averageValue"
            errors.append(required(f"{at}.averageValue", why))
    elif not has_value and not has_average:
        errors.append(required(f"{at}.averageValue", _EITHER[kind]))
    elif kind == "external" and has_value and has_average:
        why = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{at}.value", why))
    return errors


def _resource_errors(source: Object, kind: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    name, container = source.get("name"), source.get("container")
    if not name:
        errors.append(required(f"{path}.name", "must specify a resource name"))
    elif kind == "containerResource":
        errors += container_resource_errors(name, f"{path}.name")
    if kind == "containerResource":
        if container:
            errors += all_invalid(f"{path}.container", container, dns_label(container))
        else:
            errors.append(required(f"{path}.container", "must specify a container"))
    return errors


def _resource_target_errors(target: Object, path: str) -> list[FieldError]:
    has_share, has_value = "averageUtilization" in target, "averageValue" in target
    if has_share and has_value:
        why = "may not set both a target raw value and a target utilization"
        return [forbidden(f"{path}.averageValue", why)]
    if has_share or has_value:
        return []
    why = "must set either a target raw value or a target utilization"
    return [required(f"{path}.averageUtilization", why)]


def _target_errors(target: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    kind, share = target.get("type", ""), target.get("averageUtilization")
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        why = "must be either Utilization, Value, or AverageValue"
        errors.append(invalid(f"{path}.type", kind, why))
    for field in ("value", "averageValue"):
        amount = target.get(field)
        if amount is not None and Quantity(amount) <= Quantity(0):
            errors.append(invalid(f"{path}.{field}", amount, "must be positive"))
    if share is not None and share < 1:
        errors.append(invalid(f"{path}.averageUtilization", share, "must be greater than 0"))
    return errors
