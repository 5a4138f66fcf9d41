"""Validation of the metrics of HorizontalPodAutoscalers."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.pods.resource_amounts import container_resource_errors
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
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


def reference_errors(
    reference: Object, path: str, *, needs_group: bool, any_version: bool = False
) -> Iterator[FieldError]:
    """Yield the errors in a reference to an object by kind, name and apiVersion.

    ``needs_group``: whether apiVersion must contain an API group. ``any_version``: whether
    apiVersion is not validated.
    """
    yield from _REFERENCE(reference, path)
    version = reference.get("apiVersion", "")
    group, slash, rest = version.partition("/")
    if any_version:
        return
    if "/" in rest:
        why = f"unexpected GroupVersion string: {version}"
        yield invalid(f"{path}.apiVersion", version, why)
    elif needs_group and not (slash and group):
        yield invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


_REFERENCE: Final = rule.table(
    rule.required("kind", path_segment), rule.required("name", path_segment)
)


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
        errors += _DETAILS[there[0]](metric[there[0]], f"{path}.{there[0]}")
    wanted = next((name for name, each in _SOURCES.items() if each == kind), "")
    if wanted and wanted not in there:
        why = "must populate information for the given metric source"
        errors.append(required(f"{path}.{wanted}", why))
    errors += unknown
    if len(there) != 1:
        why = "must populate the given metric source only"
        errors += [forbidden(f"{path}.{each}", why) for each in there if each != wanted]
    return errors


def _described_errors(described: Object, path: str) -> Iterator[FieldError]:
    return reference_errors(described, path, needs_group=False)


def _either_errors(target: Object, path: str) -> Iterator[FieldError]:
    if "value" in target and "averageValue" in target:
        why = "may not set both a target value for metric and a per-pod target"
        yield forbidden(f"{path}.value", why)


def _resource_target_errors(target: Object, path: str) -> Iterator[FieldError]:
    has_share, has_value = "averageUtilization" in target, "averageValue" in target
    if has_share and has_value:
        why = "may not set both a target raw value and a target utilization"
        yield forbidden(f"{path}.averageValue", why)
    elif not has_share and not has_value:
        why = "must set either a target raw value or a target utilization"
        yield required(f"{path}.averageUtilization", why)


def _needs_value(detail: str) -> Check:
    """The target must have a value or an average value."""
    return rule.when(
        lambda target: "value" not in target, rule.needed("averageValue", detail=detail)
    )


_POSITIVE: Final = rule.must(lambda amount: Quantity(amount) > Quantity(0), "must be positive")
_TARGET: Final = rule.table(
    rule.required("type", detail="must specify a metric target type"),
    rule.always(
        "type",
        rule.must(
            lambda kind: kind in ("Utilization", "Value", "AverageValue"),
            "must be either Utilization, Value, or AverageValue",
        ),
    ),
    rule.given("value", _POSITIVE),
    rule.given("averageValue", _POSITIVE),
    rule.given("averageUtilization", rule.POSITIVE),
)
_METRIC_NAME: Final = rule.required(
    "metric.name", path_segment, detail="must specify a metric name"
)
_RESOURCE_TARGET: Final = rule.always(
    "target", _TARGET, rule.code(_resource_target_errors), default={}
)
# In kube-apiserver's order of validation.
_DETAILS: Final[Mapping[str, Check]] = {
    "object": rule.table(
        rule.always("describedObject", rule.code(_described_errors), default={}),
        _METRIC_NAME,
        rule.always(
            "target",
            _TARGET,
            _needs_value("must set either a target value or averageValue"),
            default={},
        ),
    ),
    "external": rule.table(
        _METRIC_NAME,
        rule.always(
            "target",
            _TARGET,
            _needs_value("must set either a target value for metric or a per-pod target"),
            rule.code(_either_errors),
            default={},
        ),
    ),
    "pods": rule.table(
        _METRIC_NAME,
        rule.always(
            "target",
            _TARGET,
            rule.needed("averageValue", detail="must specify a positive target averageValue"),
            default={},
        ),
    ),
    "resource": rule.table(
        rule.required("name", detail="must specify a resource name"), _RESOURCE_TARGET
    ),
    "containerResource": rule.table(
        rule.required(
            "name",
            rule.code(container_resource_errors),
            detail="must specify a resource name",
        ),
        rule.required("container", dns_label, detail="must specify a container"),
        _RESOURCE_TARGET,
    ),
}
