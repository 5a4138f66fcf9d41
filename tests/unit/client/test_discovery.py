"""Discovery of the served resources, aggregated and by group."""

from typing import Any

import pytest

from steersman.client import Discovery, ServedResource
from steersman.errors import Forbidden, InvalidResponse, UnknownKind
from steersman.names import GroupVersionKind, ResourceType
from tests.transports import FakeResponse, Scripted, error_response, json_response
from tests.unit.client.scripted_client import ScriptedClient

PODS = ServedResource(
    resource_type=ResourceType(
        gvk=GroupVersionKind("", "v1", "Pod"), plural="pods", namespaced=True
    ),
    singular="pod",
    short_names=("po",),
    categories=("all",),
    verbs=("get", "list"),
    subresources=("log", "status"),
)
NODES = ServedResource(
    resource_type=ResourceType(
        gvk=GroupVersionKind("", "v1", "Node"), plural="nodes", namespaced=False
    ),
    singular="node",
)


def scaler(version: str) -> ServedResource:
    return ServedResource(
        resource_type=ResourceType(
            gvk=GroupVersionKind("autoscaling", version, "Scaler"),
            plural="scalers",
            namespaced=True,
        )
    )


def aggregated(*groups: dict[str, Any]) -> FakeResponse:
    return json_response(
        {
            "apiVersion": "apidiscovery.k8s.io/v2",
            "kind": "APIGroupDiscoveryList",
            "metadata": {},
            "items": groups,
        }
    )


def group(name: str, **versions: list[dict[str, Any]] | None) -> dict[str, Any]:
    return {
        "metadata": {"name": name} if name else {"creationTimestamp": None},
        "versions": [
            {"version": version, "resources": resources, "freshness": "Current"}
            for version, resources in versions.items()
        ],
    }


AGGREGATED_CORE = aggregated(
    group(
        "",
        v1=[
            {
                "resource": "pods",
                "responseKind": {"group": "", "version": "v1", "kind": "Pod"},
                "scope": "Namespaced",
                "singularResource": "pod",
                "shortNames": ["po"],
                "categories": ["all"],
                "verbs": ["get", "list"],
                "subresources": [
                    {"subresource": "log", "verbs": ["get"]},
                    {"subresource": "status", "verbs": ["get"]},
                ],
            },
            {
                "resource": "nodes",
                "responseKind": {"kind": "Node"},
                "scope": "Cluster",
                "singularResource": "node",
            },
        ],
    )
)
AGGREGATED_GROUPS = aggregated(
    group(
        "autoscaling",
        v2=[{"resource": "scalers", "responseKind": {"kind": "Scaler"}, "scope": "Namespaced"}],
        v1=[{"resource": "scalers", "responseKind": {"kind": "Scaler"}, "scope": "Namespaced"}],
    ),
    # The server behind this APIService is down, and was never reached.
    group("dead.example.com", v1=None),
)

