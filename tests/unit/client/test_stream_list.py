"""All objects of a kind from one response, decoded while it arrives."""

import asyncio

import msgspec
import pytest

from steersman.client import ClientSettings
from steersman.client.request import list_splitter
from steersman.errors import DeadlinePassed, Expired, InvalidResponse
from steersman.kinds import DecodedList
from tests.transports import FakeResponse, Piece, error_response, json_response
from tests.unit.client.scripted_client import LooseWidget, ScriptedClient, Widget, widget, widgets


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_splitter, "BLOCK_BYTES", 600)


def split(body: object, *, size: int = 100) -> list[Piece]:
    """A body in pieces of this size."""
    text = msgspec.json.encode(body)
    return [text[start : start + size] for start in range(0, len(text), size)]


def in_pieces(body: object) -> FakeResponse:
    """A response that arrives in pieces."""
    return FakeResponse(body=split(body))


async def names_in(fixture: ScriptedClient, kind: type[Widget]) -> list[list[str]]:
    return [[obj.name for obj in piece.items] async for piece in fixture.client.stream_list(kind)]


async def test_objects_are_yielded_before_the_response_is_complete() -> None:
    hangs = asyncio.Event()
    *most, _ = split(widgets(*(widget(f"w{each}") for each in range(20))))
    fixture = ScriptedClient(
        FakeResponse(body=[*most, hangs.wait]), settings=ClientSettings(deadline_seconds=1.0)
    )

    piece = await anext(aiter(fixture.client.stream_list(Widget)))

    assert [obj.name for obj in piece.items][:2] == ["w0", "w1"]


async def test_all_objects_are_yielded_in_order_and_the_last_piece_has_the_version() -> None:
    fixture = ScriptedClient(
        in_pieces(widgets(*(widget(f"w{each}") for each in range(20)), version="42"))
    )

    pieces = [piece async for piece in fixture.client.stream_list(Widget, namespace="default")]

    assert len(pieces) > 3
    assert [obj.name for piece in pieces for obj in piece.items] == [f"w{n}" for n in range(20)]
    assert [piece.resource_version for piece in pieces][-2:] == ["", "42"]
    assert fixture.server.sent == ["GET /apis/example.com/v1/namespaces/default/widgets"]


async def test_objects_that_cannot_be_decoded_are_separated_in_each_piece() -> None:
    sizes = [3, "large"] * 10
    fixture = ScriptedClient(
        in_pieces(widgets(*(widget(f"w{n}", size=s) for n, s in enumerate(sizes))))
    )

    pieces: list[DecodedList[Widget]] = [
        piece async for piece in fixture.client.stream_list(Widget)
    ]

    assert sum(len(piece.items) for piece in pieces) == 10
    assert sum(len(piece.invalid) for piece in pieces) == 10


async def test_unstructured_objects_are_yielded_too() -> None:
    fixture = ScriptedClient(in_pieces(widgets(*(widget(f"w{each}") for each in range(20)))))

    pieces = [piece async for piece in fixture.client.stream_list(LooseWidget)]

    assert [obj.name for piece in pieces for obj in piece.items] == [f"w{n}" for n in range(20)]


async def test_a_short_list_is_one_piece() -> None:
    assert await names_in(ScriptedClient(json_response(widgets(widget("a")))), Widget) == [["a"]]
    assert await names_in(ScriptedClient(json_response(widgets())), Widget) == [[]]


async def test_a_stalled_response_fails_at_the_deadline() -> None:
    clock = ScriptedClient().clock
    answer = FakeResponse(body=[b'{"apiVersion":', lambda: clock.sleep(100.0)])
    fixture = ScriptedClient(answer, clock=clock, settings=ClientSettings(deadline_seconds=5.0))

    with pytest.raises(DeadlinePassed, match=r"the rest of the response did not arrive within 5 s"):
        await names_in(fixture, Widget)

    assert fixture.server.open_responses == 0


async def test_an_endless_response_is_rejected_at_the_size_limit() -> None:
    answer = FakeResponse(body=[b'{"apiVersion":"' + b"x" * 900] * 3)
    fixture = ScriptedClient(answer, settings=ClientSettings(page_limit_bytes=1000))

    with pytest.raises(InvalidResponse, match="larger than 1000 bytes"):
        await names_in(fixture, Widget)


async def test_an_api_error_is_raised_without_a_retry() -> None:
    fixture = ScriptedClient(error_response(410, "Expired"))

    with pytest.raises(Expired):
        await names_in(fixture, Widget)

    assert len(fixture.server.sent) == 1


async def test_unrequested_pages_are_read_to_the_last() -> None:
    first = widgets(*(widget(f"w{each}") for each in range(10)), version="42", token="more")
    fixture = ScriptedClient(in_pieces(first), in_pieces(widgets(widget("last"), version="42")))

    pieces = await names_in(fixture, Widget)

    assert [name for names in pieces for name in names] == [*(f"w{n}" for n in range(10)), "last"]
    assert fixture.server.sent == [
        "GET /apis/example.com/v1/widgets",
        "GET /apis/example.com/v1/widgets?continue=more",
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"kind": "Status", "apiVersion": "v1", "status": "Success"}, "the response is v1 Status"),
        ({"kind": "PodList", "apiVersion": "v1", "items": []}, "the response is v1 PodList"),
        (
            {**widgets(), "items": [None]},
            "the response is a list with an item that is not an object",
        ),
        (
            {**widgets(), "items": [{}, 7]},
            "the response is a list with an item that is not an object",
        ),
    ],
)
async def test_a_response_that_is_not_a_list_of_the_kind_is_rejected(
    body: dict[str, object], problem: str
) -> None:
    with pytest.raises(InvalidResponse, match=problem):
        await names_in(ScriptedClient(in_pieces(body)), Widget)


async def test_a_truncated_list_is_rejected() -> None:
    *most, _ = split(widgets(*(widget(f"w{each}") for each in range(20))))

    with pytest.raises(InvalidResponse, match="not the expected JSON"):
        await names_in(ScriptedClient(FakeResponse(body=most)), Widget)


@pytest.mark.parametrize("compress", [False, True])
async def test_lists_are_requested_compressed_if_configured(compress: bool) -> None:
    settings = ClientSettings(compress_lists=compress)
    fixture = ScriptedClient(
        *([json_response(widgets(widget("a")))] * 2), json_response(widget("a")), settings=settings
    )

    await names_in(fixture, Widget)
    await fixture.client.list(Widget)
    await fixture.client.get(Widget, "a", namespace="default")

    assert [request.is_large for request in fixture.server.requests] == [compress, compress, False]
