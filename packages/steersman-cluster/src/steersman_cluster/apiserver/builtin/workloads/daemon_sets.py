"""DaemonSets."""

from collections.abc import Mapping
from typing import Final

from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import is_empty, selector_errors, selects
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    always_template_errors,
    collision_errors,
    negative_errors,
    selector_change_errors,
    share_errors,
    share_number,
    template_labels,
    template_warnings,
    too_large_share_errors,
    unselected_error,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
_DAEMON_COUNTS: Final = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def _default_daemon_set(daemon_set: Object) -> None:
    # A default, not a strategy's change: the manager of the request owns the field.
    daemon_set["metadata"].setdefault("annotations", {}).setdefault(TEMPLATE_GENERATION, "0")
    spec: Object = daemon_set.setdefault("spec", {})
    strategy: Object = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling: Object = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    default_template(spec.setdefault("template", {}))


def _template_generation(daemon_set: Object) -> int:
    annotations: Mapping[str, str] = daemon_set["metadata"].get("annotations") or {}
    text = annotations.get(TEMPLATE_GENERATION, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def _prepare_daemon_set(daemon_set: Object, _: StrategyContext) -> None:
    _write_generation(daemon_set, max(1, _template_generation(daemon_set)))


def _prepare_daemon_update(new: Object, old: Object, _: StrategyContext) -> None:
    has_changed = new["spec"]["template"] != old["spec"].get("template")
    _write_generation(new, _template_generation(old) + has_changed)


def _prepare_daemon_status(new: Object, old: Object, _: StrategyContext) -> None:
    _write_generation(new, _template_generation(old))


def _write_generation(daemon_set: Object, generation: int) -> None:
    annotations = daemon_set["metadata"].setdefault("annotations", {})
    annotations[TEMPLATE_GENERATION] = str(generation)


def _validate_daemon_set(daemon_set: Object) -> list[FieldError]:
    spec: Object = daemon_set["spec"]
    selector: Object | None = spec.get("selector")
    wrong = selector_errors(selector, "spec.selector")
    errors = [*wrong]
    if not wrong and not selects(selector, template_labels(spec)):
        errors.append(unselected_error(spec, "spec"))
    if selector is not None and is_empty(selector):
        detail = "empty selector is invalid for daemonset"
        errors.append(invalid("spec.selector", selector, detail))
    errors += always_template_errors(spec, "spec", "DaemonSet", is_selected=True)
    errors += negative_errors(spec, ("minReadySeconds",), "spec")
    errors += _daemon_strategy_errors(spec["updateStrategy"], "spec.updateStrategy")
    return errors + negative_errors(spec, ("revisionHistoryLimit",), "spec")


def _daemon_strategy_errors(strategy: Object, path: str) -> list[FieldError]:
    if strategy["type"] == "OnDelete":
        return []
    if strategy["type"] != "RollingUpdate":
        shown = go_form("DaemonSetUpdateStrategy", strategy)
        return [not_supported(path, shown, ("RollingUpdate", "OnDelete"))]
    rolling: Object = strategy["rollingUpdate"]
    path = f"{path}.rollingUpdate"
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    errors = share_errors(unavailable, f"{path}.maxUnavailable")
    errors += share_errors(surge, f"{path}.maxSurge")
    errors += too_large_share_errors(unavailable, f"{path}.maxUnavailable")
    errors += too_large_share_errors(surge, f"{path}.maxSurge")
    if share_number(unavailable) and share_number(surge):
        detail = "may not be set when maxUnavailable is non-zero"
        errors.append(invalid(f"{path}.maxSurge", surge, detail))
    elif not share_number(unavailable) and not share_number(surge):
        detail = "cannot be 0 when maxSurge is 0"
        errors.append(required(f"{path}.maxUnavailable", detail))
    return errors


def _validate_daemon_status(new: Object, old: Object) -> list[FieldError]:
    status: Object = new.get("status") or {}
    return negative_errors(status, _DAEMON_COUNTS, "status") + collision_errors(new, old)


DAEMON_SET = Strategy(
    default=_default_daemon_set,
    prepare_create=_prepare_daemon_set,
    prepare_update=_prepare_daemon_update,
    prepare_status=_prepare_daemon_status,
    validate=_validate_daemon_set,
    validate_update=selector_change_errors,
    validate_status=_validate_daemon_status,
    name_errors=subdomain_name,
    warnings=template_warnings(names_hosts=False),
    hidden_annotation=TEMPLATE_GENERATION,
    generation_fields=("spec",),
    has_status=True,
    update_first=True,
)
