"""Compares resourceVersions. No I/O.

Within one history of the server, resourceVersions are increasing decimal numbers. A server other
than kube-apiserver may use other texts, which can only be compared for equality.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Final, TypeVar

T = TypeVar("T")

# The most digits of a 64-bit number.
DIGITS: Final = 20

# Ten million writes: a busy cluster takes a quarter of an hour for them, and a watch receives a
# bookmark every minute.
LEAP_DIGITS: Final = 7


def is_older(version: str, than: str) -> bool:
    """Whether ``version`` is certainly older than ``than``.

    The result is false unless both are numbers.
    """
    if len(version) == len(than):
        # Almost always; numbers of one length are in the order of their texts.
        return version < than and _is_number(version + than)
    if not (version and than and _is_number(version + than)):
        return False
    # Without int(), because this runs for every event, and int() rejects thousands of digits.
    version, than = version.lstrip("0"), than.lstrip("0")
    return (len(version), version) < (len(than), than)


def is_far_ahead(version: str, of: str) -> bool:
    """Whether ``version`` is too far ahead of ``of`` to be the version of the next event.

    Either such a version is wrong, or the server's revisions were raised on purpose, as by
    ``etcdutl snapshot restore --bump-revision``. A new list shows which of the two is true.
    """
    if version[:-LEAP_DIGITS] == of[:-LEAP_DIGITS]:
        return False  # nearly always
    if not (version and of and _is_number(version + of)):
        return False
    if len(version) > DIGITS:
        return True
    return int(version) - int(of[:DIGITS]) > 10**LEAP_DIGITS


def newest_first(items: Sequence[T], versions: Iterable[str]) -> list[T]:
    """Return ``items``, sorted by their ``versions``, the latest version first."""
    # Texts of one length are in the order of their numbers, and sort fastest.
    words = list(map(str.rjust, versions, repeat(DIGITS)))
    places = sorted(range(len(items)), key=words.__getitem__, reverse=True)
    return [items[place] for place in places]


def _is_number(version: str) -> bool:
    return version.isdigit() and version.isascii()
