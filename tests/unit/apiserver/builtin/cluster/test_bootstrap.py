from datetime import UTC, datetime
from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.cluster.bootstrap import bootstrap_objects
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import SCHEMAS, KindHandler

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PLURALS = {(each.gvk.api_version, each.gvk.kind): each.plural for each in SCHEMAS.resources}


def initial_objects(address: str = "192.168.1.2") -> list[Object]:
    return bootstrap_objects(address=address, port=6443, client_ca="CERTIFICATE", now=NOW)


def coordinates(obj: Object) -> tuple[str, str, str]:
    metadata = obj["metadata"]
    return obj["kind"], metadata.get("namespace", ""), metadata["name"]


def without_generated_fields(obj: Object) -> dict[str, Any]:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "uid"}
    # Controllers write the status, not the rules.
    parts = {key: value for key, value in obj.items() if key != "status"}
    return {**parts, "metadata": metadata}


@pytest.mark.parametrize("obj", initial_objects(), ids=lambda obj: "/".join(coordinates(obj)))
def test_the_initial_objects_of_a_cluster_are_valid(obj: Object) -> None:
    handler = KindHandler(obj["apiVersion"], PLURALS[obj["apiVersion"], obj["kind"]])

    stored = handler.create(obj, namespace=obj["metadata"].get("namespace", ""))

    assert without_generated_fields(stored) == without_generated_fields(obj)


def test_the_initial_namespaces_come_first() -> None:
    kinds = [obj["kind"] for obj in initial_objects()]

    assert kinds[:4] == ["Namespace"] * 4
    assert "Namespace" not in kinds[4:]


def test_the_kubernetes_service_has_the_first_address() -> None:
    service = next(obj for obj in initial_objects() if obj["kind"] == "Service")

    assert service["spec"]["clusterIP"] == "10.0.0.1"
    assert service["spec"]["ports"] == [
        {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}
    ]


@pytest.mark.parametrize(
    ("address", "kinds"),
    [
        ("127.0.0.1", set[str]()),
        ("::1", set[str]()),
        ("192.168.1.2", {"Endpoints", "EndpointSlice"}),
        ("fd00::2", {"Endpoints", "EndpointSlice"}),
    ],
)
def test_the_kubernetes_service_has_endpoints_unless_the_server_is_on_loopback(
    address: str, kinds: set[str]
) -> None:
    found = {obj["kind"] for obj in initial_objects(address)}

    assert found & {"Endpoints", "EndpointSlice"} == kinds


def test_the_initial_objects_are_unique() -> None:
    found = [coordinates(obj) for obj in initial_objects()]

    assert len(found) == len(set(found))
