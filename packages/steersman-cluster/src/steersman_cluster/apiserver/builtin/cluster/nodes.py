"""Nodes: their defaults, and their immutable fields."""

import re
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Final

from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.network.address_forms import network_warnings
from steersman_cluster.apiserver.builtin.pods.resource_amounts import amount_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    internal,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    MAX_SUBDOMAIN,
    cidr,
    label_key,
    label_value,
    sloppy_cidr,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

NOT_READY: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNIQUE: Final = "taints must be unique by key and effect pair"
_is_feature = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*").fullmatch


def _default(node: Object) -> None:
    status, spec = node.get("status", {}), node.get("spec") or {}
    if "capacity" in status:
        fill(status, allocatable=dict(status["capacity"]))
    # podCIDR and the first of podCIDRs must be equal; podCIDR takes precedence.
    first, ranges = spec.get("podCIDR"), spec.get("podCIDRs")
    if first and (not ranges or ranges[0] != first):
        spec["podCIDRs"] = [first]
    elif ranges:
        spec["podCIDR"] = ranges[0]


def _admit(node: Object, old: Object | None, _: StrategyContext) -> None:
    if old is not None:
        return
    # The admission plugin TaintNodesByCondition: no Pods before the Node reports that it is ready.
    taints = node.setdefault("spec", {}).get("taints", [])
    if not any(each.items() >= NOT_READY.items() for each in taints):
        node["spec"]["taints"] = [*taints, dict(NOT_READY)]


def _prepare_create(node: Object, _: StrategyContext) -> None:
    # Fields of the removed DynamicKubeletConfig.
    (node.get("spec") or {}).pop("configSource", None)
    (node.get("status") or {}).pop("config", None)


def _prepare_update(node: Object, old: Object, _: StrategyContext) -> None:
    if "configSource" not in (old.get("spec") or {}):
        (node.get("spec") or {}).pop("configSource", None)


def _prepare_status(node: Object, old: Object, _: StrategyContext) -> None:
    if "config" not in (old.get("status") or {}):
        (node.get("status") or {}).pop("config", None)


def _errors(node: Object) -> list[FieldError]:
    spec, status = node.get("spec") or {}, node.get("status") or {}
    errors = _taint_errors(spec.get("taints") or [])
    errors += _amount_errors(status)
    swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None and swap <= 0:
        errors.append(
            invalid("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero")
        )
    errors += _feature_errors(status.get("declaredFeatures") or [])
    return errors + _range_errors(spec.get("podCIDRs") or [])


def _taint_errors(taints: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        path = f"metadata.taints[{index}]"  # the path in kube-apiserver's errors
        key, effect, value = (taint.get(each, "") for each in ("key", "effect", "value"))
        errors += all_invalid(f"{path}.key", key, label_key(key))
        if wrong := label_value(value):
            errors.append(invalid(f"{path}.value", value, ";".join(wrong)))
        if not effect:
            errors.append(required(f"{path}.effect"))
        elif effect not in _EFFECTS:
            errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))
        if (key, effect) in seen:
            errors.append(duplicate(path, go_form("Taint", taint))._replace(detail=_UNIQUE))
        seen.add((key, effect))
    return errors


def _amount_errors(status: Object) -> list[FieldError]:
    return [
        error
        for part in ("capacity", "allocatable")
        for name, amount in (status.get(part) or {}).items()
        for error in amount_errors(name, amount, f"status.{part}.{name}")
    ]


def _feature_errors(features: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    path = "status.declaredFeatures"
    for index, feature in enumerate(features):
        if wrong := _feature_problem(feature):
            why = f'invalid feature name "{feature}": {wrong}'
            errors.append(invalid(f"{path}[{index}]", feature, why))
        following = features[index + 1 : index + 2]
        if following == [feature]:
            errors.append(duplicate(f"{path}[{index + 1}]", feature))
        elif following and feature > following[0]:
            why = "list must be sorted alphabetically"
            errors.append(invalid(f"{path}[{index + 1}]", following[0], why))
    return errors


def _feature_problem(feature: str) -> str:
    if len(feature.encode()) > MAX_SUBDOMAIN:
        return f"must be no more than {MAX_SUBDOMAIN} characters"
    if _is_feature(feature):
        return ""
    return (
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/'"
        " (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and"
        " slashes"
    )


def _range_errors(ranges: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, each in enumerate(ranges):
        errors += all_invalid(f"spec.podCIDRs[{index}]", each, cidr(each))
    if len(ranges) < 2:
        return errors
    families: set[type] = set()
    for index, each in enumerate(ranges):
        if (found := sloppy_cidr(each)) is None:
            why = (
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR"
                f"[{index}]: <nil> (invalid CIDR address: {each})"
            )
            errors.append(internal("spec.podCIDRs", why))
            families.clear()
            break
        families.add(IPv4Address if isinstance(found[0], IPv4Address) else object)
    if len(families) < 2 or len(ranges) > 2:
        why = "may specify no more than one CIDR for each IP family"
        errors.append(invalid("spec.podCIDRs", ranges, why))
    return errors


def _change_errors(node: Object, old: Object) -> list[FieldError]:
    """Return the errors for changes of fields that are immutable once set."""
    spec, was = node.get("spec") or {}, old.get("spec") or {}
    status = node.get("status") or {}
    # kube-apiserver validates these a second time.
    errors = _amount_errors(status)
    errors += _feature_errors(status.get("declaredFeatures") or [])
    errors += _address_errors(status.get("addresses") or [])
    ranges, before = spec.get("podCIDRs") or [], was.get("podCIDRs") or []
    changes = sum(a != b for a, b in zip(ranges, before, strict=False))
    if len(ranges) != len(before):
        changes = 1 if before else 0
    why = 'node updates may not change {} except from "" to valid'
    errors += [forbidden("spec.podCIDRs", why.format("podCIDR"))] * changes
    if was.get("providerID") and spec.get("providerID") != was["providerID"]:
        errors.append(forbidden("spec.providerID", why.format("providerID")))
    errors += _taint_errors(spec.get("taints") or [])
    if spec.get("externalID", "") != was.get("externalID", ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _address_errors(addresses: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            shown = go_form("NodeAddress", address)
            errors.append(duplicate(f"status.addresses[{index}]", shown))
    return errors


def _warnings(node: Object, _: Object | None) -> list[str]:
    spec = node.get("spec") or {}
    warnings: list[str] = []
    if spec.get("configSource") is not None:
        warnings.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        warnings.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for index, each in enumerate(spec.get("podCIDRs") or ()):
        warnings += network_warnings(f"spec.podCIDRs[{index}]", each)
    return warnings


def _selectable(node: Object) -> Mapping[str, str]:
    unschedulable = node.get("spec", {}).get("unschedulable", False)
    return {
        "metadata.name": node["metadata"].get("name", ""),
        "spec.unschedulable": "true" if unschedulable else "false",
    }


NODE = Strategy(
    default=_default,
    admit=_admit,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    prepare_status=_prepare_status,
    validate=_errors,
    validate_update=_change_errors,
    validate_status=_change_errors,
    warnings=_warnings,
    name_errors=subdomain_name,
    selectable=_selectable,
    has_status=True,
    status_on_create=True,
)
