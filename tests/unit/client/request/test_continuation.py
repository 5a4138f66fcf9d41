"""Lists with several pages, and lists that never end."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from steersman.client import ClientSettings
from steersman.errors import EndlessList, InvalidResponse
from steersman.wire import Request
from tests.transports import FakeResponse, json_response
from tests.unit.client.scripted_client import ScriptedClient, Widget, widget, widgets

# More requests than this mean that the client never stops.
MOST = 200


def paging(page: Callable[[int], dict[str, Any]]) -> Callable[[Request], FakeResponse]:
    """A server that returns one page after another, without end."""
    numbers = count()

    def answer(request: Request) -> FakeResponse:
        number = next(numbers)
        assert number < MOST, "the client never stops"
        return json_response(page(number))

    return answer


def with_token(token: str, *names: str) -> dict[str, Any]:
    body = widgets(*map(widget, names))
    body["metadata"]["continue"] = token
    return body


async def names_from(fixture: ScriptedClient, method: str) -> list[str]:
    """The names of all Widgets, as one of the methods returns them."""
    if method == "list":
        return [obj.name for obj in (await fixture.client.list(Widget)).items]
    pages = getattr(fixture.client, method)(Widget)
    return [obj.name async for page in pages for obj in page.items]


ENDLESS: dict[str, Callable[[int], dict[str, Any]]] = {
    "the same continue token twice": lambda number: with_token("again", f"w{number}"),
    "begin with the same object": lambda number: with_token(f"t{number}", "w0", "w1"),
    "in a row are empty": lambda number: with_token(f"t{number}"),
    "more than 100 pages": lambda number: with_token(f"t{number}", f"w{number}"),
}


@pytest.mark.parametrize(("problem", "page"), ENDLESS.items(), ids=ENDLESS.keys())
@pytest.mark.parametrize("method", ["pages", "stream_list", "list"])
async def test_an_endless_list_is_an_error(
    method: str, problem: str, page: Callable[[int], dict[str, Any]]
) -> None:
    fixture = ScriptedClient(respond=paging(page), settings=ClientSettings(pages_limit=100))

    with pytest.raises(EndlessList, match=problem) as endless:
        await names_from(fixture, method)

    assert isinstance(endless.value, InvalidResponse)
    assert len(fixture.server.requests) == endless.value.pages + ("begin with" in problem)
    assert len(fixture.server.requests) <= 100
    assert "could not list Widget *: the list does not end: " in str(endless.value)


@pytest.mark.parametrize("method", ["pages", "stream_list"])
async def test_a_list_can_have_many_empty_pages(method: str) -> None:
    def page(number: int) -> dict[str, Any]:
        return with_token(
            f"t{number}" if number < 60 else "", *([f"w{number}"] if number % 5 == 0 else [])
        )

    fixture = ScriptedClient(respond=paging(page))

    names = await names_from(fixture, method)

    assert names == [f"w{number}" for number in range(0, 61, 5)]
