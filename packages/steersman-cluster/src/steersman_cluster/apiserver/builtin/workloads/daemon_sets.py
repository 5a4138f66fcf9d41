"""DaemonSets."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import is_empty, selector_errors, selects
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_template
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    AT_MOST_ALL,
    SHARE,
    always_template_errors,
    collision_errors,
    selector_change_errors,
    share_number,
    template_labels,
    template_warnings,
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


def _template_errors(spec: Object, path: str) -> Iterator[FieldError]:
    selector: Object | None = spec.get("selector")
    wrong = selector_errors(selector, f"{path}.selector")
    yield from wrong
    if not wrong and not selects(selector, template_labels(spec)):
        yield unselected_error(spec, path)
    if selector is not None and is_empty(selector):
        yield invalid(f"{path}.selector", selector, "empty selector is invalid for daemonset")
    yield from always_template_errors(spec, path, "DaemonSet", is_selected=True)


def _strategy_errors(strategy: Object, path: str) -> Iterator[FieldError]:
    if strategy["type"] == "RollingUpdate":
        yield from _ROLLING(strategy["rollingUpdate"], f"{path}.rollingUpdate")
    elif strategy["type"] != "OnDelete":
        shown = go_form("DaemonSetUpdateStrategy", strategy)
        yield not_supported(path, shown, ("RollingUpdate", "OnDelete"))


def _standstill_errors(rolling: Object, path: str) -> Iterator[FieldError]:
    unavailable, surge = share_number(rolling["maxUnavailable"]), share_number(rolling["maxSurge"])
    if unavailable and surge:
        detail = "may not be set when maxUnavailable is non-zero"
        yield invalid(f"{path}.maxSurge", rolling["maxSurge"], detail)
    elif not unavailable and not surge:
        yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


_ROLLING: Final = rule.table(
    rule.given("maxUnavailable", SHARE),
    rule.given("maxSurge", SHARE),
    rule.given("maxUnavailable", AT_MOST_ALL),
    rule.given("maxSurge", AT_MOST_ALL),
    rule.code(_standstill_errors),
)
_DAEMON_SET: Final = rule.given(
    "spec",
    rule.code(_template_errors),
    rule.not_negative("minReadySeconds"),
    rule.given("updateStrategy", rule.code(_strategy_errors)),
    rule.not_negative("revisionHistoryLimit"),
)
_STATUS: Final = rule.given(
    "status",
    rule.not_negative(
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ),
)


def _status_errors(new: Object, old: Object) -> list[FieldError]:
    return _STATUS(new) + collision_errors(new, old)


DAEMON_SET = Strategy(
    default=_default_daemon_set,
    prepare_create=_prepare_daemon_set,
    prepare_update=_prepare_daemon_update,
    prepare_status=_prepare_daemon_status,
    validate=_DAEMON_SET,
    validate_update=selector_change_errors,
    validate_status=_status_errors,
    name_errors=subdomain_name,
    warnings=template_warnings(names_hosts=False),
    hidden_annotation=TEMPLATE_GENERATION,
    generation_fields=("spec",),
    has_status=True,
    update_first=True,
)
