"""Requests that a fuzzer found, with their responses."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.clocks import FakeClock
from tests.embedded import (
    APPLY,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    EmbeddedServer,
    config_map,
)

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TOOLS = "/apis/fuzz.example.com/v1/namespaces/default/tools"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(*, plural: str = "tools", schema: Any = ANYTHING, **metadata: Any) -> Any:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "metadata": {"name": f"{plural}.fuzz.example.com", **metadata},
        "spec": {
            "group": "fuzz.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.title()[:-1]},
            "versions": [version],
        },
    }


def tool(name: str, **rest: Any) -> Any:
    return {
        "apiVersion": "fuzz.example.com/v1",
        "kind": "Tool",
        "metadata": {"name": name},
        **rest,
    }


def nested(name: str, depth: int) -> bytes:
    written = json.dumps(tool(name, a="DEEP"))
    return written.replace('"DEEP"', '{"a":' * depth + "1" + "}" * depth).encode()


@pytest.fixture
async def tools(api: EmbeddedServer) -> EmbeddedServer:
    """The server, with the definition of Tools."""
    await api.ask("POST", DEFINITIONS, definition())
    return api


@pytest.mark.parametrize("subresource", ["proxy", "exec", "attach", "portforward"])
async def test_requests_for_a_kubelet_are_rejected(api: EmbeddedServer, subresource: str) -> None:
    response = await api.ask("POST", f"/api/v1/namespaces/default/pods/a/{subresource}", {})

    assert response.status == (405 if subresource == "proxy" else 404)
    assert api.observed == []


async def test_a_custom_resource_without_a_scale_has_none(tools: EmbeddedServer) -> None:
    response = await tools.ask("PATCH", f"{TOOLS}/a/scale", [], sends=JSON_PATCH)

    assert response.status == 404
    assert tools.observed == []


@pytest.mark.parametrize("language", [APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH])
@pytest.mark.parametrize("depth", [500, 5_000])
async def test_a_patch_that_is_nested_too_deeply_is_a_bad_request(
    api: EmbeddedServer, namespace: str, language: str, depth: int
) -> None:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", maps, config_map("a"))
    patch = b'{"kind": "ConfigMap", "apiVersion": "v1", "data": %s}' % (
        b'{"a":' * depth + b"1" + b"}" * depth
    )
    if language == JSON_PATCH:
        patch = b'[{"op": "add", "path": "/data", "value": %s}]' % patch

    response = await api.ask("PATCH", f"{maps}/a?fieldManager=a", patch, sends=language)

    assert response.status in (400, 422)
    assert api.observed == []


@pytest.mark.parametrize("depth", [50, 150, 190])
async def test_a_custom_resource_that_is_nested_deeply_can_be_read_and_written(
    tools: EmbeddedServer, depth: int
) -> None:
    place = f"{TOOLS}/deep-{depth}"
    await tools.asked("POST", TOOLS, nested(f"deep-{depth}", depth))

    read = await tools.ask("GET", place, accept="application/yaml")
    patched = await tools.ask("PATCH", place, {"b": 1}, sends=MERGE_PATCH)
    applied = await tools.ask(
        "PATCH", f"{place}?fieldManager=a", tool(f"deep-{depth}", c=1), sends=APPLY
    )

    assert (read.status, patched.status, applied.status) == (200, 200, 200)


@pytest.mark.parametrize("depth", [200, 250, 400, 800, 5_000])
async def test_a_custom_resource_that_is_nested_too_deeply_is_rejected(
    tools: EmbeddedServer, depth: int
) -> None:
    response = await tools.ask("POST", TOOLS, nested("abyss", depth))

    read = await tools.ask("GET", f"{TOOLS}/abyss")
    assert (response.status, read.status) == (400, 404)
    assert tools.observed == []


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" + "0" * 400, "9" * 5_000])
@pytest.mark.parametrize("field", ["a", "metadata", "status"])
async def test_a_number_beyond_the_float_range_is_a_bad_request(
    tools: EmbeddedServer, number: str, field: str
) -> None:
    body = json.dumps(tool("a") | {field: "NUMBER"}).replace('"NUMBER"', number)

    response = await tools.ask("POST", TOOLS, body.encode())

    assert response.status == 400
    assert tools.observed == []


@pytest.mark.parametrize("number", ["1e400", "1" + "0" * 400])
async def test_a_definition_with_a_limit_beyond_the_float_range_is_a_bad_request(
    api: EmbeddedServer, number: str
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": "NUMBER"}}}
    body = json.dumps(definition(plural="limits", schema=schema)).replace('"NUMBER"', number)

    response = await api.ask("POST", DEFINITIONS, body.encode())

    assert response.status == 400
    assert "cannot unmarshal number" in response.json["message"]
    assert api.observed == []


async def test_a_terminating_definition_accepts_no_objects(
    api: EmbeddedServer,
) -> None:
    held = definition(plural="holders", finalizers=["example.com/hold"])
    await api.asked("POST", DEFINITIONS, held)
    await api.asked("DELETE", f"{DEFINITIONS}/holders.fuzz.example.com")
    holder = tool("a") | {"kind": "Holder"}

    response = await api.ask("POST", TOOLS.replace("tools", "holders"), holder)

    assert response.status == 403
    assert "while custom resource definition is terminating" in response.json["message"]


async def test_a_binding_posted_to_the_bindings_resource_binds_the_pod_of_its_name(
    api: EmbeddedServer, namespace: str
) -> None:
    within = f"/api/v1/namespaces/{namespace}"
    spec = {"containers": [{"name": "main", "image": "example.com/main"}]}
    await api.asked("POST", f"{within}/pods", {"metadata": {"name": "web"}, "spec": spec})
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "first"}}

    response = await api.ask("POST", f"{within}/bindings", binding)

    pod = await api.asked("GET", f"{within}/pods/web")
    assert response.status == 201
    assert pod["spec"]["nodeName"] == "first"


@pytest.mark.parametrize(("name", "status"), [("missing", 404), ("", 400)])
async def test_a_binding_for_a_missing_pod_is_rejected(
    api: EmbeddedServer, namespace: str, name: str, status: int
) -> None:
    binding = {"metadata": {"name": name}, "target": {"name": "first"}}

    response = await api.ask("POST", f"/api/v1/namespaces/{namespace}/bindings", binding)

    assert response.status == status


@pytest.mark.parametrize("version", ["18446744073709551616", "9" * 5_000])
@pytest.mark.parametrize(("place", "status"), [("", 400), ("/a", 500), ("?watch=1", 500)])
async def test_a_resource_version_with_too_many_digits_is_out_of_range(
    api: EmbeddedServer, namespace: str, place: str, status: int, version: str
) -> None:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", maps, config_map("a"))
    separator = "&" if "?" in place else "?"

    response = await api.ask("GET", f"{maps}{place}{separator}resourceVersion={version}")

    assert response.status == status
    assert response.json["message"].endswith(": value out of range")


async def test_an_owner_reference_in_an_embedded_resource_needs_all_its_fields(
    api: EmbeddedServer,
) -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, **ANYTHING}
    schema = {"type": "object", "properties": {"inner": inner}}
    await api.asked("POST", DEFINITIONS, definition(plural="boxes", schema=schema))
    owned = {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "ownerReferences": [{}]}}

    response = await api.ask(
        "POST", TOOLS.replace("tools", "boxes"), tool("a", inner=owned) | {"kind": "Boxe"}
    )

    where = "inner.metadata.ownerReferences"
    assert response.status == 422
    assert [each["field"] for each in response.json["details"]["causes"]] == [
        f"{where}.{name}" for name in ("apiVersion", "kind", "name", "uid")
    ]


class CountingClock(FakeClock):
    """Records the duration of each sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        self.waits.append(seconds)
        async with super().timeout(seconds):
            yield


async def test_a_watch_without_bookmarks_sleeps_once_until_its_timeout() -> None:
    api = EmbeddedServer(clock=(clock := CountingClock()))

    async with api.pieces("/api/v1/configmaps?resourceVersion=1&timeoutSeconds=5") as pieces:
        async with asyncio.TaskGroup() as group:
            group.create_task(_read(pieces))
            await api.after(6)

    assert clock.waits[0] == 5.0
    assert len(clock.waits) <= 2


async def _read(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


async def test_a_deletecollection_at_an_old_version_deletes_current_objects(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", path, config_map("changed-since"))
    await api.asked("POST", path, config_map("gone-since"))
    then = (await api.asked("GET", path))["metadata"]["resourceVersion"]
    label = {"metadata": {"labels": {"a": "b"}}}
    await api.asked("PATCH", f"{path}/changed-since", label, sends=MERGE_PATCH)
    await api.asked("DELETE", f"{path}/gone-since")

    # Without a body, the version would also be a precondition of each deletion.
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    response = await api.ask(
        "DELETE", f"{path}?resourceVersion={then}&resourceVersionMatch=Exact", options
    )

    assert response.status == 200
    assert (await api.asked("GET", path))["items"] == []
