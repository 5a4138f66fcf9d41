"""The events of a watch, line by line."""

from typing import Any

import msgspec
import pytest

from steersman.client import (
    Bookmark,
    ClientSettings,
    DecodeFailure,
    ObjectDeleted,
    ObjectWritten,
    WatchEvent,
)
from steersman.client.watch_events import read_events
from steersman.errors import (
    Expired,
    Forbidden,
    InvalidResponse,
    ServerFailed,
    SteersmanError,
    Unreachable,
)
from steersman.kinds import Codec, Unstructured
from tests.transports import FakeResponse, Piece, error_response
from tests.unit.client.scripted_client import TYPED, LooseWidget, ScriptedClient, Widget, widget

WANTED = "watch Widget default/*"


def line(type: str, obj: object) -> bytes:
    return msgspec.json.encode({"type": type, "object": obj}) + b"\n"


def read(type: str, obj: object) -> WatchEvent[Widget]:
    (event,) = read_events(line(type, obj), Widget, codec=Codec(), wanted=WANTED)
    return event


def bookmark(version: str, **annotations: str) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"resourceVersion": version, "annotations": annotations},
        "spec": {},
    }


def status(code: int, reason: str) -> dict[str, Any]:
    return {"kind": "Status", "code": code, "reason": reason, "message": "because"}


async def received(
    fixture: ScriptedClient, kind: type[Any] = Widget
) -> tuple[list[WatchEvent[Any]], SteersmanError | None]:
    """All events of a watch, and the error that ended it."""
    found: list[WatchEvent[Any]] = []
    try:
        async with fixture.client.watch(kind, namespace="default") as events:
            async for event in events:
                found.append(event)  # noqa: PERF401 - what was received before an error counts
    except SteersmanError as error:
        return found, error
    return found, None


@pytest.mark.parametrize(("type", "is_new"), [("ADDED", True), ("MODIFIED", False)])
def test_a_written_object_is_received(type: str, is_new: bool) -> None:
    event = read(type, widget(size=4))

    assert isinstance(event, ObjectWritten)
    assert (event.obj.spec.size, event.is_new) == (4, is_new)


def test_a_deleted_object_is_received_with_its_last_state() -> None:
    event = read("DELETED", widget(version="8"))

    assert isinstance(event, ObjectDeleted)
    assert event.obj.resource_version == "8"


def test_unstructured_objects_are_received_with_every_field() -> None:
    body = widget(finalizers=["example.com/x"]) | {"extra": {"z": 1, "a": 2}}

    (event,) = read_events(line("ADDED", body), LooseWidget, codec=Codec(), wanted=WANTED)

    assert isinstance(event, ObjectWritten)
    assert event.obj.body == body
    assert type(event.obj) is LooseWidget


def test_a_bookmark_has_the_resource_version_of_the_stream() -> None:
    assert read("BOOKMARK", bookmark("9")) == Bookmark("9")


def test_a_bookmark_can_mark_the_end_of_the_initial_events() -> None:
    end = bookmark("9", **{"k8s.io/initial-events-end": "true"})

    assert read("BOOKMARK", end) == Bookmark("9", ends_initial_events=True)


def test_an_object_that_cannot_be_decoded_is_reported() -> None:
    event = read("MODIFIED", widget(size="large", version="8"))

    assert isinstance(event, DecodeFailure)
    assert (event.resource_version, event.is_gone) == ("8", False)
    assert event.error.ref == "Widget default/web"


def test_a_deleted_object_that_cannot_be_decoded_is_reported_as_deleted() -> None:
    event = read("DELETED", widget(size="large"))

    assert isinstance(event, DecodeFailure)
    assert event.is_gone


async def test_an_object_that_cannot_be_decoded_does_not_end_the_watch() -> None:
    body = line("ADDED", widget(size="large")) + line("ADDED", widget("api"))

    events, error = await received(ScriptedClient(FakeResponse(body=body)))

    assert [type(event) for event in events] == [DecodeFailure, ObjectWritten]
    assert error is None


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [(410, "Expired", Expired), (410, "Gone", Expired), (403, "Forbidden", Forbidden)],
)
def test_an_error_event_raises_its_typed_error(
    code: int, reason: str, kind: type[SteersmanError]
) -> None:
    with pytest.raises(kind, match=r"could not watch Widget default/\*"):
        read("ERROR", status(code, reason))


def test_an_empty_error_event_raises_a_server_error() -> None:
    with pytest.raises(ServerFailed, match="no explanation"):
        read("ERROR", {})


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error_response(410, "Expired"), Expired),
        (FakeResponse(body=line("ERROR", status(410, "Expired"))), Expired),
        (
            FakeResponse(body=line("ADDED", widget()) + line("ERROR", status(410, "Expired"))),
            Expired,
        ),
        (
            FakeResponse(body=[line("ADDED", widget()), Unreachable("connection reset")]),
            Unreachable,
        ),
    ],
)
async def test_a_watch_is_never_resumed_and_a_410_never_hidden(
    answer: FakeResponse, kind: type[SteersmanError]
) -> None:
    fixture = ScriptedClient(answer)

    _, error = await received(fixture)

    assert type(error) is kind
    assert len(fixture.server.requests) == 1


