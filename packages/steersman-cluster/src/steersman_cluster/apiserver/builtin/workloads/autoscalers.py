"""HorizontalPodAutoscalers."""

from collections.abc import Iterator
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
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
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
)
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

# Metrics that exist without Pods, so that they allow minReplicas 0.
_POD_INDEPENDENT_METRICS: Final = ("Object", "External")
_MAX_WINDOW: Final = 3600
_MAX_PERIOD: Final = 1800


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
    return _SPEC(autoscaler["spec"], "spec", None)


def _change_errors(autoscaler: Object, old: Object) -> list[FieldError]:
    return _SPEC(autoscaler["spec"], "spec", old["spec"])


def _order_errors(spec: Object, path: str) -> Iterator[FieldError]:
    fewest, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if fewest is not None and most < fewest:
        yield invalid(f"{path}.maxReplicas", most, "must be greater than or equal to `minReplicas`")


def _target_errors(target: Object, path: str, old: Object | None) -> Iterator[FieldError]:
    before = {} if old is None else old.get("scaleTargetRef", {})
    return reference_errors(
        target,
        path,
        needs_group=target.get("kind") != "ReplicationController",
        # Ratcheting: an unchanged reference stays valid.
        any_version=old is not None
        and all(target.get(each, "") == before.get(each, "") for each in ("apiVersion", "kind")),
    )


def _scale_to_zero_errors(spec: Object, path: str) -> Iterator[FieldError]:
    types = {each.get("type") for each in spec.get("metrics") or ()}
    if spec.get("minReplicas") == 0 and types.isdisjoint(_POD_INDEPENDENT_METRICS):
        why = (
            "must specify at least one Object or External metric to support scaling to zero"
            " replicas"
        )
        yield forbidden(f"{path}.metrics", why)


_AT_LEAST_ONE: Final = rule.must(lambda number: number >= 1, "must be greater than or equal to 1")
_ABOVE_ZERO: Final = rule.must(lambda number: number > 0, "must be greater than zero")
_SCALING: Final = rule.table(
    rule.given(
        "stabilizationWindowSeconds",
        rule.must(lambda seconds: seconds >= 0, "must be greater than or equal to zero"),
        rule.at_most(_MAX_WINDOW),
    ),
    rule.given("selectPolicy", rule.enum("Disabled", "Max", "Min")),
    rule.required(
        "policies",
        rule.each(
            rule.always("type", rule.enum("Percent", "Pods")),
            rule.always("value", _ABOVE_ZERO, default=0),
            rule.always("periodSeconds", _ABOVE_ZERO, rule.at_most(_MAX_PERIOD), default=0),
        ),
        detail="must specify at least one Policy",
    ),
    rule.given("tolerance", rule.must(lambda share: Quantity(share) >= Quantity(0), NOT_NEGATIVE)),
)
# The scope is the old spec, or None.
_SPEC: Final = rule.table(
    rule.given("minReplicas", _AT_LEAST_ONE),
    rule.required("maxReplicas", _AT_LEAST_ONE, detail="must be set and greater than 0"),
    rule.code(_order_errors),
    rule.always("scaleTargetRef", rule.scoped(_target_errors), default={}),
    rule.given("metrics", rule.each(rule.code(metric_errors))),
    rule.code(_scale_to_zero_errors),
    rule.given("behavior.scaleUp", _SCALING),
    rule.given("behavior.scaleDown", _SCALING),
)
_STATUS: Final = rule.table(
    rule.given("status.currentReplicas", rule.NOT_NEGATIVE),
    rule.given("status.desiredReplicas", rule.NOT_NEGATIVE),
)


HORIZONTAL_POD_AUTOSCALER = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    validate_create=_create_errors,
    validate_update=_change_errors,
    validate_status=lambda autoscaler, _: _STATUS(autoscaler),
    name_errors=subdomain_name,
    has_status=True,
)
