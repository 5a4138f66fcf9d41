"""Validation of Services."""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Final

import msgspec

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.label_selectors import label_errors
from steersman_cluster.apiserver.builtin.network.service_addresses import (
    WITHOUT_ADDRESS,
    address_change_errors,
    is_headless,
)
from steersman_cluster.apiserver.builtin.network.service_ports import needs_health_check
from steersman_cluster.apiserver.builtin.pods.probes import port_messages
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    cidr,
    dns_label,
    dns_subdomain,
    ip,
    label_key,
    port_number,
    sloppy_ip,
)
from steersman_cluster.apiserver.meta.strategy import Object

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
PROTOCOLS = ("SCTP", "TCP", "UDP")
MAX_AFFINITY_SECONDS = 86400

TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"

BALANCED_ONLY = "may only be used when `type` is 'LoadBalancer'"


def service_errors(service: Object) -> list[FieldError]:
    """Return all errors in a Service, in kube-apiserver's order."""
    spec = service["spec"]
    return [
        *_annotation_errors(service),
        *_type_errors(spec),
        *_SPEC(spec, "spec", spec),
        *_AFTER_ADDRESSES(spec, "spec"),
        *_node_port_errors(spec),
        *_balancer_errors(service),
        *_traffic_errors(spec),
    ]


def service_change_errors(service: Object, old_service: Object) -> list[FieldError]:
    """Return the errors for forbidden changes in an update of a Service."""
    spec, old = service["spec"], old_service["spec"]
    errors = address_change_errors(spec, old)
    balanced = spec.get("type") == old.get("type") == "LoadBalancer"
    wanted = spec.get("loadBalancerClass")
    if balanced and wanted != old.get("loadBalancerClass"):
        errors.append(invalid("spec.loadBalancerClass", wanted, "may not change once set"))
    errors += _balancer_class_errors(spec)
    checked = needs_health_check(old) and needs_health_check(spec)
    if checked and spec.get("healthCheckNodePort") != old.get("healthCheckNodePort"):
        errors.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return errors


def service_status_errors(service: Object, old: Object) -> list[FieldError]:
    """Return the errors in the status, which the controller of a load balancer writes."""
    known = {each.get("ip") for each in _ingress(old)}
    ingress = list(_ingress(service))
    if ingress and service["spec"].get("type") != "LoadBalancer":
        problem = "may only be used when `spec.type` is 'LoadBalancer'"
        return [forbidden("status.loadBalancer.ingress", problem)]
    return _POINTS(ingress, "status.loadBalancer.ingress", known)


def _ingress(service: Object) -> Iterator[Object]:
    yield from service.get("status", {}).get("loadBalancer", {}).get("ingress", ())


def _point_errors(point: Object, path: str, known: set[str | None]) -> Iterator[FieldError]:
    address, mode = point.get("ip", ""), point.get("ipMode")
    if address not in known:
        yield from _POINT_ADDRESS(point, path)
    if mode is not None and not address:
        yield forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set")
    else:
        # The defaults set the mode of an address.
        yield from _POINT_MODE(point, path)
    yield from _POINT_NAME(point, path)


_POINT_ADDRESS: Final = rule.optional("ip", ip)
_POINT_MODE: Final = rule.given("ipMode", rule.enum("Proxy", "VIP"))
_POINT_NAME: Final = rule.optional(
    "hostname",
    dns_subdomain,
    rule.must(lambda name: sloppy_ip(name) is None, "must be a DNS name, not an IP address"),
)


_POINTS: Final = rule.each(rule.scoped(_point_errors))


def _annotation_errors(service: Object) -> Iterator[FieldError]:
    annotations = service["metadata"].get("annotations", {})
    mode, hints = annotations.get(TOPOLOGY_MODE), annotations.get(TOPOLOGY_HINTS)
    if mode is not None and hints is not None and mode != hints:
        problem = f"must match annotations[{TOPOLOGY_HINTS}] when both are specified"
        yield invalid(f"metadata.annotations[{TOPOLOGY_MODE}]", mode, problem)


def _type_errors(spec: Object) -> Iterator[FieldError]:
    kind = spec.get("type")
    if not spec.get("ports") and not is_headless(spec) and kind != WITHOUT_ADDRESS:
        yield required("spec.ports")
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        problem = f"may not be set to 'None' for {kind} services"
        yield invalid("spec.clusterIPs[0]", "None", problem)
    if kind == WITHOUT_ADDRESS:
        for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(field):
                yield forbidden(f"spec.{field}", "may not be set for ExternalName services")
        # A trailing dot marks a fully qualified name.
        name = spec.get("externalName", "").removesuffix(".")
        if name:
            yield from all_invalid("spec.externalName", name, dns_subdomain(name))
        else:
            yield required("spec.externalName")


def _unnamed_port_errors(port: Object, path: str, spec: Object) -> Iterator[FieldError]:
    if not port.get("name") and len(spec["ports"]) > 1:
        yield required(f"{path}.name")


def _external_ip_messages(address: str) -> list[str]:
    return ip(address) or special_address(address)


