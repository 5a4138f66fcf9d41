"""Which of some resourceVersions came first. Pure.

Within one history they are decimal numbers that grow. A server of another make may use other
words, of which nothing can be known but whether they are the same.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Final, TypeVar

T = TypeVar("T")

# As many as a number of 64 bits has at most.
DIGITS: Final = 20

# Ten million writes: a busy cluster takes a quarter of an hour for them, and a watch has a bookmark
# every minute.
LEAP_DIGITS: Final = 7


def is_older(version: str, than: str) -> bool:
    """Whether ``version`` certainly came before ``than``: only of numbers can that be said."""
    if len(version) == len(than):
        # Almost always; and as long as each other, numbers are in order as words are.
        return version < than and _is_number(version + than)
    if not (version and than and _is_number(version + than)):
        return False
    # Without int(): this is asked at every event, and int() refuses thousands of digits.
    version, than = version.lstrip("0"), than.lstrip("0")
    return (len(version), version) < (len(than), than)


def is_far_ahead(version: str, of: str) -> bool:
    """Whether ``version`` is further ahead than any history gets between two things that are told.

    A server that tells of such a version is mistaken, or its history was made to leap, as restores
    do on purpose; a list says which.
    """
    if version[:-LEAP_DIGITS] == of[:-LEAP_DIGITS]:
        return False  # as nearly always
    if not (version and of and _is_number(version + of)):
        return False
    if len(version) > DIGITS:
        return True
    return int(version) - int(of[:DIGITS]) > 10**LEAP_DIGITS


def newest_first(items: Sequence[T], versions: Iterable[str]) -> list[T]:
    """The same items, those first whose versions came last."""
    # Words of one length are in order as numbers are, and quicker to sort than anything else.
    words = list(map(str.rjust, versions, repeat(DIGITS)))
    places = sorted(range(len(items)), key=words.__getitem__, reverse=True)
    return [items[place] for place in places]


def _is_number(version: str) -> bool:
    return version.isdigit() and version.isascii()
