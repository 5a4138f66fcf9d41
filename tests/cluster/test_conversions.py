"""Versions that a webhook converts, on an in-process server."""

import asyncio
from typing import Any

import pytest

from tests.embedded import MERGE_PATCH, EmbeddedServer
from tests.outbounds import Webhooks

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "example.com"


def convert(review: Any) -> Any:
    """Convert an object; only its version changes."""
    version = review["request"]["desiredAPIVersion"]
    converted = [{**each, "apiVersion": version} for each in review["request"]["objects"]]
    return {"convertedObjects": converted, "result": {"status": "Success"}}


def version(name: str, *, storage: bool) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


DEFINITION = {
    "metadata": {"name": f"things.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [version("v1", storage=True), version("v2", storage=False)],
        "conversion": {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"url": "https://webhooks.example.com/things"},
                "conversionReviewVersions": ["v1"],
            },
        },
    },
}


class Things:
    """A server with objects, and the conversion reviews that it sent."""

    def __init__(self) -> None:
        self.webhooks = Webhooks(things=convert)
        self.api = EmbeddedServer(outbound=self.webhooks)

    def path(self, version: str, name: str = "", *, namespace: str = "default") -> str:
        path = f"/apis/{GROUP}/{version}/namespaces/{namespace}/things"
        return f"{path}/{name}" if name else path

    async def create(self, name: str, *, version: str = "v1", namespace: str = "default") -> Any:
        body = {
            "apiVersion": f"{GROUP}/{version}",
            "kind": "Thing",
            "metadata": {"name": name},
            "spec": {"name": name},
        }
        return await self.api.asked("POST", self.path(version, namespace=namespace), body)

    @property
    def converted(self) -> list[list[str]]:
        """The names of the objects in each review so far."""
        return [
            [each["metadata"]["name"] for each in request["objects"]]
            for _, request in self.webhooks.received
        ]


@pytest.fixture
async def things() -> Things:
    made = Things()
    await made.api.asked("POST", DEFINITIONS, DEFINITION)
    return made


async def test_a_conversion_webhook_is_called_once_for_a_list(things: Things) -> None:
    for name in ("a", "b"):
        await things.create(name)

    first = await things.api.asked("GET", things.path("v2"))
    again = await things.api.asked("GET", things.path("v2"))

    assert things.converted == [["a", "b"]]
    assert first == again
    assert {each["apiVersion"] for each in first["items"]} == {f"{GROUP}/v2"}


async def test_a_watch_of_one_namespace_converts_no_others(things: Things) -> None:
    other = await things.api.namespace()
    await things.create("old")
    await things.create("others", namespace=other)

    async with things.api.watch(things.path("v2")) as lines:
        first = await lines.seen(1)
        await things.create("others-too", namespace=other)
        await things.create("new")
        second = await lines.seen(1)

    assert first + second == [("ADDED", "old"), ("ADDED", "new")]
    assert things.converted == [["old"], ["new"]]


async def test_a_retried_write_is_stored_once(things: Things) -> None:
    before = things.api.log.revision

    made = await things.create("a", version="v2")

    # To the stored version, and back to that of the request.
    assert things.converted == [["a"], ["a"]]
    assert things.api.log.revision == before + 1
    assert made == await things.api.asked("GET", things.path("v2", "a"))


async def test_a_client_that_disconnects_during_a_webhook_call_writes_nothing(
    things: Things,
) -> None:
    await things.create("a")
    before = things.api.log.revision
    asked = asyncio.Event()

    async def hang() -> None:
        asked.set()
        await asyncio.Event().wait()

    things.webhooks.meanwhile.append(hang)
    patch = things.api.ask(
        "PATCH", things.path("v2", "a"), {"spec": {"name": "b"}}, sends=MERGE_PATCH
    )
    async with asyncio.TaskGroup() as group:
        patching = group.create_task(patch)
        await asked.wait()
        patching.cancel()

    assert patching.cancelled()
    assert things.api.log.revision == before
    assert (await things.api.asked("GET", things.path("v1", "a")))["spec"] == {"name": "a"}


async def test_an_invalid_conversion_response_is_not_a_server_failure(things: Things) -> None:
    await things.create("a")
    things.webhooks.scripts["things"] = lambda _: {"convertedObjects": 7, "result": []}

    response = await things.api.ask("GET", things.path("v2", "a"))

    assert (response.status, things.api.observed) == (500, [])
    assert "cannot unmarshal number into Go struct field" in response.json["message"]
