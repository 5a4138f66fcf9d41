"""Validation of PodDisruptionBudgets; ``disruptions`` applies them to evictions."""

from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.conditions import CONDITIONS
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import LABEL_SELECTOR
from steersman_cluster.apiserver.builtin.workloads.workload_templates import AT_MOST_ALL, SHARE
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.name_validation import path_segment_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy


def _both_errors(spec: Object, path: str) -> Iterator[FieldError]:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "minAvailable and maxUnavailable cannot be both set"
        yield invalid(path, go_form("PodDisruptionBudgetSpec", spec), why)


_BUDGET: Final = rule.given(
    "spec",
    rule.code(_both_errors),
    rule.given("minAvailable", SHARE, AT_MOST_ALL),
    rule.given("maxUnavailable", SHARE, AT_MOST_ALL),
    rule.given("selector", LABEL_SELECTOR),
    rule.given("unhealthyPodEvictionPolicy", rule.enum("AlwaysAllow", "IfHealthyBudget")),
)
_STATUS: Final = rule.given(
    "status",
    rule.given("conditions", CONDITIONS),
    rule.not_negative("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
)


POD_DISRUPTION_BUDGET = Strategy(
    validate=_BUDGET,
    validate_status=lambda budget, _: _STATUS(budget),
    name_errors=path_segment_name,
    metadata_errors_order="last",
    generation_fields=("spec",),
    has_status=True,
    allow_unconditional_update=False,
)
