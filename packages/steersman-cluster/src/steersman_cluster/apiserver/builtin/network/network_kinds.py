"""IPAddresses and ServiceCIDRs: the cluster IPs of Services, and the ranges of these IPs."""

from collections.abc import Mapping
from typing import Any, Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    immutable,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    canonical_cidr,
    canonical_ip,
    dns_subdomain,
    path_segment,
    sloppy_cidr,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy


def _parent(address: Object) -> Mapping[str, Any] | None:
    return (address.get("spec") or {}).get("parentRef")


_ADDRESS: Final = rule.needed(
    "spec.parentRef",
    rule.optional("group", dns_subdomain),
    rule.required("resource", path_segment),
    rule.required("name", path_segment),
    rule.optional("namespace", path_segment),
)


def _address_change_errors(address: Object, old: Object) -> list[FieldError]:
    parent = _parent(address)
    if parent == _parent(old):
        return []
    shown = None if parent is None else go_form("ParentReference", dict(parent))
    return [immutable("spec.parentRef", shown)]


def _address_name(name: str, _is_prefix: bool) -> list[str]:
    return canonical_ip(name)


def _ranges(service_cidr: Object) -> list[str]:
    return (service_cidr.get("spec") or {}).get("cidrs") or []


def _range_errors(service_cidr: Object) -> list[FieldError]:
    path, ranges = "spec.cidrs", _ranges(service_cidr)
    if not ranges:
        return [required(path, "at least one CIDR required")]
    if len(ranges) > 2:
        spec = go_form("ServiceCIDRSpec", service_cidr["spec"])
        return [invalid(path, spec, "may only hold up to 2 values")]
    errors: list[FieldError] = []
    for index, each in enumerate(ranges):
        errors += all_invalid(f"{path}[{index}]", each, canonical_cidr(each))
    found = [each for each in map(sloppy_cidr, ranges) if each is not None]
    if len(found) == 2 and found[0][0].version == found[1][0].version:
        why = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and"
            " 2001:db8::/64"
        )
        errors.append(invalid(path, ranges, why))
    return errors


def _range_change_errors(service_cidr: Object, old: Object) -> list[FieldError]:
    """Return the errors for changed ranges; only the addition of a second range is permitted."""
    now, before = _ranges(service_cidr), _ranges(old)
    joined = (len(before), len(now)) == (1, 2)
    if len(now) != len(before) and not joined:
        return [immutable("spec.cidrs", now or None)]
    errors = [
        immutable(f"spec.cidrs[{index}]", now[index])
        for index, cidr in enumerate(before)
        if now[index] != cidr
    ]
    return errors + (_range_errors(service_cidr) if joined else [])


IP_ADDRESS = Strategy(
    validate=_ADDRESS,
    validate_update=_address_change_errors,
    name_errors=_address_name,
    generates_names=False,
)
SERVICE_CIDR = Strategy(
    validate_create=_range_errors,
    validate_update=_range_change_errors,
    name_errors=subdomain_name,
    has_status=True,
)
