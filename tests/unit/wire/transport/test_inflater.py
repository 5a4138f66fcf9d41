"""Compressed bodies, decompressed piece by piece."""

import gzip
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.wire.transport import inflater
from steersman.wire.transport.inflater import PIECE_BYTES, Inflater


def inflated(*pieces: bytes) -> list[bytes]:
    """The output for these pieces, in order."""
    inflater = Inflater()
    found = []
    for piece in pieces:
        inflater.feed(piece)
        while out := inflater.next():
            found.append(out)
    inflater.end()
    return found


@given(st.binary(max_size=5000), st.integers(min_value=1, max_value=500))
def test_compressed_data_is_decompressed_in_any_chunks(body: bytes, size: int) -> None:
    packed = gzip.compress(body)

    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]

    assert b"".join(inflated(*pieces)) == body


def test_a_decompression_bomb_is_returned_in_bounded_pieces() -> None:
    pieces = inflated(gzip.compress(bytes(10 * PIECE_BYTES)))

    assert sum(map(len, pieces)) == 10 * PIECE_BYTES
    assert max(map(len, pieces)) <= PIECE_BYTES


def test_all_data_is_returned_after_a_full_last_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inflater, "PIECE_BYTES", 7)
    packed = gzip.compress(bytes(1000))

    pieces = inflated(*(packed[at : at + 1] for at in range(len(packed))))

    assert b"".join(pieces) == bytes(1000)


def test_a_truncated_body_is_rejected() -> None:
    packed = gzip.compress(Random(0).randbytes(1000))

    with pytest.raises(ValueError, match="compressed body is incomplete"):
        inflated(packed[:500])


def test_a_body_that_is_not_gzip_is_rejected() -> None:
    with pytest.raises(ValueError, match="not gzip"):
        inflated(b"no such thing")


@given(st.lists(st.binary(max_size=500)), st.integers(min_value=1, max_value=500))
def test_a_body_of_several_gzip_members_is_decompressed_in_any_chunks(
    bodies: list[bytes], size: int
) -> None:
    packed = b"".join(map(gzip.compress, [b"first", *bodies]))

    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]

    assert b"".join(inflated(*pieces)) == b"first" + b"".join(bodies)


def test_trailing_data_that_is_not_gzip_is_rejected() -> None:
    with pytest.raises(ValueError, match="not gzip"):
        inflated(gzip.compress(b"{}"), b"and more")
