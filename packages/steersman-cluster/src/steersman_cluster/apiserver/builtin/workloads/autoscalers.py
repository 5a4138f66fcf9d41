"""HorizontalPodAutoscalers."""

from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty
from steersman_cluster.apiserver.builtin.workloads.autoscaler_metrics import (
    metric_errors,
    reference_errors,
)
from steersman_cluster.apiserver.builtin.workloads.autoscaler_versions import (
    UTILIZATION_PERCENT,
    default_behavior,
    utilization_metric,
)
from steersman_cluster.apiserver.builtin.workloads.workload_templates import negative_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

# Metrics that exist without Pods, so that they allow minReplicas 0.
_POD_INDEPENDENT_METRICS: Final = ("Object", "External")
_MAX_WINDOW: Final = 3600
_MAX_PERIOD: Final = 1800
_CHOICES: Final = ("Disabled", "Max", "Min")
_AT_LEAST_ONE: Final = "must be greater than or equal to 1"
_STEPS: Final = ("Percent", "Pods")


def _default(autoscaler: Object) -> None:
    spec = autoscaler.setdefault("spec", {})
    fill(spec, minReplicas=1)
    if autoscaler.get("apiVersion") == "autoscaling/v1":
        # The other defaults depend on fields that v1 has in annotations. The conversion sets them.
        return
    fill_empty(spec, metrics=[utilization_metric(UTILIZATION_PERCENT)])
    if "behavior" in spec:
        default_behavior(spec["behavior"])


def _prepare_create(autoscaler: Object, _: StrategyContext) -> None:
    autoscaler["status"] = {"desiredReplicas": 0, "currentMetrics": None}


def _create_errors(autoscaler: Object) -> list[FieldError]:
    return _spec_errors(autoscaler["spec"], None)


def _change_errors(autoscaler: Object, old: Object) -> list[FieldError]:
    return _spec_errors(autoscaler["spec"], old["spec"])


def _spec_errors(spec: Object, old: Object | None) -> list[FieldError]:
    fewest, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    errors: list[FieldError] = []
    if fewest is not None and fewest < 1:
        errors.append(invalid("spec.minReplicas", fewest, _AT_LEAST_ONE))
    if most == 0:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        errors.append(invalid("spec.maxReplicas", most, _AT_LEAST_ONE))
    if fewest is not None and most < fewest:
        why = "must be greater than or equal to `minReplicas`"
        errors.append(invalid("spec.maxReplicas", most, why))
    target = spec.get("scaleTargetRef", {})
    errors += reference_errors(
        target,
        "spec.scaleTargetRef",
        needs_group=target.get("kind") != "ReplicationController",
        # Ratcheting: an unchanged reference stays valid.
        any_version=old is not None and _same_kind(target, old.get("scaleTargetRef", {})),
    )
    metrics = spec.get("metrics") or ()
    for index, metric in enumerate(metrics):
        errors += metric_errors(metric, f"spec.metrics[{index}]")
    if fewest == 0 and not any(each.get("type") in _POD_INDEPENDENT_METRICS for each in metrics):
        why = (
            "must specify at least one Object or External metric to support scaling to zero"
            " replicas"
        )
        errors.append(forbidden("spec.metrics", why))
    behavior = spec.get("behavior") or {}
    for field in ("scaleUp", "scaleDown"):
        if (rules := behavior.get(field)) is not None:
            errors += _rules_errors(rules, f"spec.behavior.{field}")
    return errors


def _same_kind(target: Object, other: Object) -> bool:
    return all(target.get(each, "") == other.get(each, "") for each in ("apiVersion", "kind"))


def _rules_errors(rules: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    window, choice = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy")
    if window is not None:
        at = f"{path}.stabilizationWindowSeconds"
        if window < 0:
            errors.append(invalid(at, window, "must be greater than or equal to zero"))
        if window > _MAX_WINDOW:
            errors.append(invalid(at, window, f"must be less than or equal to {_MAX_WINDOW}"))
    if choice is not None and choice not in _CHOICES:
        errors.append(not_supported(f"{path}.selectPolicy", choice, _CHOICES))
    policies = rules.get("policies")
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies or ()):
        errors += _policy_errors(policy, f"{path}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and Quantity(tolerance) < Quantity(0):
        errors.append(invalid(f"{path}.tolerance", tolerance, NOT_NEGATIVE))
    return errors


def _policy_errors(policy: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if (kind := policy.get("type", "")) not in _STEPS:
        errors.append(not_supported(f"{path}.type", kind, _STEPS))
    errors += [
        invalid(f"{path}.{field}", policy.get(field, 0), "must be greater than zero")
        for field in ("value", "periodSeconds")
        if policy.get(field, 0) <= 0
    ]
    if (period := policy.get("periodSeconds", 0)) > _MAX_PERIOD:
        why = f"must be less than or equal to {_MAX_PERIOD}"
        errors.append(invalid(f"{path}.periodSeconds", period, why))
    return errors


def _status_errors(autoscaler: Object, _: Object) -> list[FieldError]:
    status = autoscaler.get("status") or {}
    return negative_errors(status, ("currentReplicas", "desiredReplicas"), "status")


HORIZONTAL_POD_AUTOSCALER = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    validate_create=_create_errors,
    validate_update=_change_errors,
    validate_status=_status_errors,
    name_errors=subdomain_name,
    has_status=True,
)
