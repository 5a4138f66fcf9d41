"""Services: their defaults, their addresses and ports, and the permitted changes of type."""

from collections.abc import Mapping

from steersman_cluster.apiserver.builtin.network import service_addresses as addresses
from steersman_cluster.apiserver.builtin.network import service_ports as node_ports
from steersman_cluster.apiserver.builtin.network.address_forms import (
    address_warnings,
    network_warnings,
)
from steersman_cluster.apiserver.builtin.network.service_network import ServiceNetwork, ports_of
from steersman_cluster.apiserver.builtin.network.service_validation import (
    TOPOLOGY_HINTS,
    TOPOLOGY_MODE,
    is_reachable_from_outside,
    service_change_errors,
    service_errors,
    service_status_errors,
)
from steersman_cluster.apiserver.meta.name_validation import label_name
from steersman_cluster.apiserver.meta.strategy import (
    Object,
    Strategy,
    StrategyContext,
    name_and_namespace,
)

AFFINITY_SECONDS = 10800  # three hours, kube-apiserver's default


def service_strategy(network: ServiceNetwork) -> Strategy:
    """Return the strategy of Services, which allocates addresses and ports from ``network``."""

    def prepare_create(service: Object, _: StrategyContext) -> None:
        name, spec = service["metadata"].get("name", ""), service["spec"]
        addresses.align(spec, None)
        addresses.settle_families(name, spec, None)
        addresses.take_addresses(name, spec, network)
        node_ports.take_ports(name, spec, None, network)
        _drop_internal_traffic_policy(spec)
        service["status"] = {"loadBalancer": {}}

    def prepare_update(service: Object, old_service: Object, _: StrategyContext) -> None:
        name, spec, old = old_service["metadata"]["name"], service["spec"], old_service["spec"]
        addresses.keep(spec, old)
        node_ports.keep_ports(spec, old)
        addresses.align(spec, old)
        addresses.settle_families(name, spec, old)
        if not addresses.needs_address(old):
            addresses.take_addresses(name, spec, network)
        node_ports.take_ports(name, spec, old, network)
        _drop_fields_of_old_type(spec, old)
        _drop_internal_traffic_policy(spec)
        if spec.get("type") != "LoadBalancer":
            service["status"] = {**old_service.get("status", {}), "loadBalancer": {}}

    return Strategy(
        default=default_service,
        prepare_create=prepare_create,
        prepare_update=prepare_update,
        validate=service_errors,
        validate_update=service_change_errors,
        validate_status=service_status_errors,
        name_errors=label_name,
        warnings=service_warnings,
        status_warnings=_status_warnings,
        selectable=_selectable,
        after_write=network.stored,
        update_first=True,
        has_status=True,
        allow_create_on_update=True,
        return_deleted_object=True,
    )


def default_service(service: Object) -> None:
    """Set the defaults of ``service``."""
    spec = service.setdefault("spec", {})
    kind = spec.get("type") or "ClusterIP"
    spec["type"] = kind
    affinity = spec.get("sessionAffinity") or "None"
    spec["sessionAffinity"] = affinity
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}
    for port in spec.get("ports", ()):
        if port.get("targetPort", 0) in (0, ""):
            port["targetPort"] = port.get("port", 0)
    if is_reachable_from_outside(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for point in service.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if point.get("ip"):
                point.setdefault("ipMode", "VIP")


def _drop_fields_of_old_type(spec: Object, old: Object) -> None:
    """Clear the fields of the old type that the new type does not have.

    Only fields that the client left unchanged are cleared. Changed fields are validated.
    """
    if addresses.needs_address(old) and not addresses.needs_address(spec):
        same = all(spec.get(each) == old.get(each) for each in ("clusterIP", "clusterIPs"))
        for field in ("clusterIP", "clusterIPs") if same else ():
            spec.pop(field, None)
        _drop_if_same(spec, old, "ipFamilies")
        _drop_if_same(spec, old, "ipFamilyPolicy")
    if node_ports.has_node_ports(old) and not node_ports.has_node_ports(spec):
        ports = spec.get("ports", ())
        if {each.get("nodePort", 0) for each in ports} <= {0, *ports_of({"spec": old})}:
            for port in ports:
                port.pop("nodePort", None)
    if node_ports.needs_health_check(old) and not node_ports.needs_health_check(spec):
        _drop_if_same(spec, old, "healthCheckNodePort")
    if old.get("type") == "LoadBalancer" != spec.get("type"):
        _drop_if_same(spec, old, "allocateLoadBalancerNodePorts")
        _drop_if_same(spec, old, "loadBalancerClass")
    if is_reachable_from_outside(old) and not is_reachable_from_outside(spec):
        _drop_if_same(spec, old, "externalTrafficPolicy")


def _drop_internal_traffic_policy(spec: Object) -> None:
    # kube-apiserver drops the policy of ExternalName Services, which have no traffic.
    if not addresses.needs_address(spec):
        spec.pop("internalTrafficPolicy", None)


def _drop_if_same(spec: Object, old: Object, field: str) -> None:
    if spec.get(field) == old.get(field):
        spec.pop(field, None)


def _status_warnings(service: Object, _: Object) -> list[str]:
    points = service.get("status", {}).get("loadBalancer", {}).get("ingress", ())
    return [
        warning
        for index, point in enumerate(points)
        if point.get("ip")
        for warning in address_warnings(f"status.loadBalancer.ingress[{index}]", point["ip"])
    ]


def service_warnings(service: Object, _: Object | None) -> list[str]:
    """Return warnings about valid settings that are probably a mistake."""
    spec = service["spec"]
    kind, outside = spec.get("type"), spec.get("externalIPs")
    headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    warnings: list[str] = []
    if TOPOLOGY_HINTS in service["metadata"].get("annotations", {}):
        warnings.append(
            f"annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"
        )
    if headless:
        if spec.get("loadBalancerIP"):
            warnings.append("spec.loadBalancerIP is ignored for headless services")
        if outside:
            warnings.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity") != "None":
            warnings.append("spec.SessionAffinity is ignored for headless services")
    for index, address in enumerate(outside or ()):
        warnings += address_warnings(f"spec.externalIPs[{index}]", address)
    if outside and not headless and kind != "ExternalName":
        warnings.append(
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
        )
    warnings += address_warnings("spec.loadBalancerIP", spec.get("loadBalancerIP", ""))
    for index, each in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        warnings += network_warnings(f"spec.loadBalancerSourceRanges[{index}]", each)
    if kind == "ExternalName" and outside:
        warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if kind != "ExternalName" and spec.get("externalName"):
        warnings.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        warnings.append(
            'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
        )
    return warnings


def _selectable(service: Object) -> Mapping[str, str]:
    spec = service["spec"]
    return {
        **name_and_namespace(service),
        "spec.clusterIP": spec.get("clusterIP", ""),
        "spec.type": spec.get("type", ""),
    }
