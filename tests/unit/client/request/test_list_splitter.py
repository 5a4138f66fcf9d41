"""The list splitter splits a list into blocks of whole items while it arrives."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.client.request import list_splitter
from steersman.client.request.list_splitter import ListSplitter


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_splitter, "BLOCK_BYTES", 64)


def decoded(block: bytes) -> list[Any] | None:
    """The items of a block, or None if they are incomplete."""
    try:
        found: list[Any] = json.loads(block)
    except ValueError:
        return None
    return found


def split(text: bytes, *, size: int = 16) -> tuple[list[list[Any]], Any]:
    """The blocks of a list that arrives in pieces of this size, and the list that remains."""
    splitter = ListSplitter(decoded)
    blocks = []
    for start in range(0, len(text), size):
        blocks += list(splitter.feed(text[start : start + size]))
    return blocks, json.loads(splitter.remaining_list)


def compact(body: Any) -> bytes:
    """JSON without white space, as API servers write it."""
    return json.dumps(body, separators=(",", ":")).encode()


def items(number: int, **more: Any) -> list[Any]:
    return [{"metadata": {"name": f"n{each}"}, **more} for each in range(number)]


def test_items_are_split_into_blocks_in_order_and_the_rest_is_a_list() -> None:
    everything = items(20)

    blocks, rest = split(compact({"kind": "PodList", "items": everything, "metadata": {"rv": "7"}}))

    assert len(blocks) > 3
    assert [item for block in blocks for item in block] + rest["items"] == everything
    assert (rest["kind"], rest["metadata"]) == ("PodList", {"rv": "7"})


def test_a_list_that_arrives_in_one_piece_is_split() -> None:
    everything = items(20)

    blocks, rest = split(compact({"kind": "PodList", "items": everything}), size=10_000)

    assert [item for block in blocks for item in block] + rest["items"] == everything
    assert len(rest["items"]) < 5


def test_no_more_than_a_block_is_held() -> None:
    splitter = ListSplitter(decoded)
    text = compact({"items": items(1000)})
    held = []

    for start in range(0, len(text), 16):
        list(splitter.feed(text[start : start + 16]))
        held.append(splitter.held_bytes)

    assert max(held) <= 4 * 64


@pytest.mark.parametrize("body", [{"items": []}, {"items": None}, {}, {"kind": "x" * 500}])
def test_a_list_without_items_is_left_as_it_is(body: Any) -> None:
    assert split(compact(body)) == ([], body)


def test_nested_lists_are_not_split() -> None:
    # Like the volume claims of a StatefulSet, which begin as the items do.
    everything = items(10, claims=items(5))

    blocks, rest = split(compact({"items": everything}))

    assert [item for block in blocks for item in block] + rest["items"] == everything


@pytest.mark.parametrize("before", [{"inside": {"items": items(20)}}, {'x"items': items(20)}])
def test_items_of_a_nested_object_are_not_split(before: Any) -> None:
    body = {**before, "items": items(20)}

    assert split(compact(body)) == ([], body)


def test_a_list_with_whitespace_is_not_split() -> None:
    body = {"metadata": {}, "items": items(20)}

    assert split(json.dumps(body, indent=2).encode()) == ([], body)


def test_managed_fields_do_not_cause_extra_decoding_attempts() -> None:
    guesses = 0

    def counting(block: bytes) -> list[Any] | None:
        nonlocal guesses
        guesses += 1
        return decoded(block)

    about = {"apiVersion": "example.com/v1", "kind": "Widget"}
    managed = [{"apiVersion": "example.com/v1", "manager": f"m{each}"} for each in range(8)]
    text = compact({"items": [{**about, "metadata": {"managedFields": managed}}] * 50})
    splitter = ListSplitter(counting)

    blocks = [
        block for at in range(0, len(text), 16) for block in splitter.feed(text[at : at + 16])
    ]

    assert len(blocks) > 10
    assert guesses == len(blocks)


def test_text_that_looks_like_the_next_item_is_not_split() -> None:
    everything = items(30, text='},{"metadata":{"name":"no"}')

    blocks, rest = split(compact({"items": everything}))

    assert [item for block in blocks for item in block] + rest["items"] == everything


def test_a_giant_item_is_not_scanned_repeatedly() -> None:
    tried = 0

    def counting(block: bytes) -> list[Any] | None:
        nonlocal tried
        tried += len(block)
        return decoded(block)

    inner = items(3000)
    text = compact({"items": [{"metadata": {}, "inside": inner}, *items(1)]})
    splitter = ListSplitter(counting)
    for start in range(0, len(text), 64):
        list(splitter.feed(text[start : start + 64]))

    assert tried < 20 * len(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
objects = st.dictionaries(st.sampled_from(["metadata", "items", "spec", 'a"b']), json_values)


@given(
    st.lists(objects, max_size=30),
    st.dictionaries(st.sampled_from(["aKind", "metadata"]), st.text() | objects),
    st.integers(min_value=1, max_value=200),
)
def test_splitting_keeps_every_item_unchanged(
    everything: list[Any], about: dict[str, Any], size: int
) -> None:
    body = {**about, "items": everything, "zlast": "y"}

    blocks, rest = split(compact(body), size=size)

    assert [item for block in blocks for item in block] + rest.pop("items") == everything
    assert rest == {**about, "zlast": "y"}
