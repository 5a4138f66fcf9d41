"""Cuts a list into blocks of whole items while it arrives, so that none of it is held for long.

To find out where an item ends, all of it has to be read, and only a decoder reads fast. So a cut is
guessed, where something follows that begins like the first item did, and the decoder judges it:
what begins with an item and is a sequence of whole values ends with an item. A wrong guess, as in a
list inside of an item, is not well formed, and another is made. What remains after a cut is a list
again. Where the items begin is found in the same way; a list of which they are not found, because
of white space or of other items before them, is not cut.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

import msgspec

B = TypeVar("B")

# Enough for the decoder to be the only cost; little beside the objects that come of it.
BLOCK_BYTES: Final = 2**19

# From the end of what has arrived, as many guesses are made; then more has to arrive.
GUESSES: Final = 4

_ITEMS: Final = b'"items":['

# How an item begins, as far as all items of a list begin alike. Custom resources say their version
# and kind, in this order; so do owner references and managed fields, but not the same.
_BEGINNING: Final = re.compile(rb'\{(?:"(?:apiVersion|kind)":"[^"\\]*",)*"[^"\\]*":')


class ListSplitter(Generic[B]):
    """Takes the bytes of a list, and gives what ``decode`` makes of blocks of its items.

    ``decode`` gets an array of items, and gives ``None`` if they are not whole.
    """

    def __init__(self, decode: Callable[[bytes], B | None]) -> None:
        self._decode = decode
        self._buffer = bytearray()
        self._items_at = 0  # where the items begin
        self._separator = b""
        self._next_try_bytes = BLOCK_BYTES

    def feed(self, piece: bytes) -> Iterator[B]:
        """The next bytes; what can be cut off is cut off."""
        self._buffer += piece
        while len(self._buffer) >= self._next_try_bytes:
            block = self._cut()
            if block is None:
                # Twice as much next time: a giant item is not to be read over and over.
                self._next_try_bytes = 2 * len(self._buffer)
                return
            self._next_try_bytes = BLOCK_BYTES
            yield block

    @property
    def rest(self) -> bytearray:
        """What was not cut off: a list of the last items, with all that the whole list said.

        Not a copy: it may be as large as the limit allows. Nothing may be fed afterwards.
        """
        return self._buffer

    @property
    def held_bytes(self) -> int:
        """How much is held."""
        return len(self._buffer)

    def _cut(self) -> B | None:
        if not self._separator and not self._find_items():
            return None
        start, end = self._items_at, len(self._buffer)
        for _ in range(GUESSES):
            end = self._buffer.rfind(self._separator, start, end)
            if end < 0:
                return None
            # With the bracket in front, and copied once: it is half a megabyte, many times.
            with memoryview(self._buffer) as whole, whole[start - 1 : end + 1] as items:
                array = b"".join((items, b"]"))
            decoded = self._decode(array)
            if decoded is not None:
                del self._buffer[start : end + 2]  # and the comma
                return decoded
        return None

    def _find_items(self) -> bool:
        found_at = self._buffer.find(_ITEMS)
        if found_at < 0:
            return False
        first = _BEGINNING.match(self._buffer, found_at + len(_ITEMS))
        if first is None or not _are_its_own(self._buffer[:found_at]):
            return False
        self._items_at = first.start()
        self._separator = b"}," + first.group()
        return True


class _Empty(msgspec.Struct):
    items: tuple[()]


_EMPTY: Final = msgspec.json.Decoder(_Empty)


def _are_its_own(head: bytearray) -> bool:
    """Whether items that follow this beginning of a list are the list's, not of something in it."""
    try:
        _EMPTY.decode(head + _ITEMS + b"]}")
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False
    return True
