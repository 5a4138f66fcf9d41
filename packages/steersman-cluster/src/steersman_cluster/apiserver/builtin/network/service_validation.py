"""Validation of Services."""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

import msgspec

from steersman_cluster.apiserver.builtin.label_selectors import label_errors
from steersman_cluster.apiserver.builtin.network.service_addresses import (
    WITHOUT_ADDRESS,
    address_change_errors,
    address_errors,
    is_headless,
)
from steersman_cluster.apiserver.builtin.network.service_ports import needs_health_check
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    cidr,
    dns_label,
    dns_subdomain,
    ip,
    label_key,
    port_name,
    port_number,
    sloppy_ip,
)
from steersman_cluster.apiserver.meta.strategy import Object

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
PROTOCOLS = ("SCTP", "TCP", "UDP")
AFFINITIES = ("ClientIP", "None")
TRAFFIC_POLICIES = ("Cluster", "Local")
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
IP_MODES = ("Proxy", "VIP")
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
        *_ports_errors(spec),
        *label_errors(spec.get("selector", {}), "spec.selector"),
        *_affinity_errors(spec),
        *address_errors(spec, None),
        *_external_ip_errors(spec),
        *_unknown("spec.type", spec.get("type", ""), TYPES),
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
    return [
        error for place, each in enumerate(ingress) for error in _point_errors(place, each, known)
    ]


def _ingress(service: Object) -> Iterator[Object]:
    yield from service.get("status", {}).get("loadBalancer", {}).get("ingress", ())


def _point_errors(place: int, point: Object, known: set[str | None]) -> Iterator[FieldError]:
    at = f"status.loadBalancer.ingress[{place}]"
    address, mode, hostname = point.get("ip", ""), point.get("ipMode"), point.get("hostname", "")
    if address and address not in known:
        yield from all_invalid(f"{at}.ip", address, ip(address))
    if mode is None:
        if address:
            yield required(f"{at}.ipMode", "must be specified when `ip` is set")
    elif not address:
        yield forbidden(f"{at}.ipMode", "may not be specified when `ip` is not set")
    elif mode not in IP_MODES:
        yield not_supported(f"{at}.ipMode", mode, IP_MODES)
    if hostname:
        yield from all_invalid(f"{at}.hostname", hostname, dns_subdomain(hostname))
        if sloppy_ip(hostname) is not None:
            yield invalid(f"{at}.hostname", hostname, "must be a DNS name, not an IP address")


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


def _ports_errors(spec: Object) -> Iterator[FieldError]:
    ports = spec.get("ports", ())
    names: set[str] = set()
    for index, port in enumerate(ports):
        at = f"spec.ports[{index}]"
        name, number = port.get("name", ""), port.get("port", 0)
        if name:
            yield from all_invalid(f"{at}.name", name, dns_label(name))
            if name in names:
                yield duplicate(f"{at}.name", name)
            names.add(name)
        elif len(ports) > 1:
            yield required(f"{at}.name")
        yield from all_invalid(f"{at}.port", number, port_number(number))
        yield from _unknown(f"{at}.protocol", port.get("protocol", ""), PROTOCOLS)
        target = port.get("targetPort", 0)
        problems = port_name(target) if isinstance(target, str) else port_number(target)
        yield from all_invalid(f"{at}.targetPort", target, problems)
        if (protocol := port.get("appProtocol")) is not None:
            yield from all_invalid(f"{at}.appProtocol", protocol, label_key(protocol))


def _affinity_errors(spec: Object) -> Iterator[FieldError]:
    affinity = spec.get("sessionAffinity", "")
    yield from _unknown("spec.sessionAffinity", affinity, AFFINITIES)
    # The defaults set the configuration exactly for this affinity.
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= MAX_AFFINITY_SECONDS:
            problem = f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"
            yield invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, problem)


def _external_ip_errors(spec: Object) -> Iterator[FieldError]:
    for index, address in enumerate(spec.get("externalIPs", ())):
        problems = ip(address) or special_address(address)
        yield from all_invalid(f"spec.externalIPs[{index}]", address, problems)


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


def _traffic_errors(spec: Object) -> Iterator[FieldError]:
    external = spec.get("externalTrafficPolicy", "")
    if is_reachable_from_outside(spec):
        yield from _unknown("spec.externalTrafficPolicy", external, TRAFFIC_POLICIES)
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
    for field, known in (
        ("internalTrafficPolicy", TRAFFIC_POLICIES),
        ("trafficDistribution", DISTRIBUTIONS),
    ):
        if (value := spec.get(field)) is not None and value not in known:
            yield not_supported(f"spec.{field}", value, known)


def is_reachable_from_outside(spec: Object) -> bool:
    """Return whether the Service may receive traffic from outside the cluster."""
    kind = spec.get("type")
    plain_with_addresses = kind == "ClusterIP" and spec.get("externalIPs")
    return bool(kind in ("LoadBalancer", "NodePort") or plain_with_addresses)


def _unknown(at: str, value: str, known: tuple[str, ...]) -> Iterator[FieldError]:
    if not value:
        yield required(at)
    elif value not in known:
        yield not_supported(at, value, known)
