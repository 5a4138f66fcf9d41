"""Strategy of PriorityClasses and RuntimeClasses, which Pods reference by name."""

from collections.abc import Iterator, Sequence
from typing import Final

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.node_labels import label_warning
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import label_errors
from steersman_cluster.apiserver.builtin.pods.resource_amounts import requirements_errors
from steersman_cluster.apiserver.builtin.pods.scheduling_constraints import TOLERATIONS
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    immutable,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, subdomain_name
from steersman_cluster.apiserver.meta.status_errors import forbidden as refused
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_CLASSES: Final = GroupResource("scheduling.k8s.io", "priorityclasses")
_RESERVED: Final = "system-"
_SYSTEM: Final = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
_HIGHEST: Final = 1000000000


def _default_priority(priority_class: Object) -> None:
    fill(priority_class, preemptionPolicy="PreemptLowerPriority")


def _priority_errors(priority_class: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    name, value = priority_class["metadata"].get("name", ""), priority_class.get("value", 0)
    if name.startswith(_RESERVED):
        if wrong := _system_problem(priority_class, name):
            why = (
                f"priority class names with '{_RESERVED}' prefix are reserved for system use only."
                f" error: {wrong}"
            )
            errors.append(forbidden("metadata.name", why))
    elif value > _HIGHEST:
        why = f"maximum allowed value of a user defined priority is {_HIGHEST}"
        errors.append(forbidden("value", why))
    return errors + _PREEMPTION(priority_class)


def _system_problem(priority_class: Object, name: str) -> str:
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if priority_class.get("value", 0) != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    if priority_class.get("globalDefault"):
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


def _priority_change_errors(priority_class: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if priority_class.get("value", 0) != old.get("value", 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    policy = priority_class.get("preemptionPolicy")
    return errors + [immutable("preemptionPolicy", policy)] * (policy != old["preemptionPolicy"])


def _validate_priority(
    priority_class: Object, old: Object | None, around: StrategyContext
) -> Sequence[str]:
    """Reject ``priority_class`` if it and another class set ``globalDefault``."""
    if not priority_class.get("globalDefault"):
        return ()
    name = priority_class["metadata"]["name"]
    for each in around.every(_CLASSES):
        other = each["metadata"]["name"]
        if each.get("globalDefault") and (old is None or other != name):
            why = f"PriorityClass {other} is already marked as default. Only one default can exist"
            raise refused(_CLASSES, name, why)
    return ()


def _overhead_errors(fixed: Object, _: str) -> list[FieldError]:
    # kube-apiserver's errors have the path of the struct.
    return requirements_errors({"limits": fixed}, "overhead")


def _repeated_toleration_errors(tolerations: list[Object], path: str) -> Iterator[FieldError]:
    seen: set[tuple[str, ...]] = set()
    for index, each in enumerate(tolerations):
        key = tuple(each.get(field, "") for field in ("key", "operator", "value", "effect"))
        if key in seen:
            yield duplicate(f"{path}[{index}]", go_form("Toleration", each))
        seen.add(key)


_PREEMPTION: Final = rule.given(
    "preemptionPolicy",
    rule.first(rule.must_be_set(), rule.enum("PreemptLowerPriority", "Never")),
)
_RUNTIME_CLASS: Final = rule.table(
    rule.required("handler", dns_label),
    rule.optional("overhead.podFixed", rule.code(_overhead_errors)),
    rule.given("scheduling.nodeSelector", rule.code(label_errors)),
    rule.given("scheduling.tolerations", TOLERATIONS, rule.code(_repeated_toleration_errors)),
)


def _runtime_warnings(runtime_class: Object, _: Object | None) -> list[str]:
    selector = (runtime_class.get("scheduling") or {}).get("nodeSelector") or {}
    warnings = (label_warning(key) for key in selector)
    return [f"scheduling.nodeSelector: {each}" for each in warnings if each]


PRIORITY_CLASS = Strategy(
    default=_default_priority,
    validate_create=_priority_errors,
    validate_update=_priority_change_errors,
    validate_admission=_validate_priority,
    name_errors=subdomain_name,
    generation_fields=("value",),  # immutable, so that the generation stays 1
)
RUNTIME_CLASS = Strategy(
    validate=_RUNTIME_CLASS,
    validate_update=keeps({"handler": ""}),
    warnings=_runtime_warnings,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
    allow_create_on_update=True,
)
