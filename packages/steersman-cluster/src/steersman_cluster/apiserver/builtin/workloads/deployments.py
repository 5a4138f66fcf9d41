"""Deployments."""

from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    AT_MOST_ALL,
    SHARE,
    collision_errors,
    counter_rules,
    selected_template_errors,
    selector_change_errors,
    share_number,
    template_warnings,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
)
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext


def _default(deployment: Object) -> None:
    spec: Object = deployment.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    strategy: Object = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling: Object = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    default_template(spec.setdefault("template", {}))


def _template_errors(spec: Object, path: str) -> list[FieldError]:
    return selected_template_errors(spec, path, "deployment")


def _deadline_errors(spec: Object, path: str) -> Iterator[FieldError]:
    deadline = spec["progressDeadlineSeconds"]
    if deadline <= spec.get("minReadySeconds", 0):
        detail = "must be greater than minReadySeconds"
        yield invalid(f"{path}.progressDeadlineSeconds", deadline, detail)


def _strategy_errors(strategy: Object, path: str) -> Iterator[FieldError]:
    rolling: Object | None = strategy.get("rollingUpdate")
    match strategy["type"]:
        case "Recreate":
            if rolling is not None:
                detail = "may not be specified when strategy `type` is 'Recreate'"
                yield forbidden(f"{path}.rollingUpdate", detail)
        case "RollingUpdate" if rolling is not None:
            yield from _ROLLING(rolling, f"{path}.rollingUpdate")
        case _:
            shown = go_form("DeploymentStrategy", strategy)
            yield not_supported(path, shown, ("Recreate", "RollingUpdate"))


def _standstill_errors(rolling: Object, path: str) -> Iterator[FieldError]:
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    if share_number(unavailable) == 0 and share_number(surge) == 0:
        detail = "may not be 0 when `maxSurge` is 0"
        yield invalid(f"{path}.maxUnavailable", unavailable, detail)


_ROLLING: Final = rule.table(
    rule.given("maxUnavailable", SHARE),
    rule.given("maxSurge", SHARE),
    rule.code(_standstill_errors),
    rule.given("maxUnavailable", AT_MOST_ALL),
)
_DEPLOYMENT: Final = rule.given(
    "spec",
    rule.not_negative("replicas"),
    rule.code(_template_errors),
    rule.given("strategy", rule.code(_strategy_errors)),
    rule.not_negative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
    rule.code(_deadline_errors),
)
_STATUS: Final = rule.given(
    "status",
    rule.not_negative(
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ),
    counter_rules("updatedReplicas", "readyReplicas", "availableReplicas"),
)


def _prepare_status(new: Object, old: Object, _: StrategyContext) -> None:
    new["metadata"].pop("labels", None)
    if labels := old["metadata"].get("labels"):
        new["metadata"]["labels"] = labels


def _status_errors(new: Object, old: Object) -> list[FieldError]:
    return _STATUS(new) + collision_errors(new, old)


DEPLOYMENT = Strategy(
    default=_default,
    prepare_status=_prepare_status,
    validate=_DEPLOYMENT,
    validate_update=selector_change_errors,
    validate_status=_status_errors,
    name_errors=subdomain_name,
    warnings=template_warnings(),
    # Annotations count as well: kubectl records the cause of a rollout in one.
    generation_fields=("spec", "metadata.annotations"),
    has_status=True,
)
