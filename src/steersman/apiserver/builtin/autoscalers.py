"""HorizontalPodAutoscalers."""

from steersman.apiserver.builtin.autoscaler_versions import (
    UTILIZATION_PERCENT,
    default_behavior,
    utilization_metric,
)
from steersman.apiserver.builtin.common_defaults import fill, fill_empty
from steersman.apiserver.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    required,
)
from steersman.apiserver.names_rules import path_segment, subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings

# Metrics that are there even where no pod is.
_OF_OTHERS = ("Object", "External")


def _default(autoscaler: Object) -> None:
    spec = autoscaler.setdefault("spec", {})
    fill(spec, minReplicas=1)
    if autoscaler.get("apiVersion") == "autoscaling/v1":
        # The other defaults need what its annotations carry: the conversion sees to them.
        return
    fill_empty(spec, metrics=[utilization_metric(UTILIZATION_PERCENT)])
    if "behavior" in spec:
        default_behavior(spec["behavior"])


def _prepare_create(autoscaler: Object, _: Surroundings) -> None:
    autoscaler["status"] = {"desiredReplicas": 0, "currentMetrics": None}


def _errors(autoscaler: Object) -> list[FieldError]:
    spec = autoscaler["spec"]
    fewest, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    errors: list[FieldError] = []
    if fewest is not None and fewest < 1:
        why = "must be greater than or equal to 1"
        errors.append(invalid("spec.minReplicas", fewest, why))
    if most == 0:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if fewest is not None and most < fewest:
        why = "must be greater than or equal to `minReplicas`"
        errors.append(invalid("spec.maxReplicas", most, why))
    errors += _target_errors(spec.get("scaleTargetRef", {}), "spec.scaleTargetRef")
    if fewest == 0 and not any(each.get("type") in _OF_OTHERS for each in spec.get("metrics", ())):
        why = (
            "must specify at least one Object or External metric to support scaling to zero"
            " replicas"
        )
        errors.append(forbidden("spec.metrics", why))
    return errors


def _target_errors(target: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("kind", "name"):
        if value := target.get(field):
            errors += all_invalid(f"{path}.{field}", value, path_segment(value))
        else:
            errors.append(required(f"{path}.{field}"))
    version = target.get("apiVersion", "")
    if "/" not in version:
        why = "apiVersion must specify API group"
        errors.append(invalid(f"{path}.apiVersion", version, why))
    return errors


HORIZONTAL_POD_AUTOSCALER = Rules(
    default=_default,
    prepare_create=_prepare_create,
    validate=_errors,
    name_errors=subdomain_name,
    has_status=True,
)
