"""Deployments."""

from typing import Final

from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    collision_errors,
    counter_errors,
    negative_errors,
    selected_template_errors,
    selector_change_errors,
    share_errors,
    share_number,
    template_warnings,
    too_large_share_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
)
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_COUNTS: Final = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)
_PARTS: Final = ("updatedReplicas", "readyReplicas", "availableReplicas")


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


def _validate(deployment: Object) -> list[FieldError]:
    spec: Object = deployment["spec"]
    errors = negative_errors(spec, ("replicas",), "spec")
    errors += selected_template_errors(spec, "spec", "deployment")
    errors += _strategy_errors(spec["strategy"], "spec.strategy")
    errors += negative_errors(
        spec, ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), "spec"
    )
    deadline = spec["progressDeadlineSeconds"]
    if deadline <= spec.get("minReadySeconds", 0):
        detail = "must be greater than minReadySeconds"
        errors.append(invalid("spec.progressDeadlineSeconds", deadline, detail))
    return errors


def _strategy_errors(strategy: Object, path: str) -> list[FieldError]:
    rolling: Object | None = strategy.get("rollingUpdate")
    match strategy["type"]:
        case "Recreate":
            if rolling is None:
                return []
            detail = "may not be specified when strategy `type` is 'Recreate'"
            return [forbidden(f"{path}.rollingUpdate", detail)]
        case "RollingUpdate" if rolling is not None:
            return _rolling_errors(rolling, f"{path}.rollingUpdate")
        case _:
            shown = go_form("DeploymentStrategy", strategy)
            return [not_supported(path, shown, ("Recreate", "RollingUpdate"))]


def _rolling_errors(rolling: Object, path: str) -> list[FieldError]:
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    errors = share_errors(unavailable, f"{path}.maxUnavailable")
    errors += share_errors(surge, f"{path}.maxSurge")
    if share_number(unavailable) == 0 and share_number(surge) == 0:
        detail = "may not be 0 when `maxSurge` is 0"
        errors.append(invalid(f"{path}.maxUnavailable", unavailable, detail))
    return errors + too_large_share_errors(unavailable, f"{path}.maxUnavailable")


def _prepare_status(new: Object, old: Object, _: StrategyContext) -> None:
    new["metadata"].pop("labels", None)
    if labels := old["metadata"].get("labels"):
        new["metadata"]["labels"] = labels


def _validate_status(new: Object, old: Object) -> list[FieldError]:
    status: Object = new.get("status") or {}
    return [
        *negative_errors(status, _COUNTS, "status"),
        *counter_errors(status, _PARTS),
        *collision_errors(new, old),
    ]


DEPLOYMENT = Strategy(
    default=_default,
    prepare_status=_prepare_status,
    validate=_validate,
    validate_update=selector_change_errors,
    validate_status=_validate_status,
    name_errors=subdomain_name,
    warnings=template_warnings(),
    # Annotations count as well: kubectl records the cause of a rollout in one.
    generation_fields=("spec", "metadata.annotations"),
    has_status=True,
)