OLD: dict[str, FakeResponse] = {
    "/api": json_response({"kind": "APIVersions", "versions": ["v1"]}),
    "/api/v1": json_response(
        {
            "kind": "APIResourceList",
            "groupVersion": "v1",
            "resources": [
                {
                    "name": "pods",
                    "kind": "Pod",
                    "namespaced": True,
                    "singularName": "pod",
                    "shortNames": ["po"],
                    "categories": ["all"],
                    "verbs": ["get", "list"],
                },
                {"name": "pods/log", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
                {"name": "pods/status", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
                {"name": "nodes", "kind": "Node", "namespaced": False, "singularName": "node"},
            ],
        }
    ),
    "/apis": json_response(
        {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [
                {
                    "name": "dead.example.com",
                    "versions": [{"groupVersion": "dead.example.com/v1", "version": "v1"}],
                    "preferredVersion": {"groupVersion": "dead.example.com/v1", "version": "v1"},
                },
                {
                    "name": "autoscaling",
                    "versions": [
                        {"groupVersion": "autoscaling/v1", "version": "v1"},
                        {"groupVersion": "autoscaling/v2", "version": "v2"},
                    ],
                    "preferredVersion": {"groupVersion": "autoscaling/v2", "version": "v2"},
                },
            ],
        }
    ),
    "/apis/dead.example.com/v1": error_response(503, "ServiceUnavailable"),
    "/apis/autoscaling/v1": json_response(
        {"resources": [{"name": "scalers", "kind": "Scaler", "namespaced": True}]}
    ),
    "/apis/autoscaling/v2": json_response(
        {"resources": [{"name": "scalers", "kind": "Scaler", "namespaced": True}]}
    ),
}


async def test_aggregated_discovery_takes_one_request_for_each_root() -> None:
    fixture = ScriptedClient(AGGREGATED_CORE, AGGREGATED_GROUPS)

    discovery = await fixture.client.discover()

    assert discovery == Discovery((PODS, NODES, scaler("v2"), scaler("v1")))
    assert fixture.server.sent == ["GET /api", "GET /apis"]
    assert "APIGroupDiscoveryList" in dict(fixture.server.requests[0].headers)["Accept"]


async def test_a_server_without_aggregated_discovery_is_queried_for_each_group() -> None:
    fixture = ScriptedClient(respond=lambda request: OLD[request.path])

    discovery = await fixture.client.discover()

    assert discovery.resources == (PODS, NODES, scaler("v2"), scaler("v1"))


@pytest.mark.parametrize(
    "dead", [error_response(503), error_response(404, "NotFound"), error_response(500)]
)
async def test_an_unavailable_api_does_not_hide_the_others(dead: Scripted) -> None:
    answers = {**OLD, "/apis/dead.example.com/v1": dead}
    fixture = ScriptedClient(respond=lambda request: answers[request.path])

    discovery = await fixture.client.discover()

    assert discovery.named("scalers") is not None
    assert discovery.of_kind("dead.example.com/v1", "Ghost") is None
    assert discovery.stale == ("dead.example.com/v1",)


async def test_aggregated_discovery_names_a_version_whose_server_is_unavailable() -> None:
    dead = {"metadata": {"name": "dead.example.com"}}
    stale = {**dead, "versions": [{"version": "v1", "freshness": "Stale"}]}
    fixture = ScriptedClient(AGGREGATED_CORE, aggregated(stale))

    discovery = await fixture.client.discover()

    assert discovery.stale == ("dead.example.com/v1",)
    assert discovery.resources == (PODS, NODES)


async def test_an_error_at_the_root_is_raised() -> None:
    with pytest.raises(Forbidden, match="could not discover resources under /api"):
        await ScriptedClient(error_response(403, "Forbidden")).client.discover()


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"{}",
        b"[]",
        b'{"kind": "APIGroupDiscoveryList", "items": 7}',
        b'{"kind": "Secret"}',
        b"\xff",
        b"[" * 9999,
    ],
)
async def test_a_response_that_is_not_a_discovery_document_is_an_error(body: bytes) -> None:
    with pytest.raises(InvalidResponse, match="not a discovery document"):
        await ScriptedClient(FakeResponse(body=body)).client.discover()


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("pods", PODS),
        ("pod", PODS),
        ("po", PODS),
        ("Pod", PODS),
        ("pods.v1", PODS),
        ("nodes", NODES),
        ("scalers", scaler("v2")),
        ("scaler.autoscaling", scaler("v2")),
        ("scalers.v1.autoscaling", scaler("v1")),
        ("scalers.v3.autoscaling", None),
        ("scalers.apps", None),
        ("pods.autoscaling", None),
        ("", None),
        (".autoscaling", None),
        ("all", None),
    ],
)
def test_a_resource_is_found_by_the_names_that_kubectl_accepts(
    word: str, found: ServedResource | None
) -> None:
    discovery = Discovery((PODS, NODES, scaler("v2"), scaler("v1")))

    assert discovery.named(word) == found


def test_a_resource_is_found_by_api_version_and_kind() -> None:
    discovery = Discovery((PODS, scaler("v2"), scaler("v1")))

    assert discovery.of_kind("v1", "Pod") == PODS
    assert discovery.of_kind("autoscaling/v1", "Scaler") == scaler("v1")
    assert discovery.of_kind("v2", "Pod") is None


def test_a_class_for_a_served_kind_has_its_resource() -> None:
    kind = Discovery((PODS,)).class_of("v1", "Pod")

    assert kind.resource_type == PODS.resource_type


def test_there_is_no_class_for_a_kind_that_is_not_served() -> None:
    with pytest.raises(UnknownKind, match="does not have v1 Gadget"):
        Discovery((PODS,)).class_of("v1", "Gadget")
