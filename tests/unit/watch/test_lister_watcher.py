"""The requests of a ``ListerWatcher``: list, watch and probe."""

from contextlib import suppress

from steersman.client import Fields, Labels
from steersman.errors import TooLargeResourceVersion
from steersman.names import ObjectRef
from steersman.watch import ClientListerWatcher
from tests.transports import FakeResponse, error_response, json_response
from tests.unit.client.scripted_client import Galaxy, ScriptedClient, Widget, widget, widgets

PATH = "GET /apis/example.com/v1/namespaces/default/widgets?"
SELECTED = "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dweb"


def source_of(fixture: ScriptedClient) -> ClientListerWatcher[Widget]:
    return ClientListerWatcher(
        fixture.client,
        Widget,
        namespace="default",
        labels=Labels.equal({"app": "web"}),
        fields=Fields.equal({"metadata.name": "web"}),
    )


async def test_a_list_asks_for_the_most_recent_version() -> None:
    fixture = ScriptedClient(
        json_response(widgets(widget("a"), token="more")), json_response(widgets(widget("b")))
    )

    names = [
        each.name async for page in source_of(fixture).pages(page_size=7) for each in page.items
    ]

    assert names == ["a", "b"]
    assert fixture.server.sent == [
        f"{PATH}limit=7&{SELECTED}",
        f"{PATH}limit=7&continue=more&{SELECTED}",
    ]


async def test_a_watch_resumes_from_a_version() -> None:
    fixture = ScriptedClient(FakeResponse())

    async with source_of(fixture).watch(
        version="7", initial_events=False, timeout_seconds=311.4
    ) as events:
        assert [each async for each in events] == []

    assert fixture.server.sent == [
        f"{PATH}watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=311&{SELECTED}"
    ]


async def test_initial_events_are_requested_without_a_version() -> None:
    fixture = ScriptedClient(FakeResponse())

    async with source_of(fixture).watch(version=None, initial_events=True, timeout_seconds=300):
        pass

    assert fixture.server.sent == [
        f"{PATH}watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
        f"&resourceVersionMatch=NotOlderThan&timeoutSeconds=300&{SELECTED}"
    ]


async def test_a_probe_is_a_list_of_one_that_must_not_be_older() -> None:
    fixture = ScriptedClient(json_response(widgets(widget(), token="more")))

    await source_of(fixture).probe("7")

    assert fixture.server.sent == [
        f"{PATH}limit=1&resourceVersion=7&resourceVersionMatch=NotOlderThan&{SELECTED}"
    ]


async def test_a_probe_of_a_server_that_is_behind_is_not_retried() -> None:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    fixture = ScriptedClient(
        error_response(504, "Timeout", details={"causes": [cause], "retryAfterSeconds": 1})
    )

    with suppress(TooLargeResourceVersion):
        await source_of(fixture).probe("7")

    assert len(fixture.server.sent) == 1


def test_a_source_has_a_ref_and_a_resource() -> None:
    assert str(source_of(ScriptedClient()).ref) == "Widget default/*"
    assert ClientListerWatcher(ScriptedClient().client, Galaxy).ref == ObjectRef(
        "Galaxy", None, "*"
    )
    assert ClientListerWatcher(ScriptedClient().client, Galaxy).resource == "galaxies"
    assert repr(source_of(ScriptedClient())) == "<ClientListerWatcher Widget default/*>"
