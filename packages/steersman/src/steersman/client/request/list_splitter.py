"""Splits a list into blocks of complete items while it arrives, so that little is buffered.

The end of an item can only be found by reading all of the item, and only a decoder reads fast.
Therefore the splitter guesses a cut, and the decoder validates the guess. A guessed cut is a
position after which the text continues like the beginning of the first item. If the text before the
cut is a sequence of complete values that begins with an item, it ends with an item. After a wrong
guess, as in a list inside an item, the text is not well formed, and the splitter guesses again. The
text after a cut is a list again. The beginning of the items is found in the same way. If it cannot
be found, because of white space or of other items before it, the list is not split.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

import msgspec

B = TypeVar("B")

# At this size, decoding is the only cost; the text is small compared to the decoded objects.
BLOCK_BYTES: Final = 2**19

# The number of guesses before the splitter waits for more bytes.
GUESSES: Final = 4

_ITEMS: Final = b'"items":['

# The common beginning of all items in a list. Custom resources begin with their apiVersion and
# kind, in this order; so do owner references and managed fields, but with other values.
_BEGINNING: Final = re.compile(rb'\{(?:"(?:apiVersion|kind)":"[^"\\]*",)*"[^"\\]*":')


class ListSplitter(Generic[B]):
    """A splitter that receives the bytes of a list and yields decoded blocks of its items.

    ``decode`` decodes a JSON array of items; it returns ``None`` if an item is incomplete.
    """

    def __init__(self, decode: Callable[[bytes], B | None]) -> None:
        self._decode = decode
        self._buffer = bytearray()
        self._items_at = 0  # where the items begin
        self._separator = b""
        self._next_try_bytes = BLOCK_BYTES

    def feed(self, piece: bytes) -> Iterator[B]:
        """Add the next bytes, and yield each block that is complete."""
        self._buffer += piece
        while len(self._buffer) >= self._next_try_bytes:
            block = self._cut()
            if block is None:
                # Doubled, so that a very large item is not read again for every piece.
                self._next_try_bytes = 2 * len(self._buffer)
                return
            self._next_try_bytes = BLOCK_BYTES
            yield block

    @property
    def remaining_list(self) -> bytearray:
        """Return the list without the yielded items: its last items, and all fields of the list
        itself.

        The result is not a copy, because it may be as large as the limit permits. Do not call
        ``feed`` afterwards.
        """
        return self._buffer

    @property
    def held_bytes(self) -> int:
        """The number of buffered bytes."""
        return len(self._buffer)

    def _cut(self) -> B | None:
        if not self._separator and not self._find_items():
            return None
        start, end = self._items_at, len(self._buffer)
        for _ in range(GUESSES):
            end = self._buffer.rfind(self._separator, start, end)
            if end < 0:
                return None
            # One copy, with the bracket in front: the block is half a megabyte, and there are many.
            with memoryview(self._buffer) as whole, whole[start - 1 : end + 1] as items:
                array = b"".join((items, b"]"))
            decoded = self._decode(array)
            if decoded is not None:
                del self._buffer[start : end + 2]  # with the comma
                return decoded
        return None

    def _find_items(self) -> bool:
        found_at = self._buffer.find(_ITEMS)
        if found_at < 0:
            return False
        first = _BEGINNING.match(self._buffer, found_at + len(_ITEMS))
        if first is None or not _belong_to_list(self._buffer[:found_at]):
            return False
        self._items_at = first.start()
        self._separator = b"}," + first.group()
        return True


class _Empty(msgspec.Struct):
    items: tuple[()]


_EMPTY: Final = msgspec.json.Decoder(_Empty)


def _belong_to_list(head: bytearray) -> bool:
    """Whether items after ``head`` belong to the list itself, not to a value inside the list."""
    try:
        _EMPTY.decode(head + _ITEMS + b"]}")
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False
    return True
