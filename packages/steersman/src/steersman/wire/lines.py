"""Splits received bytes into lines."""


class LineSplitter:
    """Assembles lines from chunks of any size, and rejects lines longer than ``limit_bytes``.

    A carriage return before the newline is dropped. Empty lines are dropped unless ``keep_empty``.
    Each chunk is copied once, when a line is complete, so that a long line costs no more per byte
    than a short line.
    """

    def __init__(self, limit_bytes: int, *, keep_empty: bool = False) -> None:
        self._limit_bytes = limit_bytes
        self._keep_empty = keep_empty
        self._pieces: list[bytes] = []
        self._held_bytes = 0

    @property
    def rest(self) -> bytes:
        """The bytes after the last complete line."""
        return b"".join(self._pieces)

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that ``chunk`` completes.

        Raise ``ValueError`` as soon as a line is longer than the limit.
        """
        block = self.feed_block(chunk)
        if not block:
            return []
        lines = [line.removesuffix(b"\r") for line in block[:-1].split(b"\n")]
        return lines if self._keep_empty else [line for line in lines if line]

    def feed_block(self, chunk: bytes) -> bytes:
        """Return all lines that ``chunk`` completes, with their newlines, as one ``bytes``.

        Some decoders decode many lines together faster.
        """
        if not self._pieces and len(chunk) <= self._limit_bytes and chunk.endswith(b"\n"):
            return chunk
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._hold(chunk)
            return b""
        block = b"".join((*self._pieces, chunk[:end]))
        if len(block) > self._limit_bytes:
            self._check(max(map(len, block[:-1].split(b"\n"))))
        self._pieces = []
        self._held_bytes = 0
        self._hold(chunk[end:])
        return block

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._held_bytes += len(piece)
            self._check(self._held_bytes)

    def _check(self, line_bytes: int) -> None:
        if line_bytes > self._limit_bytes:
            raise ValueError(f"a line is longer than {self._limit_bytes} bytes")

    def __repr__(self) -> str:
        return f"<LineSplitter {self._held_bytes} of at most {self._limit_bytes} bytes held>"
