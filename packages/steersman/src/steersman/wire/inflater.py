"""Compressed bodies, inflated piece by piece. Pure."""

import zlib
from typing import Final

# A compression bomb is inflated in pieces of this size, so that its reader can stop in time.
PIECE_BYTES: Final = 2**20

_GZIP: Final = zlib.MAX_WBITS | 16  # with a gzip header


class Inflater:
    """Takes the pieces of a gzip stream, and gives the inflated bytes.

    A stream may have several members, one after the other, as files do that were joined.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=_GZIP)
        self._waiting = b""
        self.has_more = False  # after a full piece: there may be another without more input

    def feed(self, piece: bytes) -> None:
        """Add a piece; all output of the pieces before must have been taken."""
        self._waiting = piece

    def next(self) -> bytes:
        """The inflated bytes of the piece, or some of them; empty once another piece is needed.

        ``ValueError`` if it is not gzip.
        """
        while True:
            if self._member.eof:
                if not self._waiting:
                    self.has_more = False
                    return b""
                self._member = zlib.decompressobj(wbits=_GZIP)
            try:
                # Even without input: output that did not fit into the last piece may be left.
                inflated = self._member.decompress(self._waiting, PIECE_BYTES)
            except zlib.error as error:
                raise ValueError(f"the body is not gzip: {error}") from None
            self._waiting = self._member.unconsumed_tail or self._member.unused_data
            if inflated or not self._waiting:
                self.has_more = len(inflated) >= PIECE_BYTES
                return inflated

    def end(self) -> None:
        """End the input; ``ValueError`` if it is incomplete."""
        if not self._member.eof:
            raise ValueError("the body ended in the middle of its compression")
