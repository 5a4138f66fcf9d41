"""Rows of what makes Pods reachable."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.tables.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    first_few,
    joined,
    labelled,
    selected,
)
from steersman_cluster.apiserver.tables.printers import (
    aged,
    at,
    name_of,
    named,
    part,
    printer,
    told,
    wide,
)

_MOST = 3  # hosts, ports and endpoints that are shown


def _cluster_address(service: Object, _: Ages) -> str:
    addresses: Sequence[str] = part(service, "spec", "clusterIPs")
    return addresses[0] if addresses else NONE


def _external_address(service: Object, _: Ages) -> str:
    spec = part(service, "spec")
    own: Sequence[str] = spec.get("externalIPs") or ()
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(own) or NONE
        case "LoadBalancer":
            return ",".join((*_balancers(service), *own)) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case _:
            return UNKNOWN


def _balancers(obj: Object) -> list[str]:
    """Where load balancers stand, each once and in order."""
    found: Iterable[Object] = part(obj, "status", "loadBalancer", "ingress")
    return sorted({each.get("ip") or each.get("hostname") or "" for each in found} - {""})


def _ports(service: Object, _: Ages) -> str:
    return ",".join(map(_port, part(service, "spec", "ports"))) or NONE


def _port(port: Object) -> str:
    number, node_port = port.get("port", 0), port.get("nodePort")
    shown = f"{number}:{node_port}" if node_port else str(number)
    return f"{shown}/{port.get('protocol', '')}"


SERVICE = printer(
    named(),
    told("Type", at("spec.type")),
    told("Cluster-IP", _cluster_address),
    told("External-IP", _external_address),
    told("Port(s)", _ports),
    aged(),
    wide("Selector", labelled("spec.selector")),
)


def _endpoints(endpoints: Object, _: Ages) -> str:
    subsets: Sequence[Object] = part(endpoints, "subsets")
    if not subsets:
        return NONE
    return first_few([each for subset in subsets for each in _reached(subset)], _MOST)


def _reached(subset: Object) -> Iterable[str]:
    addresses = [each["ip"] for each in subset.get("addresses") or ()]
    ports: Sequence[Object] = subset.get("ports") or ()
    if not ports:
        return addresses  # of a headless service
    return [_joined(address, port["port"]) for port in ports for address in addresses]


def _joined(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


ENDPOINTS = printer(named(), told("Endpoints", _endpoints), aged())


def _slice_ports(endpoint_slice: Object, _: Ages) -> str:
    ports: Iterable[Object] = part(endpoint_slice, "ports")
    return first_few([_slice_port(each) for each in ports], _MOST) or UNSET


def _slice_port(port: Object) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    name = port.get("name")
    return "*" if name is None else str(name)


def _slice_endpoints(endpoint_slice: Object, _: Ages) -> str:
    endpoints: Iterable[Object] = part(endpoint_slice, "endpoints")
    addresses = [each for one in endpoints for each in one.get("addresses") or ()]
    return first_few(addresses, _MOST) or UNSET


ENDPOINT_SLICE = printer(
    named(),
    told("AddressType", at("addressType")),
    told("Ports", _slice_ports),
    told("Endpoints", _slice_endpoints),
    aged(),
)


def _hosts(ingress: Object, _: Ages) -> str:
    rules: Sequence[Object] = part(ingress, "spec", "rules")
    shown: list[str] = []
    for index, rule in enumerate(rules):
        if rule.get("host"):
            shown.append(rule["host"])
        if len(shown) == _MOST and index + 1 < len(rules):
            return f"{','.join(shown)} + {len(rules) - _MOST} more..."
    return ",".join(shown) or "*"


def _address(ingress: Object, _: Ages) -> str:
    return ",".join(_balancers(ingress))


def _ingress_ports(ingress: Object, _: Ages) -> str:
    return "80, 443" if part(ingress, "spec", "tls") else "80"


INGRESS = printer(
    named(),
    told("Class", at("spec.ingressClassName", NONE)),
    told("Hosts", _hosts),
    told("Address", _address),
    told("Ports", _ingress_ports),
    aged(),
)


def _class_name(ingress_class: Object, ages: Ages) -> str:
    annotations = ingress_class["metadata"].get("annotations") or {}
    is_default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    return name_of(ingress_class, ages) + (" (default)" if is_default else "")


def _parameters(ingress_class: Object, _: Ages) -> str:
    parameters = part(ingress_class, "spec", "parameters")
    if not parameters:
        return NONE
    kind, group = parameters["kind"], parameters.get("apiGroup")
    qualified = kind if group is None else f"{kind}.{group}"
    return f"{qualified}/{parameters['name']}"


INGRESS_CLASS = printer(
    named(_class_name),
    told("Controller", at("spec.controller")),
    told("Parameters", _parameters),
    aged(),
)

NETWORK_POLICY = printer(named(), told("Pod-Selector", selected("spec.podSelector")), aged())

SERVICE_CIDR = printer(named(), told("CIDRs", joined("spec.cidrs")), aged())


def _parent(address: Object, _: Ages) -> str:
    ref = part(address, "spec", "parentRef")
    if not ref:
        return NONE
    group, resource = ref.get("group"), ref.get("resource", "")
    place = f"{resource}.{group}" if group else resource
    return "/".join(filter(None, (place.lower(), ref.get("namespace"), ref.get("name"))))


_ADDRESS = printer(named(), told("ParentRef", _parent), aged())

# The real server has a third cell, and no column for it.
IP_ADDRESS = replace(_ADDRESS, columns=_ADDRESS.columns[:-1])
