"""Endpoints and EndpointSlices: the addresses behind a Service."""

from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.network.address_forms import address_warnings, is_address
from steersman_cluster.apiserver.builtin.network.service_validation import special_address
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    canonical_ip,
    dns_label,
    dns_subdomain,
    ip,
    label_key,
    label_value,
    port_number,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
_SLICE_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
# No warnings for the slices of these controllers: they write many, with canonical addresses.
_CONTROLLERS: Final = (
    "endpointslice-controller.k8s.io",
    "endpointslicemirroring-controller.k8s.io",
)
_MAX_ADDRESSES: Final = 100
_MAX_PORTS: Final = 20000
_MAX_ENDPOINTS: Final = 1000
_MAX_HINTS: Final = 8
_KINDS: Final = ("addresses", "notReadyAddresses")


def _default_endpoints(endpoints: Object) -> None:
    for subset in endpoints.get("subsets", ()):
        for port in subset.get("ports", ()):
            fill_empty(port, protocol="TCP")


def _subset_errors(subset: Object, path: str) -> Iterator[FieldError]:
    if not any(subset.get(kind) for kind in _KINDS):
        yield required(path, "must specify `addresses` or `notReadyAddresses`")


def _special_errors(address: Object, path: str) -> list[FieldError]:
    value = address.get("ip", "")
    if not is_address(value):
        return [invalid(f"{path}.ip", value, "must be a valid IP address")]
    return all_invalid(f"{path}.ip", value, special_address(value))


def _port_name_errors(subset: Object, path: str) -> Iterator[FieldError]:
    ports = subset.get("ports") or ()
    for index, port in enumerate(ports):
        if not port.get("name") and len(ports) > 1:
            yield required(f"{path}.ports[{index}].name")
        yield from _PORT(port, f"{path}.ports[{index}]")


_PROTOCOL: Final = rule.table(
    rule.always("protocol", rule.enum("SCTP", "TCP", "UDP"), default=None),
    rule.given("appProtocol", label_key),
)
_PORT: Final = rule.table(
    rule.optional("name", dns_label), rule.always("port", port_number, default=0), _PROTOCOL
)
_ADDRESS: Final = rule.table(
    rule.always("ip", ip),
    rule.optional("hostname", dns_label),
    rule.given("nodeName", dns_subdomain),
)
_ADDRESSES: Final = rule.each(
    rule.when(
        lambda address: not is_address(address.get("ip", "")),
        _ADDRESS,
        rule.code(_special_errors),
        otherwise=[rule.first(_ADDRESS, rule.code(_special_errors))],
    )
)
_ENDPOINTS: Final = rule.given(
    "subsets",
    rule.each(
        rule.code(_subset_errors),
        rule.given("addresses", _ADDRESSES),
        rule.given("notReadyAddresses", _ADDRESSES),
        rule.code(_port_name_errors),
    ),
)


def _endpoints_warnings(endpoints: Object, _: Object | None) -> list[str]:
    labels = endpoints["metadata"].get("labels") or {}
    if labels.get(_MANAGED_BY) == "endpoint-controller":
        return []
    return [
        warning
        for index, subset in enumerate(endpoints.get("subsets") or ())
        for kind in _KINDS
        for at, address in enumerate(subset.get(kind) or ())
        for warning in address_warnings(f"subsets[{index}].{kind}[{at}].ip", address["ip"])
    ]


def _default_slice(endpoint_slice: Object) -> None:
    for port in endpoint_slice.get("ports") or ():
        fill(port, name="", protocol="TCP")


def _prepare_slice(endpoint_slice: Object, _: StrategyContext) -> None:
    for endpoint in endpoint_slice.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _prepare_slice_update(endpoint_slice: Object, old: Object, around: StrategyContext) -> None:
    # The only kind for which changed labels increment the generation.
    about, was = endpoint_slice["metadata"], old["metadata"]
    if about.get("labels") != was.get("labels"):
        about["generation"] = was.get("generation", 0) + 1
    _prepare_slice(endpoint_slice, around)