# The scope is the spec.
_SPEC: Final = rule.table(
    rule.given(
        "ports",
        rule.each(
            rule.scoped(_unnamed_port_errors),
            rule.optional("name", dns_label, rule.unique()),
            rule.always("port", port_number, default=0),
            rule.optional("protocol", rule.enum(*PROTOCOLS)),
            rule.always("targetPort", port_messages, default=0),
            rule.given("appProtocol", label_key),
        ),
    ),
    rule.given("selector", rule.code(label_errors)),
    rule.optional("sessionAffinity", rule.enum("ClientIP", "None")),
    rule.when(
        # The defaults set the configuration exactly for this affinity.
        lambda spec: spec.get("sessionAffinity") == "ClientIP",
        rule.given(
            "sessionAffinityConfig.clientIP.timeoutSeconds",
            rule.must(
                lambda seconds: 0 < seconds <= MAX_AFFINITY_SECONDS,
                f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}",
            ),
        ),
    ),
)
_AFTER_ADDRESSES: Final = rule.table(
    rule.given("externalIPs", rule.each(_external_ip_messages)),
    rule.optional("type", rule.enum(*TYPES)),
)


def special_address(address: str) -> list[str]:
    """Return why ``address``, a valid IP address, cannot be that of an endpoint or external IP."""
    found = ip_address(address)
    if found.is_unspecified:
        return [f"may not be unspecified ({address})"]
    if found.is_loopback:
        return ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]
    if found.is_link_local:
        return ["may not be in the link-local range (169.254.0.0/16, fe80::/10)"]
    local_multicast = "224.0.0.0/24" if found.version == 4 else "ff02::/16"
    if found in ip_network(local_multicast):
        return ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]
    return []


def _node_port_errors(spec: Object) -> Iterator[FieldError]:
    ports = list(enumerate(spec.get("ports", ())))
    if spec.get("type") == "ClusterIP":
        problem = "may not be used when `type` is 'ClusterIP'"
        for index, port in ports:
            if port.get("nodePort"):
                yield forbidden(f"spec.ports[{index}].nodePort", problem)
    seen: set[tuple[str, int]] = set()
    for index, port in ports:
        if node_port := port.get("nodePort"):
            key = (port.get("protocol", ""), node_port)
            if key in seen:
                yield duplicate(f"spec.ports[{index}].nodePort", node_port)
            seen.add(key)
    seen.clear()
    for index, port in ports:
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            yield duplicate(f"spec.ports[{index}]", _internal_form(*key))
        seen.add(key)


def _internal_form(protocol: str, port: int) -> msgspec.Raw:
    # kube-apiserver prints its internal type: field names in Go's case, and all fields.
    shown = {
        "Name": "",
        "Protocol": protocol,
        "AppProtocol": None,
        "Port": port,
        "TargetPort": 0,
        "NodePort": 0,
    }
    return msgspec.Raw(msgspec.json.encode(shown))


def _balancer_errors(service: Object) -> Iterator[FieldError]:
    spec = service["spec"]
    balanced = spec.get("type") == "LoadBalancer"
    annotated = service["metadata"].get("annotations", {}).get(SOURCE_RANGES)
    # kube-apiserver's error has the capital letter.
    at, ranges = "spec.LoadBalancerSourceRanges", spec.get("loadBalancerSourceRanges", [])
    if ranges or annotated is not None:
        if not ranges:
            at = f"metadata.annotations[{SOURCE_RANGES}]"
        if not balanced:
            yield forbidden(at, BALANCED_ONLY)
        for index, each in enumerate(ranges or (annotated or "").strip().split(",")):
            place, written = f"{at}[{index}]" if ranges else at, each.strip()
            if written or ranges:
                yield from all_invalid(place, written, cidr(written))
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        yield forbidden("spec.allocateLoadBalancerNodePorts", BALANCED_ONLY)
    yield from _balancer_class_errors(spec)


def _balancer_class_errors(spec: Object) -> Iterator[FieldError]:
    wanted = spec.get("loadBalancerClass")
    if wanted is None:
        return
    if spec.get("type") == "LoadBalancer":
        yield from all_invalid("spec.loadBalancerClass", wanted, label_key(wanted))
    else:
        yield forbidden("spec.loadBalancerClass", BALANCED_ONLY)


_EXTERNAL_TRAFFIC: Final = rule.optional("externalTrafficPolicy", rule.enum("Cluster", "Local"))
_DISTRIBUTION: Final = rule.table(
    rule.given("internalTrafficPolicy", rule.enum("Cluster", "Local")),
    rule.given("trafficDistribution", rule.enum("PreferClose", "PreferSameZone", "PreferSameNode")),
)


def _traffic_errors(spec: Object) -> Iterator[FieldError]:
    external = spec.get("externalTrafficPolicy", "")
    if is_reachable_from_outside(spec):
        yield from _EXTERNAL_TRAFFIC(spec, "spec")
    elif external:
        problem = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", external, problem)
    port = spec.get("healthCheckNodePort", 0)
    if not needs_health_check(spec):
        if port:
            problem = (
                "may only be set when `type` is 'LoadBalancer'"
                " and `externalTrafficPolicy` is 'Local'"
            )
            yield invalid("spec.healthCheckNodePort", port, problem)
    else:
        yield from all_invalid("spec.healthCheckNodePort", port, port_number(port))
    yield from _DISTRIBUTION(spec, "spec")


def is_reachable_from_outside(spec: Object) -> bool:
    """Return whether the Service may receive traffic from outside the cluster."""
    kind = spec.get("type")
    plain_with_addresses = kind == "ClusterIP" and spec.get("externalIPs")
    return bool(kind in ("LoadBalancer", "NodePort") or plain_with_addresses)
