"""Completion indexes, in the format of a Job's status: ``1,3-5,7``. No I/O."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Indexes:
    """An immutable set of completion indexes, stored as sorted and disjoint intervals."""

    intervals: tuple[tuple[int, int], ...] = ()

    @classmethod
    def read(cls, text: str | None, completions: int) -> Self:
        """Parse ``text``, and return the indexes in it that are lower than ``completions``.

        Parts of ``text`` that are not intervals are ignored.
        """
        found = []
        for part in (text or "").split(","):
            first, dash, last = part.partition("-")
            try:
                interval = int(first), min(int(last if dash else first), completions - 1)
            except ValueError:
                continue
            if interval[0] >= completions:
                break
            found.append(interval)
        return cls(_merged(found))

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Self:
        """Return the set of the indexes in ``numbers``, which need not be sorted."""
        return cls(_merged((each, each) for each in sorted(numbers)))

    def __str__(self) -> str:
        return ",".join(_written(first, last) for first, last in self.intervals)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.intervals)

    def __contains__(self, index: int) -> bool:
        place = bisect_left(self.intervals, index, key=_last)
        return place < len(self.intervals) and self.intervals[place][0] <= index

    def __or__(self, other: Self) -> "Indexes":
        if not other.intervals:
            return self
        return Indexes(_merged(sorted((*self.intervals, *other.intervals))))

    def common(self, other: Self) -> int:
        """Return the number of indexes that are in this set and also in ``other``."""
        count, mine, theirs = 0, list(self.intervals), list(other.intervals)
        while mine and theirs:
            (first, last), (low, high) = mine[-1], theirs[-1]
            count += max(0, min(last, high) - max(first, low) + 1)
            (mine if first >= low else theirs).pop()
        return count

    def missing(self, count: int, *, below: int) -> list[int]:
        """Return the lowest ``count`` indexes that are not in the set and lower than ``below``.

        If there are fewer, all of them are returned.
        """
        found: list[int] = []
        candidate = 0
        for first, last in (*self.intervals, (below, below)):
            end = min(first, below, candidate + count - len(found))
            found += range(candidate, end)
            candidate = max(candidate, last + 1)
            if len(found) == count:
                break
        return found


def _merged(intervals: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last in intervals:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _written(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def _last(interval: tuple[int, int]) -> int:
    return interval[1]
