"""Compressed bodies, inflated piece by piece. Pure."""

import zlib
from typing import Final

# Of a body that was meant to explode, no more than this is made at a time, and whoever reads it
# can stop in time.
PIECE_BYTES: Final = 2**20

_GZIP: Final = zlib.MAX_WBITS | 16  # with a gzip header


class Inflater:
    """Takes the pieces of a gzip stream, and gives what they stand for.

    A stream may have several members, one after the other, as files do that were joined.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=_GZIP)
        self._waiting = b""
        self.has_more = False  # after a whole piece: perhaps the next needs no more bytes

    def feed(self, piece: bytes) -> None:
        """One more piece; all of what came before must have been taken."""
        self._waiting = piece

    def next(self) -> bytes:
        """What the piece stands for, or some of that; empty once another is needed.

        ``ValueError`` if it is nonsense.
        """
        while True:
            if self._member.eof:
                if not self._waiting:
                    self.has_more = False
                    return b""
                self._member = zlib.decompressobj(wbits=_GZIP)
            try:
                # Even where nothing waits: it may hold back what did not fit into the last piece.
                inflated = self._member.decompress(self._waiting, PIECE_BYTES)
            except zlib.error as error:
                raise ValueError(f"the body is not gzip: {error}") from None
            self._waiting = self._member.unconsumed_tail or self._member.unused_data
            if inflated or not self._waiting:
                self.has_more = len(inflated) >= PIECE_BYTES
                return inflated

    def end(self) -> None:
        """There is no more; ``ValueError`` if there should be."""
        if not self._member.eof:
            raise ValueError("the body ended in the middle of its compression")
