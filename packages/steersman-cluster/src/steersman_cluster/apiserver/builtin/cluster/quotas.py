"""Validation of ResourceQuotas; ``quota_admission`` enforces them."""

from collections.abc import Mapping
from typing import Final

from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    amount_errors,
    resource_name_errors,
)
from steersman_cluster.apiserver.meta.field_errors import FieldError, immutable, invalid, required
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_OF_PODS: Final = frozenset(
    ("pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
)
_OF_CLAIMS: Final = frozenset(("persistentvolumeclaims", "requests.storage"))
# The resources that may be limited in each scope.
_RESOURCES_IN_SCOPE: Final[Mapping[str, frozenset[str]]] = {
    "Terminating": _OF_PODS,
    "NotTerminating": _OF_PODS,
    "NotBestEffort": _OF_PODS,
    "PriorityClass": _OF_PODS,
    "CrossNamespacePodAffinity": _OF_PODS,
    "BestEffort": frozenset(("pods",)),
    "VolumeAttributesClass": _OF_CLAIMS,
}
# Scopes that allow only the operator Exists.
_EXISTS_ONLY_SCOPES: Final = frozenset(_RESOURCES_IN_SCOPE) - {
    "PriorityClass",
    "VolumeAttributesClass",
}
_EXCLUSIVE: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_STANDARD: Final = frozenset(
    (
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    )
)


def is_standard(name: str) -> bool:
    """Return whether Kubernetes itself defines the resource name ``name`` for quotas."""
    return name in _STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


def _amounts_errors(amounts: Mapping[str, str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, amount in amounts.items():
        at = f"{path}[{name}]"
        errors += resource_name_errors(name, at)
        if "/" not in name and not is_standard(name):
            errors.append(invalid(at, name, "must be a standard resource for quota"))
        errors += amount_errors(name, amount, at)
    return errors


def _errors(quota: Object) -> list[FieldError]:
    spec = quota.get("spec") or {}
    hard = spec.get("hard") or {}
    errors = _amounts_errors(hard, "spec.hard")
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _RESOURCES_IN_SCOPE:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        why = "unsupported scope applied to resource"
        errors += [invalid("spec.scopes", scopes, why)] * _misplaced(scope, hard)
    errors += _conflicts(scopes, "spec.scopes", scopes)
    if (selector := spec.get("scopeSelector")) is not None:
        errors += _selector_errors(selector, hard, scopes)
    return errors


def _misplaced(scope: str, hard: Mapping[str, str]) -> int:
    """Return how many of the standard resources in ``hard`` cannot be limited in ``scope``."""
    known = _RESOURCES_IN_SCOPE.get(scope)
    return 0 if known is None else sum(is_standard(each) and each not in known for each in hard)


def _conflicts(scopes: list[str], path: str, shown: list[str]) -> list[FieldError]:
    return [
        invalid(path, shown or None, "conflicting scopes")
        for pair in _EXCLUSIVE
        if pair <= set(scopes)
    ]


def _selector_errors(
    selector: Object, hard: Mapping[str, str], scopes: list[str]
) -> list[FieldError]:
    errors: list[FieldError] = []
    path = "spec.scopeSelector.matchExpressions"
    rules = selector.get("matchExpressions") or []
    for rule in rules:
        scope, operator = rule.get("scopeName", ""), rule.get("operator", "")
        if scope not in _RESOURCES_IN_SCOPE:
            errors.append(invalid(f"{path}.scopeName", scope, "unsupported scope"))
        shown = go_form("ScopeSelector", selector)
        why = "unsupported scope applied to resource"
        errors += [invalid(path, shown, why)] * _misplaced(scope, hard)
        if scope in _EXISTS_ONLY_SCOPES and operator != "Exists":
            why = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
                " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
                " ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            errors.append(invalid(f"{path}.operator", operator, why))
        errors += _operator_errors(operator, rule.get("values") or [], path)
    return errors + _conflicts([each.get("scopeName", "") for each in rules], path, scopes)


def _operator_errors(operator: str, values: list[str], path: str) -> list[FieldError]:
    if operator in ("In", "NotIn"):
        why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        return [] if values else [required(f"{path}.values", why)]
    if operator in ("Exists", "DoesNotExist"):
        why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        return [invalid(f"{path}.values", values, why)] if values else []
    return [invalid(f"{path}.operator", operator, "not a valid selector operator")]


def _change_errors(quota: Object, old: Object) -> list[FieldError]:
    scopes, was = ((each.get("spec") or {}).get("scopes") for each in (quota, old))
    if set(scopes or ()) == set(was or ()):
        return []
    return [immutable("spec.scopes", scopes)]


def _status_errors(quota: Object, _: Object) -> list[FieldError]:
    status = quota.get("status") or {}
    return [
        *_amounts_errors(status.get("hard") or {}, "status.hard"),
        *_amounts_errors(status.get("used") or {}, "status.used"),
    ]


RESOURCE_QUOTA = Strategy(
    validate=_errors,
    validate_update=_change_errors,
    validate_status=_status_errors,
    name_errors=subdomain_name,
    has_status=True,
    return_deleted_object=True,
)
