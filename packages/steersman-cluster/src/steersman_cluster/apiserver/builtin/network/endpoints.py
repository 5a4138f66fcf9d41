"""Endpoints and EndpointSlices: the addresses behind a Service."""

from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from typing import Final

from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.network.address_forms import address_warnings, is_address
from steersman_cluster.apiserver.builtin.network.service_validation import special_address
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
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

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
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


def _endpoints_errors(endpoints: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        path = f"subsets[{index}]"
        if not any(subset.get(kind) for kind in _KINDS):
            errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for kind in _KINDS:
            for at, address in enumerate(subset.get(kind) or ()):
                errors += _address_errors(address, f"{path}.{kind}[{at}]")
        ports = subset.get("ports") or ()
        for at, port in enumerate(ports):
            errors += _port_errors(port, f"{path}.ports[{at}]", needs_name=len(ports) > 1)
    return errors


def _address_errors(address: Object, path: str) -> list[FieldError]:
    value, host, node = address.get("ip", ""), address.get("hostname"), address.get("nodeName")
    errors = all_invalid(f"{path}.ip", value, ip(value))
    if host:
        errors += all_invalid(f"{path}.hostname", host, dns_label(host))
    if node is not None:
        errors += all_invalid(f"{path}.nodeName", node, dns_subdomain(node))
    if not is_address(value):
        errors.append(invalid(f"{path}.ip", value, "must be a valid IP address"))
    elif not errors:
        errors += all_invalid(f"{path}.ip", value, special_address(value))
    return errors


def _port_errors(port: Object, path: str, *, needs_name: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, number = port.get("name"), port.get("port", 0)
    if name:
        errors += all_invalid(f"{path}.name", name, dns_label(name))
    elif needs_name:
        errors.append(required(f"{path}.name"))
    errors += all_invalid(f"{path}.port", number, port_number(number))
    return errors + _protocol_errors(port, path)


def _protocol_errors(port: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    protocol, application = port.get("protocol"), port.get("appProtocol")
    if protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if application is not None:
        errors += all_invalid(f"{path}.appProtocol", application, label_key(application))
    return errors


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


def _slice_errors(endpoint_slice: Object) -> list[FieldError]:
    kind = endpoint_slice.get("addressType", "")
    errors: list[FieldError] = []
    if not kind:
        errors.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        errors.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    errors += _slice_port_errors(endpoint_slice.get("ports") or [])
    endpoints = endpoint_slice.get("endpoints") or []
    if len(endpoints) > _MAX_ENDPOINTS:
        return [*errors, too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)]
    for index, endpoint in enumerate(endpoints):
        errors += _endpoint_errors(endpoint, kind, f"endpoints[{index}]")
    return errors


def _slice_port_errors(ports: list[Object]) -> list[FieldError]:
    if len(ports) > _MAX_PORTS:
        return [too_many("ports", len(ports), _MAX_PORTS)]
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port.get("name", "")
        if name:
            errors += all_invalid(f"{path}.name", name, dns_label(name))
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
        errors += _protocol_errors(port, path)
    return errors


def _endpoint_errors(endpoint: Object, kind: str, path: str) -> list[FieldError]:
    addresses = endpoint.get("addresses") or []
    errors: list[FieldError] = []
    if not addresses:
        errors.append(required(f"{path}.addresses", "must contain at least 1 address"))
    elif len(addresses) > _MAX_ADDRESSES:
        errors.append(too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES))
    for index, address in enumerate(addresses):
        errors += _slice_address_errors(address, kind, f"{path}.addresses", index)
    node, host = endpoint.get("nodeName"), endpoint.get("hostname")
    if node is not None:
        errors += all_invalid(f"{path}.nodeName", node, dns_subdomain(node))
    if host is not None:
        errors += all_invalid(f"{path}.hostname", host, dns_label(host))
    if (hints := endpoint.get("hints")) is not None:
        errors += _hint_errors(hints, f"{path}.hints")
    return errors


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


def _hint_errors(hints: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field, check in (("forZones", label_value), ("forNodes", dns_subdomain)):
        named = hints.get(field) or ()
        if len(named) > _MAX_HINTS:
            return [*errors, too_many(f"{path}.{field}", len(named), _MAX_HINTS)]
        seen: set[str] = set()
        for index, each in enumerate(named):
            at, name = f"{path}.{field}[{index}].name", each.get("name", "")
            if name in seen:
                errors.append(duplicate(at, name))
            seen.add(name)
            errors += all_invalid(at, name, check(name))
    return errors


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
    validate=_endpoints_errors,
    warnings=_endpoints_warnings,
    name_errors=subdomain_name,
    allow_create_on_update=True,
)
ENDPOINT_SLICE = Strategy(
    default=_default_slice,
    name_errors=subdomain_name,
    prepare_create=_prepare_slice,
    prepare_update=_prepare_slice_update,
    validate=_slice_errors,
    validate_update=keeps({"addressType": ""}),
    warnings=_slice_warnings,
    generation_fields=("addressType", "endpoints", "ports"),
)
