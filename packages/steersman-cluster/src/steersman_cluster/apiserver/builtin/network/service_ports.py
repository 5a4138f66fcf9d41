"""Node ports: which Services have them, and how they are allocated."""

from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork, ports_of
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.field_errors import invalid
from steersman_cluster.apiserver.meta.strategy import Object

WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


def has_node_ports(spec: Object) -> bool:
    """Return whether the type of the Service permits node ports."""
    return spec.get("type") in WITH_NODE_PORTS


def wants_node_ports(spec: Object) -> bool:
    """Return whether each port of the Service requires a node port, even if none is requested."""
    kind = spec.get("type")
    balanced = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    return bool(kind == "NodePort" or balanced)


def needs_health_check(spec: Object) -> bool:
    """Return whether a load balancer checks the health of each node for this Service."""
    return bool(spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local")


def keep_ports(spec: Object, old: Object) -> None:
    """Copy from ``old`` to ``spec`` the allocated node ports that an update omits."""
    if wants_node_ports(old) and wants_node_ports(spec):
        before = {each.get("name", ""): each.get("nodePort", 0) for each in old.get("ports", ())}
        written = {each.get("nodePort", 0) for each in spec.get("ports", ())}
        for port in spec.get("ports", ()):
            known = before.get(port.get("name", ""), 0)
            if not port.get("nodePort") and known and known not in written:
                port["nodePort"] = known
    if needs_health_check(old) and needs_health_check(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = old["healthCheckNodePort"]


def take_ports(name: str, spec: Object, old: Object | None, network: ServiceNetwork) -> None:
    """Set the node ports that the Service needs: requested ports, or else free ones.

    ``old`` is the spec that ``spec`` replaces; None for a new Service. The ports include the health
    check node port.
    """
    taken: set[int] = set()
    if has_node_ports(spec):
        if old is None:
            _take_first(name, spec, network, taken)
        else:
            _take_more(name, spec, network, set(ports_of({"spec": old})), taken)
    if needs_health_check(spec) and not (old is not None and needs_health_check(old)):
        _take_health_check(spec, network, taken)


def _take_first(name: str, spec: Object, network: ServiceNetwork, taken: set[int]) -> None:
    """Set the node ports of a new Service.

    Ports with the same number share a node port, whatever their protocols are.
    """
    ports = spec.get("ports", ())
    shared: dict[int, int] = {}
    for index, port in enumerate(ports):
        number, wanted = port["port"], port.get("nodePort", 0)
        if not wanted and not wants_node_ports(spec):
            continue
        if number not in shared:
            same = (each.get("nodePort") for each in ports if each["port"] == number)
            if asked := next(filter(None, same), 0):
                _take(name, index, asked, network, taken)
            shared[number] = port["nodePort"] = asked or _take_any(network, taken)
        elif not wanted:
            port["nodePort"] = shared[number]
        elif wanted != shared[number]:
            _take(name, index, wanted, network, taken)


def _take_more(
    name: str, spec: Object, network: ServiceNetwork, had: set[int], taken: set[int]
) -> None:
    """Set the missing node ports of an updated Service, which may keep the ones that it ``had``."""
    for index, port in enumerate(spec.get("ports", ())):
        wanted = port.get("nodePort", 0)
        if not wanted and wants_node_ports(spec):
            port["nodePort"] = _take_any(network, taken)
        elif wanted and wanted not in had and wanted not in taken:
            _take(name, index, wanted, network, taken)


def _take(name: str, index: int, port: int, network: ServiceNetwork, taken: set[int]) -> None:
    if problem := network.port_problem(port, besides=taken):
        errors = [invalid(f"spec.ports[{index}].nodePort", port, problem)]
        raise status_errors.invalid("Service", name, errors)
    taken.add(port)


def _take_any(network: ServiceNetwork, taken: set[int]) -> int:
    port = network.pick_port(besides=taken)
    if port is None:
        raise status_errors.internal_error("failed to allocate a nodePort: range is full")
    taken.add(port)
    return port


def _take_health_check(spec: Object, network: ServiceNetwork, taken: set[int]) -> None:
    wanted = spec.get("healthCheckNodePort", 0)
    if not wanted:
        spec["healthCheckNodePort"] = _take_any(network, taken)
    elif problem := network.port_problem(wanted, besides=taken):
        raise status_errors.internal_error(
            f"failed to allocate requested HealthCheck NodePort {wanted}: {problem}"
        )
