from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import KindHandler


def created(*, handler: KindHandler | None = None, **spec: Any) -> Object:
    spec.setdefault("ports", [{"port": 80}])
    body = {"metadata": {"name": "web"}, "spec": spec}
    return (handler or KindHandler("v1", "services")).create(body, namespace="default")


def updated(old: Object, **spec: Any) -> Object:
    handler = KindHandler("v1", "services", stored=[old])
    new = {**old, "spec": {**old["spec"], **spec}}
    return handler.update(new, old, namespace="default", subresource="")


def error_message_of(**spec: Any) -> str:
    with pytest.raises(StatusError) as raised:
        created(**spec)
    return raised.value.message.removeprefix('Service "web" is invalid: ')


def test_a_service_gets_the_same_address_in_cluster_ip_and_cluster_ips() -> None:
    spec = created()["spec"]

    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert spec["clusterIP"].startswith("10.0.")
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


def test_a_node_port_service_gets_a_node_port_for_each_port() -> None:
    ports = created(type="NodePort", ports=[{"port": 80, "name": "a"}, {"port": 81, "name": "b"}])

    found = [each["nodePort"] for each in ports["spec"]["ports"]]
    assert len(set(found)) == 2
    assert all(30000 <= each <= 32767 for each in found)


def test_ports_with_the_same_number_share_a_node_port() -> None:
    service = created(
        type="NodePort",
        ports=[{"port": 53, "name": "a"}, {"port": 53, "name": "b", "protocol": "UDP"}],
    )

    first, second = service["spec"]["ports"]
    assert first["nodePort"] == second["nodePort"]


def test_a_load_balancer_with_the_local_policy_gets_a_health_check_port() -> None:
    spec = created(type="LoadBalancer", externalTrafficPolicy="Local")["spec"]

    assert spec["healthCheckNodePort"] not in (0, spec["ports"][0]["nodePort"])


def test_an_update_with_the_same_manifest_keeps_the_allocations() -> None:
    old = created(type="NodePort")

    again = updated(old, clusterIP="", clusterIPs=[], ports=[{"port": 80}])

    assert again["spec"] == old["spec"]


def test_a_service_that_becomes_an_external_name_releases_its_address() -> None:
    spec = updated(created(type="NodePort"), type="ExternalName", externalName="x.y")["spec"]

    assert spec.keys().isdisjoint({"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
    assert "nodePort" not in spec["ports"][0]


def test_an_external_name_that_becomes_a_cluster_ip_service_gets_an_address() -> None:
    name = created(type="ExternalName", externalName="x.y")

    assert updated(name, type="ClusterIP")["spec"]["clusterIP"].startswith("10.0.")


def test_the_address_of_a_service_is_immutable() -> None:
    old = created(clusterIP="10.0.9.9")

    with pytest.raises(StatusError, match="422") as raised:
        updated(old, clusterIP="10.0.9.10", clusterIPs=["10.0.9.10"])

    assert raised.value.message == (
        'Service "web" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.9.10"]:'
        " may not change once set"
    )


def test_an_update_does_not_modify_the_stored_service() -> None:
    old = created(type="NodePort", clusterIP="10.0.9.9")
    before = repr(old)

    updated(old, type="ClusterIP")
    updated(old, type="ExternalName", externalName="x.y")

    assert repr(old) == before


def test_a_full_port_range_is_an_internal_error() -> None:
    handler = KindHandler("v1", "services")
    everything = [{"port": port, "nodePort": port} for port in handler.network.ports]
    handler.network.stored(None, {"spec": {"ports": everything}})

    with pytest.raises(StatusError) as raised:
        created(handler=handler, type="NodePort")

    assert raised.value.code == 500
    assert raised.value.message == (
        "Internal error occurred: failed to allocate a nodePort: range is full"
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"ports": []}, "spec.ports: Required value"),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range."
            " The range of valid ports is 30000-32767",
        ),
        (
            {"clusterIP": "None", "type": "NodePort"},
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort"
            " services",
        ),
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not'
            " configured for dual-stack services",
        ),
        (
            {"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
            'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,'
            '"Port":80,"TargetPort":0,"NodePort":0}',
        ),
    ],
)
def test_an_invalid_service_is_rejected_with_the_message_of_kube_apiserver(
    spec: Object, message: str
) -> None:
    assert error_message_of(**spec) == message


@pytest.mark.parametrize(
    ("spec", "warning"),
    [
        (
            {"externalIPs": ["1.2.3.4"]},
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
        (
            {"clusterIP": "None", "sessionAffinity": "ClientIP"},
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            {"externalName": "x.y"},
            'spec.externalName is ignored when spec.type is not "ExternalName"',
        ),
        (
            {"trafficDistribution": "PreferClose"},
            'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
        ),
    ],
)
def test_a_discouraged_field_of_a_service_gets_a_warning(spec: Object, warning: str) -> None:
    handler = KindHandler("v1", "services")

    service = created(handler=handler, **spec)

    assert handler.strategy.warnings(service, None) == [warning]
