"""The requests of a ``ListerWatcher``: list, watch and probe."""

from contextlib import suppress

from steersman.client import Fields, Labels
from steersman.errors import TooLargeResourceVersion
from steersman.names import ObjectRef
from steersman.watch import ClientListerWatcher
from tests.transports import Answer, refusing, saying
from tests.unit.client.kit import Fixture, Galaxy, Widget, widget, widgets

PATH = "GET /apis/example.com/v1/namespaces/default/widgets?"
SELECTED = "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dweb"


def source_of(world: Fixture) -> ClientListerWatcher[Widget]:
    return ClientListerWatcher(
        world.client,
        Widget,
        namespace="default",
        labels=Labels.equal({"app": "web"}),
        fields=Fields.equal({"metadata.name": "web"}),
    )


async def test_a_list_asks_for_the_most_recent_version() -> None:
    world = Fixture(saying(widgets(widget("a"), token="more")), saying(widgets(widget("b"))))

    names = [each.name async for page in source_of(world).pages(page_size=7) for each in page.items]

    assert names == ["a", "b"]
    assert world.server.sent == [
        f"{PATH}limit=7&{SELECTED}",
        f"{PATH}limit=7&continue=more&{SELECTED}",
    ]


async def test_a_watch_resumes_from_a_version() -> None:
    world = Fixture(Answer())

    async with source_of(world).watch(
        version="7", initial_events=False, timeout_seconds=311.4
    ) as events:
        assert [each async for each in events] == []

    assert world.server.sent == [
        f"{PATH}watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=311&{SELECTED}"
    ]


async def test_initial_events_are_requested_without_a_version() -> None:
    world = Fixture(Answer())

    async with source_of(world).watch(version=None, initial_events=True, timeout_seconds=300):
        pass

    assert world.server.sent == [
        f"{PATH}watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
        f"&resourceVersionMatch=NotOlderThan&timeoutSeconds=300&{SELECTED}"
    ]


async def test_a_probe_is_a_list_of_one_that_must_not_be_older() -> None:
    world = Fixture(saying(widgets(widget(), token="more")))

    await source_of(world).probe("7")

    assert world.server.sent == [
        f"{PATH}limit=1&resourceVersion=7&resourceVersionMatch=NotOlderThan&{SELECTED}"
    ]


async def test_a_probe_of_a_server_that_is_behind_is_not_retried() -> None:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    world = Fixture(refusing(504, "Timeout", details={"causes": [cause], "retryAfterSeconds": 1}))

    with suppress(TooLargeResourceVersion):
        await source_of(world).probe("7")

    assert len(world.server.sent) == 1


def test_a_source_has_a_ref_and_a_resource() -> None:
    assert str(source_of(Fixture()).ref) == "Widget default/*"
    assert ClientListerWatcher(Fixture().client, Galaxy).ref == ObjectRef("Galaxy", None, "*")
    assert ClientListerWatcher(Fixture().client, Galaxy).resource == "galaxies"
    assert repr(source_of(Fixture())) == "<ClientListerWatcher Widget default/*>"
