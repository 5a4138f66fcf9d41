"""Decompresses gzip bodies piece by piece. No I/O."""

import zlib
from typing import Final

# A compression bomb is inflated in pieces of this size, so that its reader can stop in time.
PIECE_BYTES: Final = 2**20

_GZIP: Final = zlib.MAX_WBITS | 16  # expects a gzip header


class Inflater:
    """Decompresses a gzip stream that arrives in pieces.

    A stream may consist of several gzip members, as a concatenation of gzip files does.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=_GZIP)
        self._waiting = b""
        self.has_more = False  # after a full piece, there may be another without more input

    def feed(self, piece: bytes) -> None:
        """Add the next compressed ``piece``.

        Before this call, call ``next`` until the output of the previous piece is complete.
        """
        self._waiting = piece

    def next(self) -> bytes:
        """Return some decompressed bytes; ``b""`` if another piece is needed.

        Raise ``ValueError`` if the stream is not gzip.
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
        """Check that the stream is complete; otherwise raise ``ValueError``."""
        if not self._member.eof:
            raise ValueError("the compressed body is incomplete")
