"""The continue tokens of one list, and the detection of an endless list. No I/O."""

from collections.abc import Sequence
from typing import Final

from steersman.errors import EndlessList
from steersman.kinds import Resource, Unstructured

# A server that filters after reading may return an empty page, or a few, but not this many in a
# row.
EMPTY_LIMIT: Final = 10


class Continuation:
    """The state of a list that is read page by page.

    ``token`` is the continue token of the next page; it is empty after the last page.
    ``EndlessList`` is raised if the same token is returned twice in a row, if too many pages in a
    row are empty, if two pages begin with the same object, or if the list has too many pages.
    Without these checks, a faulty server could cause requests without end.
    """

    def __init__(self, wanted: str, *, pages_limit: int) -> None:
        self.token = ""
        self._wanted = wanted
        self._pages_limit = pages_limit
        self._pages = 0
        self._empty = 0
        self._beginnings: set[tuple[str | None, str]] = set()

    def add(self, items: Sequence[Resource | Unstructured]) -> None:
        """Add ``items``, the first objects of a page.

        Raise ``EndlessList`` if an earlier page began with the same object.
        """
        if items:
            first = items[0].namespace, items[0].name
            if first in self._beginnings:
                raise self._endless("two pages begin with the same object")
            self._beginnings.add(first)

    def advance(self, token: str, *, is_empty: bool) -> bool:
        """Store ``token``, the continue token of a page, and return whether another page follows.

        ``is_empty`` is true if the page contains no objects.
        """
        self._pages += 1
        self._empty = self._empty + 1 if is_empty else 0
        if token and token == self.token:
            raise self._endless("the server returned the same continue token twice")
        if token and self._empty > EMPTY_LIMIT:
            raise self._endless(f"{self._empty} pages in a row are empty, but the list continues")
        if token and self._pages >= self._pages_limit:
            raise self._endless(f"it has more than {self._pages_limit} pages")
        self.token = token
        return bool(token)

    def _endless(self, problem: str) -> EndlessList:
        return EndlessList(wanted=self._wanted, problem=problem, pages=self._pages)