def _slice_address_errors(address: str, kind: str, path: str, index: int) -> Iterator[FieldError]:
    at = f"{path}[{index}]"
    if kind == "FQDN":
        yield from _domain_errors(address, at)
    elif kind in ("IPv4", "IPv6"):
        if wrong := (ip if kind == "IPv4" else canonical_ip)(address):
            yield from all_invalid(at, address, wrong)
            return
        if isinstance(ip_address(address), IPv6Address) != (kind == "IPv6"):
            yield invalid(path, address, f"must be an {kind} address")
        yield from all_invalid(at, address, special_address(address))


def _domain_errors(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    name = name.removesuffix(".")
    if wrong := dns_subdomain(name):
        return [invalid(path, name, ",".join(wrong))]
    parts = name.split(".")
    if len(parts) < 2:
        why = "should be a domain with at least two segments separated by dots"
        return [invalid(path, name, why)]
    wrong_parts = ((part, dns_label(part)) for part in parts)
    return [invalid(path, part, ",".join(wrong)) for part, wrong in wrong_parts if wrong][:1]


def _endpoint_address_errors(
    addresses: list[str], path: str, endpoint_slice: Object
) -> Iterator[FieldError]:
    kind = endpoint_slice.get("addressType", "")
    for index, address in enumerate(addresses):
        yield from _slice_address_errors(address, kind, path, index)


_ZONES: Final = rule.given(
    "forZones",
    rule.first(
        rule.max_items(_MAX_HINTS), rule.each(rule.always("name", rule.unique(), label_value))
    ),
)
_NODES: Final = rule.given(
    "forNodes",
    rule.first(
        rule.max_items(_MAX_HINTS), rule.each(rule.always("name", rule.unique(), dns_subdomain))
    ),
)
# The scope is the EndpointSlice.
_SLICE: Final = rule.table(
    rule.required("addressType", rule.enum("FQDN", "IPv4", "IPv6")),
    rule.given(
        "ports",
        rule.first(
            rule.max_items(_MAX_PORTS),
            rule.each(
                rule.optional("name", dns_label), rule.always("name", rule.unique()), _PROTOCOL
            ),
        ),
    ),
    rule.given(
        "endpoints",
        rule.first(
            rule.max_items(_MAX_ENDPOINTS),
            rule.each(
                rule.required(
                    "addresses",
                    rule.max_items(_MAX_ADDRESSES),
                    rule.scoped(_endpoint_address_errors),
                    detail="must contain at least 1 address",
                ),
                rule.given("nodeName", dns_subdomain),
                rule.given("hostname", dns_label),
                rule.given(
                    "hints",
                    rule.when(
                        lambda hints: len(hints.get("forZones") or ()) > _MAX_HINTS,
                        _ZONES,
                        otherwise=[_ZONES, _NODES],
                    ),
                ),
            ),
        ),
    ),
)


def _slice_warnings(endpoint_slice: Object, old: Object | None) -> list[str]:
    labels = endpoint_slice["metadata"].get("labels") or {}
    warnings: list[str] = []
    if old is None and endpoint_slice.get("addressType") == "FQDN":
        warnings.append("spec.addressType: FQDN endpoints are deprecated")
    if labels.get(_SLICE_MANAGED_BY) in _CONTROLLERS:
        return warnings
    return warnings + [
        warning
        for index, endpoint in enumerate(endpoint_slice.get("endpoints") or ())
        for at, address in enumerate(endpoint.get("addresses") or ())
        for warning in address_warnings(f"endpoints[{index}].addresses[{at}]", address)
    ]


ENDPOINTS = Strategy(
    default=_default_endpoints,
    validate=_ENDPOINTS,
    warnings=_endpoints_warnings,
    name_errors=subdomain_name,
    allow_create_on_update=True,
)
ENDPOINT_SLICE = Strategy(
    default=_default_slice,
    name_errors=subdomain_name,
    prepare_create=_prepare_slice,
    prepare_update=_prepare_slice_update,
    validate=lambda endpoint_slice: _SLICE(endpoint_slice, "", endpoint_slice),
    validate_update=keeps({"addressType": ""}),
    warnings=_slice_warnings,
    generation_fields=("addressType", "endpoints", "ports"),
)
