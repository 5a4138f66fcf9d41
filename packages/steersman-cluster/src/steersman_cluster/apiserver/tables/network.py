"""The table rows of network resources."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.tables.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    first_few,
    joined,
    labeled,
    selected,
)
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    at,
    column,
    name_column,
    name_of,
    part,
    printer,
    wide_column,
)

_MOST = 3  # the number of hosts, ports and endpoints that are shown


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
    """Return the addresses of load balancers, sorted, without duplicates."""
    found: Iterable[Object] = part(obj, "status", "loadBalancer", "ingress")
    return sorted({each.get("ip") or each.get("hostname") or "" for each in found} - {""})


def _ports(service: Object, _: Ages) -> str:
    return ",".join(map(_port, part(service, "spec", "ports"))) or NONE


def _port(port: Object) -> str:
    number, node_port = port.get("port", 0), port.get("nodePort")
    shown = f"{number}:{node_port}" if node_port else str(number)
    return f"{shown}/{port.get('protocol', '')}"


SERVICE = printer(
    name_column(),
    column("Type", at("spec.type")),
    column("Cluster-IP", _cluster_address),
    column("External-IP", _external_address),
    column("Port(s)", _ports),
    age_column(),
    wide_column("Selector", labeled("spec.selector")),
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
        return addresses  # a headless Service has no ports
    return [_joined(address, port["port"]) for port in ports for address in addresses]


def _joined(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


ENDPOINTS = printer(name_column(), column("Endpoints", _endpoints), age_column())


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
    name_column(),
    column("AddressType", at("addressType")),
    column("Ports", _slice_ports),
    column("Endpoints", _slice_endpoints),
    age_column(),
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
    name_column(),
    column("Class", at("spec.ingressClassName", NONE)),
    column("Hosts", _hosts),
    column("Address", _address),
    column("Ports", _ingress_ports),
    age_column(),
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
    name_column(_class_name),
    column("Controller", at("spec.controller")),
    column("Parameters", _parameters),
    age_column(),
)

NETWORK_POLICY = printer(
    name_column(), column("Pod-Selector", selected("spec.podSelector")), age_column()
)

SERVICE_CIDR = printer(name_column(), column("CIDRs", joined("spec.cidrs")), age_column())


def _parent(address: Object, _: Ages) -> str:
    ref = part(address, "spec", "parentRef")
    if not ref:
        return NONE
    group, resource = ref.get("group"), ref.get("resource", "")
    place = f"{resource}.{group}" if group else resource
    return "/".join(filter(None, (place.lower(), ref.get("namespace"), ref.get("name"))))


_ADDRESS = printer(name_column(), column("ParentRef", _parent), age_column())

# kube-apiserver returns a third cell, but no column for it.
IP_ADDRESS = replace(_ADDRESS, columns=_ADDRESS.columns[:-1])
