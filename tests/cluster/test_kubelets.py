"""Requests for a kubelet are rejected as by a server that cannot reach the kubelet."""

from typing import Any

import pytest

from tests.embedded import MERGE_PATCH, EmbeddedServer


@pytest.fixture
def pods(namespace: str) -> str:
    """The path of the Pods of this test."""
    return f"/api/v1/namespaces/{namespace}/pods"


def pod(name: str, *containers: str, node: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "containers": [{"name": each, "image": "example.com/a:1"} for each in containers],
            **({"nodeName": node} if node else {}),
        },
    }


async def node(api: EmbeddedServer, name: str, *addresses: dict[str, str]) -> None:
    await api.asked(
        "POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    )
    status = {"status": {"addresses": list(addresses)}}
    await api.asked("PATCH", f"/api/v1/nodes/{name}/status", status, sends=MERGE_PATCH)


async def test_an_unbound_pod_has_no_log(api: EmbeddedServer, pods: str) -> None:
    await api.asked("POST", pods, pod("web", "main"))

    response = await api.ask("GET", f"{pods}/web/log")

    assert (response.status, response.body) == (204, b"")


@pytest.mark.parametrize("how", ["exec?command=ls", "attach", "portforward"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_exec_in_an_unbound_pod_is_rejected(
    api: EmbeddedServer, pods: str, how: str, method: str
) -> None:
    await api.asked("POST", pods, pod("web", "main"))

    response = await api.ask(method, f"{pods}/web/{how}")

    assert (response.status, response.json["message"]) == (
        400,
        "pod web does not have a host assigned",
    )


@pytest.mark.parametrize("how", ["log", "exec", "attach", "portforward"])
async def test_a_log_of_a_missing_pod_is_not_found(
    api: EmbeddedServer, pods: str, how: str
) -> None:
    response = await api.ask("GET", f"{pods}/web/{how}")

    assert (response.status, response.json["message"]) == (404, 'pods "web" not found')


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("log", "a container name must be specified for pod web, choose one of: [main side]"),
        ("log?container=other", "container other is not valid for pod web"),
        ("exec?container=other", "container other is not valid for pod web"),
    ],
)
async def test_a_container_name_is_required_with_several_containers(
    api: EmbeddedServer, pods: str, asked: str, why: str
) -> None:
    await api.asked("POST", pods, pod("web", "main", "side"))

    response = await api.ask("GET", f"{pods}/web/{asked}")

    assert (response.status, response.json["message"]) == (400, why)


async def test_a_missing_node_or_one_without_an_address_is_an_error(
    api: EmbeddedServer, pods: str
) -> None:
    await api.asked("POST", pods, pod("lost", "main", node="nowhere"))
    await node(api, "silent")
    await api.asked("POST", pods, pod("mute", "main", node="silent"))

    lost = await api.ask("GET", f"{pods}/lost/log")
    mute = await api.ask("GET", f"{pods}/mute/log")

    assert (lost.status, lost.json["message"]) == (404, 'nodes "nowhere" not found')
    assert (mute.status, mute.json["message"]) == (
        500,
        "no preferred addresses found; known addresses: []",
    )


async def test_no_server_listens_at_the_address_of_a_node(
    api: EmbeddedServer, pods: str, namespace: str
) -> None:
    await node(
        api,
        "there",
        {"type": "InternalIP", "address": "192.0.2.1"},
        {"type": "Hostname", "address": "there.example.com"},
    )
    await api.asked("POST", pods, pod("web", "main", node="there"))

    response = await api.ask("GET", f"{pods}/web/log")

    assert (response.status, response.json["message"]) == (
        500,
        f'Get "https://there.example.com:10250/containerLogs/{namespace}/web/main":'
        " dial tcp there.example.com:10250: connect: connection refused",
    )