async def test_a_watch_that_the_server_closes_ends_without_an_error() -> None:
    events, error = await received(
        ScriptedClient(FakeResponse(body=line("BOOKMARK", bookmark("9"))))
    )

    assert events == [Bookmark("9")]
    assert error is None


async def test_chunk_boundaries_do_not_change_the_events() -> None:
    body = line("ADDED", widget("é")) + b"\n" + line("DELETED", widget("é"))

    events, _ = await received(
        ScriptedClient(FakeResponse(body=[body[at : at + 1] for at in range(len(body))]))
    )

    assert [type(event) for event in events] == [ObjectWritten, ObjectDeleted]


@pytest.mark.parametrize("kind", [Widget, LooseWidget])
@pytest.mark.parametrize("at_once", [True, False])
async def test_events_are_received_in_order_despite_other_lines(
    kind: type[Widget] | type[Unstructured], at_once: bool
) -> None:
    lines = [
        line("ADDED", widget("a")),
        line("MODIFIED", widget("a", version="8")),
        b"\r\n",
        line("BOOKMARK", bookmark("8")),
        line("DELETED", widget("a", version="9")),
        line("ERROR", status(410, "Expired")),
        line("ADDED", widget("b")),
    ]
    fixture = ScriptedClient(FakeResponse(body=b"".join(lines) if at_once else list(lines)))

    events, error = await received(fixture, kind)

    assert [_summary(each) for each in events] == ["new 7", "wrote 8", "up to 8", "removed 9"]
    assert type(error) is Expired


def _summary(event: WatchEvent[Any]) -> str:
    match event:
        case ObjectWritten(obj, is_new=True):
            return f"new {obj.resource_version}"
        case ObjectWritten(obj=obj):
            return f"wrote {obj.resource_version}"
        case ObjectDeleted(obj):
            return f"removed {obj.resource_version}"
        case Bookmark(version):
            return f"up to {version}"
        case DecodeFailure():
            return "undecodable"


@pytest.mark.parametrize("event", [ObjectWritten(TYPED), ObjectDeleted(TYPED), Bookmark("7")])
def test_an_event_cannot_be_changed(event: Any) -> None:
    with pytest.raises(AttributeError):
        event.obj = 2


async def test_a_stream_that_ends_within_a_line_is_an_error() -> None:
    whole = line("ADDED", widget())

    events, error = await received(ScriptedClient(FakeResponse(body=[whole, whole[:40]])))

    assert len(events) == 1
    assert type(error) is Unreachable
    assert "closed in the middle of an event" in str(error)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"<html>\n",
        b"{}\n",
        b"[]\n",
        b'{"type": 7, "object": {}}\n',
        b'{"type": "ADDED"}\n',
        b'{"type": "ADDED", "object": {"a": }}\n',
        b'{"type": "\xff", "object": {}}\n',
        b'{"type": "ADDED", "object": ' + b"[" * 100_000 + b"\n",
        line("ADDED", 7),
        line("ADDED", widget() | {"kind": "Gadget"}),
        line("ADDED", widget(size="large") | {"metadata": 7}),
        line("BOOKMARK", 7),
        line("BOOKMARK", {"metadata": {"resourceVersion": 7}}),
        line("SURPRISE", widget()),
        line("X" * 1000, widget()),
    ],
)
async def test_an_invalid_event_is_an_error(nonsense: bytes) -> None:
    events, error = await received(
        ScriptedClient(FakeResponse(body=[line("ADDED", widget()), nonsense]))
    )

    assert len(events) == 1
    assert type(error) is InvalidResponse
    assert len(str(error)) < 400


@pytest.mark.parametrize("piece_bytes", [1000, 2500])
async def test_an_oversized_event_is_rejected_before_it_is_complete(
    piece_bytes: int,
) -> None:
    endless: list[Piece] = [b"x" * piece_bytes] * 2
    fixture = ScriptedClient(
        FakeResponse(body=[*endless, AssertionError("read on")]),
        settings=ClientSettings(object_limit_bytes=1500),
    )

    _, error = await received(fixture)

    assert type(error) is InvalidResponse
    assert "longer than 1500 bytes" in str(error)


async def test_the_events_end_when_the_block_is_left() -> None:
    fixture = ScriptedClient(FakeResponse(body=line("ADDED", widget()) * 2))

    async with fixture.client.watch(Widget) as events:
        await anext(events)

    assert [event async for event in events] == []
    assert fixture.server.open_responses == 0
