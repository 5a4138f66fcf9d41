"""Both servers send the same headers and metrics, with few exceptions."""

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from http.client import HTTPSConnection
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from steersman.clock import SystemClock
from steersman_cluster.testing import (
    ControlPlane,
    find_binaries,
    running_embedded_control_plane,
    running_real_control_plane,
)

MAPS = "/api/v1/namespaces/default/configmaps"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
AGGREGATED = "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"

# These depend on the size and framing of a response.
RESPONSE_FRAMING = {"content-length", "transfer-encoding"}
DIFFERENT_VALUES = {"audit-id", "date", "etag", "location", "process-start-time-unix"}
# The embedded server has no API priority and fairness, and no range requests.
REAL_ONLY = {
    "accept-ranges",
    "last-modified",
    "x-kubernetes-pf-flowschema-uid",
    "x-kubernetes-pf-prioritylevel-uid",
}

REQUESTS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "get": ("GET", "/api/v1/namespaces/default", {}),
    "list": ("GET", MAPS, {}),
    "list of many": ("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {}),
    "yaml": ("GET", MAPS, {"Accept": "application/yaml"}),
    "watch": ("GET", f"{MAPS}?watch=1&timeoutSeconds=1", {}),
    "not found": ("GET", f"{MAPS}/none", {}),
    "unknown resource": ("GET", "/api/v1/gadgets", {}),
    "unknown language": ("GET", MAPS, {"Accept": "application/xml"}),
    "unknown method": ("OPTIONS", MAPS, {}),
    "wrong token": ("GET", MAPS, {"Authorization": "Bearer wrong"}),
    "no token": ("GET", MAPS, {"Authorization": ""}),
    "own id": ("GET", MAPS, {"Audit-ID": "mine"}),
    "long id": ("GET", MAPS, {"Audit-ID": "x" * 100}),
    "nowhere": ("GET", "/nowhere", {}),
    "healthz": ("GET", "/healthz", {}),
    "livez": ("GET", "/livez", {}),
    "readyz": ("GET", "/readyz?verbose", {}),
    "one check": ("GET", "/healthz/ping", {}),
    "no check": ("GET", "/healthz/none", {}),
    "version": ("GET", "/version", {}),
    "root": ("GET", "/", {}),
    "groups": ("GET", "/apis", {}),
    "aggregated": ("GET", "/apis", {"Accept": AGGREGATED}),
    "resources": ("GET", "/apis/apps/v1", {}),
    "openapi v2": ("GET", "/openapi/v2", {}),
    "openapi v2 in protobuf": ("GET", "/openapi/v2", {"Accept": PROTOBUF}),
    "openapi v3": ("GET", "/openapi/v3", {}),
    "openapi v3 document": ("GET", "/openapi/v3/api/v1", {}),
    "openapi v3 with an old hash": ("GET", "/openapi/v3/api/v1?hash=OLD", {}),
    "openapi v3 as text": ("GET", "/openapi/v3/api/v1", {"Accept": "text/plain"}),
    "openapi v3 as any JSON": ("GET", "/openapi/v3/api/v1", {"Accept": "*/json"}),
    "openapi v2 as anything": ("GET", "/openapi/v2", {"Accept": "*"}),
    "groups as anything": ("GET", "/apis", {"Accept": "*"}),
    "list as anything": ("GET", MAPS, {"Accept": "*"}),
    "list in no form": ("GET", MAPS, {"Accept": "application/json;as="}),
    "openapi v3 nowhere": ("GET", "/openapi/v3/none", {}),
    "metrics": ("GET", "/metrics", {}),
    "anonymous metrics": ("GET", "/metrics", {"Authorization": ""}),
}


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[ControlPlane, ControlPlane]]:
    clock = SystemClock()
    with ExitStack() as stack:
        binaries = find_binaries(environ=os.environ)
        real = stack.enter_context(running_real_control_plane(binaries, clock=clock))
        embedded = stack.enter_context(running_embedded_control_plane(clock=clock))
        yield real, embedded


def respond(cluster: ControlPlane, request: str) -> tuple[int, dict[str, list[str]], bytes]:
    method, path, request_headers = REQUESTS[request]
    url = urlsplit(cluster.url)
    tls = ssl.create_default_context(cafile=cluster.credentials.ca_file)
    token = {"Authorization": f"Bearer {cluster.credentials.admin_token}"}
    headers = {name: value for name, value in {**token, **request_headers}.items() if value}
    connection = HTTPSConnection(url.hostname or "", url.port, timeout=60, context=tls)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    found: dict[str, list[str]] = {}
    for name, value in response.getheaders():
        found.setdefault(name.lower(), []).append(value)
    return response.status, found, body


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_response_has_the_headers_of_the_real_server(
    request_name: str, clusters: tuple[ControlPlane, ControlPlane]
) -> None:
    (status, real, _), (embedded_status, embedded, _) = (
        respond(each, request_name) for each in clusters
    )

    assert embedded_status == status
    assert embedded.keys() - RESPONSE_FRAMING == real.keys() - RESPONSE_FRAMING - REAL_ONLY
    compared = embedded.keys() - RESPONSE_FRAMING - DIFFERENT_VALUES
    assert {name: _comparable(name, embedded[name]) for name in compared} == {
        name: _comparable(name, real[name]) for name in compared
    }


def _comparable(name: str, values: list[str]) -> list[str]:
    # The embedded server compresses no response, so its responses do not vary by that header.
    return [each for each in values if (name, each) != ("vary", "Accept-Encoding")]


@pytest.mark.parametrize("request_name", ["own id", "long id"])
def test_an_audit_id_of_the_client_is_kept_as_by_the_real_server(
    request_name: str, clusters: tuple[ControlPlane, ControlPlane]
) -> None:
    real, embedded = (respond(each, request_name)[1]["audit-id"] for each in clusters)

    assert embedded == real


def test_metrics_have_the_names_types_and_labels_of_the_real_server(
    clusters: tuple[ControlPlane, ControlPlane],
) -> None:
    for each in clusters:
        for request in ("get", "list", "watch", "not found", "healthz", "openapi v3"):
            respond(each, request)

    real, embedded = (_metrics(each) for each in clusters)

    own = {name for name in embedded if not name.startswith("python_")}
    assert {
        "apiserver_request",
        "apiserver_request_duration_seconds",
        "apiserver_longrunning_requests",
        "apiserver_storage_objects",
        "apiserver_resource_objects",
    } <= own
    assert {name: embedded[name] for name in own} == {name: real.get(name) for name in own}


def test_requests_are_counted_with_the_labels_of_the_real_server(
    clusters: tuple[ControlPlane, ControlPlane],
) -> None:
    for each in clusters:
        for request in ("get", "list", "watch", "not found", "healthz", "openapi v3"):
            respond(each, request)

    real, embedded = (_request_labels(each) for each in clusters)

    assert embedded <= real
    assert len(embedded) >= 6


def _metrics(cluster: ControlPlane) -> dict[str, tuple[str, frozenset[str]]]:
    text = respond(cluster, "metrics")[2].decode()
    return {
        each.name: (each.type, frozenset(label for one in each.samples for label in one.labels))
        for each in text_string_to_metric_families(text)
    }


def _request_labels(cluster: ControlPlane) -> set[tuple[tuple[str, str], ...]]:
    text = respond(cluster, "metrics")[2].decode()
    return {
        tuple(sorted(sample.labels.items()))
        for each in text_string_to_metric_families(text)
        if each.name == "apiserver_request"
        for sample in each.samples
    }
