"""Generated names are readable, valid and unique."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds.declaration import wire_name
from steersman.kinds.generate.names import class_name, field_name, field_names


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("replicas", "replicas"),
        ("clusterIP", "cluster_ip"),
        ("clusterIPs", "cluster_ips"),
        ("podCIDRs", "pod_cidrs"),
        ("hostPID", "host_pid"),
        ("hostIPC", "host_ipc"),
        ("nonResourceURLs", "non_resource_urls"),
        ("targetWWNs", "target_wwns"),
        ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
        ("insecureSkipTLSVerify", "insecure_skip_tls_verify"),
        ("targetCPUUtilizationPercentage", "target_cpu_utilization_percentage"),
        ("openAPIV3Schema", "open_api_v3_schema"),
        ("fieldsV1", "fields_v1"),
        ("podIPv6Address", "pod_ipv6_address"),
        ("JSONPath", "json_path"),
        ("Port", "port"),
        ("fsType", "fs_type"),
        ("iscsi", "iscsi"),
        ("sha256Sum", "sha256_sum"),
        ("x-kubernetes-list-map-keys", "x_kubernetes_list_map_keys"),
        ("$ref", "ref"),
        ("from", "from_"),
        ("continue", "continue_"),
        ("not", "not_"),
        ("bool", "bool_"),
        ("__class__", "class_"),
        ("2fa", "field_2fa"),
        ("größe", "gr_e"),
        ("", "field"),
        ("???", "field"),
    ],
)
def test_a_wire_name_becomes_a_readable_python_name(wire: str, name: str) -> None:
    assert field_name(wire) == name


def test_a_duplicate_name_gets_an_underscore() -> None:
    assert field_name("labels", taken={"labels"}) == "labels_"
    assert wire_name("labels_") == "labels"


def test_fields_of_one_class_never_share_a_name() -> None:
    names = field_names(["podIP", "podIp", "pod-ip", "pod_ip_2"])

    assert names == {
        "podIP": "pod_ip",
        "podIp": "pod_ip_2",
        "pod-ip": "pod_ip_3",
        "pod_ip_2": "pod_ip_2_2",
    }


@given(wires=st.lists(st.text(), unique=True))
def test_any_name_becomes_a_valid_identifier(wires: list[str]) -> None:
    names = list(field_names(wires).values())

    assert all(name.isidentifier() and name.isascii() for name in names)
    assert not any(name.startswith("_") or keyword.iskeyword(name) for name in names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("Widget", "spec", "ports"), "WidgetSpecPorts"),
        (("Widget", "clusterIPs"), "WidgetClusterIPs"),
        (("Widget", "x-kubernetes-thing"), "WidgetXKubernetesThing"),
        (("Widget", "$$"), "Widget"),
    ],
)
def test_a_nested_class_is_named_after_its_path(parts: tuple[str, ...], name: str) -> None:
    assert class_name(*parts) == name
