from dataclasses import dataclass
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.strategy import Object
from tests.embedded import STRATEGIC_PATCH, Answer, EmbeddedServer

DEBUGGER = {"name": "debug", "image": "example.com/debug"}


def sized(cpu: str, **more: str) -> Object:
    amounts = {"cpu": cpu, "memory": "1Gi", **more}
    return {"name": "main", "resources": {"requests": amounts, "limits": amounts}}


@dataclass(frozen=True, kw_only=True)
class Pod:
    """An existing Pod."""

    api: EmbeddedServer
    path: str

    async def patch(self, part: str, *, labels: Object | None = None, **spec: Any) -> Answer:
        """Patch a subresource."""
        patch = {"metadata": {"labels": labels}, "spec": spec}
        return await self.api.ask("PATCH", f"{self.path}/{part}", patch, sends=STRATEGIC_PATCH)


@pytest.fixture
async def pod(api: EmbeddedServer, namespace: str) -> Pod:
    """Return a Pod with one container whose requests equal its limits."""
    container = {**sized("1"), "image": "example.com/main"}
    body = {"metadata": {"name": "it"}, "spec": {"containers": [container]}}
    pods = f"/api/v1/namespaces/{namespace}/pods"
    await api.asked("POST", pods, body)
    return Pod(api=api, path=f"{pods}/it")


async def test_an_ephemeral_container_is_added_and_nothing_else_changes(pod: Pod) -> None:
    answer = await pod.patch(
        "ephemeralcontainers",
        labels={"a": "b"},
        ephemeralContainers=[DEBUGGER],
        containers=[sized("2")],
    )

    metadata, spec = answer.json["metadata"], answer.json["spec"]
    assert [each["name"] for each in spec["ephemeralContainers"]] == ["debug"]
    assert spec["containers"][0]["resources"]["requests"]["cpu"] == "1"
    assert "labels" not in metadata
    assert metadata["generation"] == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"image": "example.com/other"}, '"debug" may not be changed'),
        ({"$patch": "delete"}, '"debug" may not be removed'),
    ],
)
async def test_an_ephemeral_container_cannot_be_changed_or_removed(
    pod: Pod, change: Object, why: str
) -> None:
    await pod.patch("ephemeralcontainers", ephemeralContainers=[DEBUGGER])

    answer = await pod.patch(
        "ephemeralcontainers", ephemeralContainers=[{"name": "debug", **change}]
    )

    assert answer.status == 422
    assert why in answer.json["message"]


async def test_a_resize_changes_only_the_resources_of_a_pod(pod: Pod) -> None:
    resized = {**sized("2"), "image": "example.com/other"}

    answer = await pod.patch("resize", containers=[resized])

    (container,) = answer.json["spec"]["containers"]
    assert container["resources"]["limits"]["cpu"] == "2"
    assert container["image"] == "example.com/main"


@pytest.mark.parametrize(
    ("containers", "why"),
    [
        ([sized("1", **{"example.com/gpu": "1"})], "only cpu and memory resources are mutable"),
        ([{"name": "main", "resources": {"limits": None}}], "resource limits cannot be removed"),
        ([{"name": "main", "resources": {"limits": None}}], "Pod QOS Class may not change"),
        ([{"name": "more", "image": "x"}], "containers may not be added or removed on resize"),
    ],
)
async def test_an_invalid_resize_is_rejected(pod: Pod, containers: list[Object], why: str) -> None:
    answer = await pod.patch("resize", containers=containers)

    assert answer.status == 422
    assert why in answer.json["message"]


async def test_a_service_has_no_resize_subresource(api: EmbeddedServer) -> None:
    answer = await api.ask("GET", "/api/v1/namespaces/default/services/kubernetes/resize")

    assert answer.status == 404
