"""The REST mapper: from a kind to its resource."""

import asyncio

import pytest

from steersman.client import RestMapper
from steersman.client.mapper import REFRESH_SECONDS
from steersman.errors import BadValue, UnknownKind, Unreachable
from steersman.wire import Request
from tests.clocks import FakeClock
from tests.transports import FakeResponse, Scripted, json_response
from tests.unit.client.scripted_client import ScriptedClient, widget


class Server:
    """An API server that serves these kinds of example.com/v1; more can be added."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = [*kinds]
        self.fails = False
        self.clock = FakeClock()
        self.fixture = ScriptedClient(respond=self.answer, clock=self.clock)
        self.mapper = RestMapper(self.fixture.client)

    def answer(self, request: Request) -> Scripted:
        if self.fails:
            return Unreachable("connection reset")
        resources = [
            {"resource": f"{kind.lower()}s", "responseKind": {"kind": kind}, "scope": "Namespaced"}
            for kind in self.kinds
        ]
        group = {
            "metadata": {"name": "example.com"},
            "versions": [{"version": "v1", "resources": resources}],
        }
        served = [group] if request.path == "/apis" else []
        body = json_response({"kind": "APIGroupDiscoveryList", "items": served}).body
        # Slow enough that all concurrent callers still wait when the response arrives.
        return FakeResponse(after=lambda: self.clock.sleep(REFRESH_SECONDS), body=body)

    @property
    def discoveries(self) -> int:
        return self.fixture.server.sent.count("GET /apis")


async def test_discovery_is_requested_once_for_all_kinds() -> None:
    server = Server("Widget", "Gadget")

    found = await server.mapper.of_kind("example.com/v1", "Widget")
    named = await server.mapper.named("gadgets")

    assert found.resource_type.plural == "widgets"
    assert named.resource_type.gvk.kind == "Gadget"
    assert server.discoveries == 1


async def test_a_kind_that_appears_later_is_found() -> None:
    server = Server("Widget")
    await server.mapper.named("widgets")

    server.kinds.append("Gadget")
    found = await server.mapper.of_kind("example.com/v1", "Gadget")

    assert found.resource_type.plural == "gadgets"
    assert server.discoveries == 2


async def test_an_unknown_kind_does_not_repeat_discovery_too_often() -> None:
    server = Server("Widget")

    for _ in range(20):
        with pytest.raises(UnknownKind, match=r"does not have example\.com/v1 Ghost"):
            await server.mapper.of_kind("example.com/v1", "Ghost")
        server.clock.advance(REFRESH_SECONDS / 10)

    # At the start, and then at most once in REFRESH_SECONDS.
    assert server.discoveries == 1 + 2


async def test_concurrent_lookups_share_one_discovery() -> None:
    server = Server("Widget")

    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(server.mapper.named("widgets"))

    assert server.discoveries == 1


async def test_concurrent_misses_share_one_more_discovery() -> None:
    server = Server("Widget")
    await server.mapper.named("widgets")
    server.clock.advance(REFRESH_SECONDS)

    found = await asyncio.gather(
        *(server.mapper.named("ghosts") for _ in range(50)), return_exceptions=True
    )

    assert {type(each) for each in found} == {UnknownKind}
    assert server.discoveries == 2


async def test_known_kinds_are_kept_while_the_server_is_down() -> None:
    server = Server("Widget")
    await server.mapper.named("widgets")
    server.fails = True
    server.clock.advance(REFRESH_SECONDS)

    with pytest.raises(Unreachable):
        await server.mapper.named("ghosts")
    found = await server.mapper.named("widgets")

    assert found.resource_type.plural == "widgets"


async def test_an_object_from_a_file_gets_a_class_with_its_resource() -> None:
    server = Server("Widget")

    obj = await server.mapper.unstructured(widget())

    assert type(obj).resource_type.plural == "widgets"
    assert obj.body == widget()


async def test_a_document_that_is_not_an_object_is_rejected() -> None:
    with pytest.raises(BadValue, match="a Kubernetes object"):
        await Server().mapper.unstructured({"hello": "world"})


async def test_a_kind_without_a_class_gets_an_unstructured_one() -> None:
    kind = await Server("Widget").mapper.class_of("example.com/v1", "Widget")

    assert kind.resource_type.plural == "widgets"
