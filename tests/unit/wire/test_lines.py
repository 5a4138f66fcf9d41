"""The line splitter, for any boundaries of the received chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.wire import LineSplitter


def fed(chunks: list[bytes], *, limit_bytes: int = 1000) -> tuple[list[bytes], bytes]:
    splitter = LineSplitter(limit_bytes)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines, splitter.rest


@given(
    text=st.text(alphabet="aé€\r\n", max_size=40).map(str.encode),
    cuts=st.lists(st.integers(0, 120), max_size=8),
)
def test_chunk_boundaries_do_not_change_the_lines(text: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(text)]

    pieces = [text[start:end] for start, end in pairwise(edges)]

    assert fed(pieces) == fed([text])


@given(
    text=st.text(alphabet="aé\r\n", max_size=40).map(str.encode),
    cuts=st.lists(st.integers(0, 120), max_size=8),
)
def test_blocks_hold_every_byte_of_the_lines_that_are_complete(
    text: bytes, cuts: list[int]
) -> None:
    edges = [0, *sorted(cuts), len(text)]
    splitter = LineSplitter(1000)

    blocks = [splitter.feed_block(text[start:end]) for start, end in pairwise(edges)]

    assert all(block.endswith(b"\n") for block in blocks if block)
    assert b"".join(blocks) + splitter.rest == text
    assert b"\n" not in splitter.rest


def test_a_line_is_returned_without_its_newline_or_carriage_return() -> None:
    assert fed([b"one\r", b"\ntwo\n"]) == ([b"one", b"two"], b"")


def test_empty_lines_are_skipped() -> None:
    assert fed([b"\n\r\none\n\n", b"\n"]) == ([b"one"], b"")


def test_empty_lines_can_be_kept() -> None:
    splitter = LineSplitter(limit_bytes=10, keep_empty=True)

    assert splitter.feed(b"\n\r\none\n\n") == [b"", b"", b"one", b""]
    assert splitter.rest == b""


def test_an_unfinished_line_is_the_rest() -> None:
    assert fed([b"one\ntw", b"o"]) == ([b"one"], b"two")


@pytest.mark.parametrize("ending", [b"", b"\n", b"\nshort\n"])
@pytest.mark.parametrize("piece_bytes", [1, 7, 100])
def test_a_line_is_never_longer_than_its_limit(piece_bytes: int, ending: bytes) -> None:
    text = b"short\n" + b"x" * 11 + ending
    pieces = [text[start : start + piece_bytes] for start in range(0, len(text), piece_bytes)]

    with pytest.raises(ValueError, match="longer than 10 bytes"):
        fed(pieces, limit_bytes=10)


def test_a_line_can_be_as_long_as_its_limit() -> None:
    splitter = LineSplitter(limit_bytes=10)

    assert splitter.feed(b"x" * 10 + b"\n" + b"y" * 10) == [b"x" * 10]
    assert splitter.rest == b"y" * 10


def test_a_long_line_in_small_pieces_is_joined_once() -> None:
    splitter = LineSplitter(limit_bytes=2**26)
    pieces = [b"x" * 1024] * 2**15

    # 32 MB: a copy for each piece would be 500 GB in total.
    for piece in pieces:
        assert splitter.feed(piece) == []

    assert splitter.feed(b"\n") == [b"x" * 2**25]


def test_the_repr_has_the_number_of_buffered_bytes_but_not_the_bytes() -> None:
    splitter = LineSplitter(limit_bytes=10)
    splitter.feed(b"canary")

    assert repr(splitter) == "<LineSplitter 6 of at most 10 bytes held>"
