"""Validation of PodDisruptionBudgets; ``disruptions`` applies them to evictions."""

from typing import Final

from steersman_cluster.apiserver.builtin.conditions import condition_errors
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import selector_errors
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    negative_errors,
    share_errors,
    too_large_share_errors,
)
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid, not_supported
from steersman_cluster.apiserver.meta.name_validation import path_segment_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS: Final = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def _errors(budget: Object) -> list[FieldError]:
    spec = budget.get("spec", {})
    errors: list[FieldError] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "minAvailable and maxUnavailable cannot be both set"
        errors.append(invalid("spec", go_form("PodDisruptionBudgetSpec", spec), why))
    for field in ("minAvailable", "maxUnavailable"):
        if (share := spec.get(field)) is not None:
            path = f"spec.{field}"
            errors += share_errors(share, path) + too_large_share_errors(share, path)
    errors += selector_errors(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
    return errors


def _status_errors(budget: Object, _: Object) -> list[FieldError]:
    status = budget.get("status") or {}
    return [
        *condition_errors(status.get("conditions") or (), "status.conditions"),
        *negative_errors(status, _COUNTS, "status"),
    ]


POD_DISRUPTION_BUDGET = Strategy(
    validate=_errors,
    validate_status=_status_errors,
    name_errors=path_segment_name,
    metadata_errors_order="last",
    generation_fields=("spec",),
    has_status=True,
    allow_unconditional_update=False,
)
