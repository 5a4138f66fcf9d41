"""Medians, tables and verdicts, as plain text."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median
from typing import ClassVar

from bench.harness.rounds import Cost
from bench.harness.spans import PARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One figure of every contender: which it is of its costs, and how it is shown."""

    title: str
    figure: str
    decimals: int
    factor: float = 1.0

    def cell(self, costs: Sequence[Cost]) -> str:
        """The median, and the smallest and largest of several; a dash for what was not found."""
        values = [cost[self.figure] * self.factor for cost in costs if self.figure in cost]
        if not values:
            return "–"
        middle, low, high = (
            f"{value:,.{self.decimals}f}" for value in (median(values), min(values), max(values))
        )
        return middle if len(values) == 1 else f"{middle} ({low}-{high})"


# How many decimals of a span are shown in a unit, and how many of that unit are a second.
SPANS = {"ms": (1, 1e3), "s": (2, 1.0)}


def in_parts(figure: str, words: str, unit: str) -> Iterator[Column]:
    """Columns of all that ``spans.shares`` tells of a figure, in ``ms`` or ``s``."""
    decimals, factor = SPANS[unit]
    for part in PARTS:
        title = f"{words} {part} {unit}".strip()
        yield Column(title=title, figure=f"{figure}_{part}", decimals=decimals, factor=factor)


def rounds_in_words(count: int) -> str:
    """So many of them."""
    return f"{count} round{'s' if count != 1 else ''}"


# What is shown of a figure; more, where that many would contradict the verdict.
DIGITS = 3
MAX_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Promise:
    """What both kinds of promise say of themselves.

    ``rounds`` has what each round found, and ``found`` is the median of that, or the worst of it. A
    round that does not tell, because a contender that it refers to has failed or because its
    figures do not say, is ``None``, and counts as one in which the promise was broken. What is
    judged and was not found is not kept.
    """

    what: str
    unit: str
    rounds: Sequence[float | None]
    is_of_worst: bool = False
    judged: bool = True

    # Of a kind: its sign, and what it would be to be broken entirely.
    sign: ClassVar[str]
    broken: ClassVar[float]

    @property
    def bound(self) -> float:
        """What is promised."""
        raise NotImplementedError

    def _worst(self, values: Iterable[float]) -> float:
        raise NotImplementedError

    def _is_within(self, value: float) -> bool:
        raise NotImplementedError

    @property
    def found(self) -> float | None:
        """What it is held against; nothing, if too many rounds do not tell."""
        known = [self.broken if each is None else each for each in self.rounds]
        pick = self._worst if self.is_of_worst else median
        value = pick(known) if known else self.broken
        return value if isfinite(value) else None

    @property
    def is_kept(self) -> bool:
        """Whether what was found is within it."""
        return self.found is not None and self._is_within(self.found)

    @property
    def is_held(self) -> bool:
        """Whether the promise was kept, as far as this run can tell."""
        return not self.judged or self.is_kept

    @property
    def verdict(self) -> str:
        """In a word."""
        if not self.judged:
            return "not judged"
        if self.found is None:
            return "NOT FOUND"
        return "ok" if self.is_kept else "MISSED"

    @property
    def found_in_words(self) -> str:
        """Three digits of it, or as many as it takes to see on which side it is."""
        if self.found is None:
            return "–"
        texts = [_in_digits(self.found, digits) for digits in range(DIGITS, MAX_DIGITS)]
        known = (text for text in texts if self._is_within(_number(text)) == self.is_kept)
        return next(known, texts[-1])

    @property
    def rounds_in_words(self) -> str:
        """Of how many rounds it is what, and how far those are apart."""
        known = [each for each in self.rounds if each is not None]
        if len(self.rounds) == 1 or not known:
            return rounds_in_words(len(self.rounds))
        pick = "worst" if self.is_of_worst else "median"
        low, high = (_in_digits(each, DIGITS) for each in (min(known), max(known)))
        silent = len(self.rounds) - len(known)
        return f"{pick} of {len(self.rounds)}, {low} to {high}" + (
            f", and {silent} did not tell" if silent else ""
        )

    def __str__(self) -> str:
        said = f"{self.what} {self.sign} {self.bound:,g}{self.unit}: {self.found_in_words}"
        of_rounds = f" ({self.rounds_in_words})" if len(self.rounds) > 1 else ""
        return f"{said} {self.verdict}{of_rounds}"


def _in_digits(value: float, digits: int) -> str:
    """At least so many, and all of those before the point."""
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if whole >= digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def _number(text: str) -> float:
    return float(text.replace(",", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(_Promise):
    """A promise of at most so much, and what came of it; not judged where the run was too small."""

    most: float

    sign = "≤"
    broken = inf

    @property
    def bound(self) -> float:
        """What is promised."""
        return self.most

    def _worst(self, values: Iterable[float]) -> float:
        return max(values)

    def _is_within(self, value: float) -> bool:
        return value <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor(_Promise):
    """A promise of at least so much, where ``Limit`` is one of at most."""

    least: float

    sign = "≥"
    broken = -inf

    @property
    def bound(self) -> float:
        """What is promised."""
        return self.least

    def _worst(self, values: Iterable[float]) -> float:
        return min(values)

    def _is_within(self, value: float) -> bool:
        return value >= self.least


def by_round(costs: Sequence[Cost], figure: str) -> Sequence[float | None]:
    """A figure of each round, for a promise of it."""
    return [cost.get(figure) for cost in costs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One kind of work: what it cost each contender, and what we promise of it.

    ``name`` is for programs, and one of its kind within a measure. ``notes`` say what else one has
    to know of the table.
    """

    name: str
    title: str
    columns: Sequence[Column]
    costs: Mapping[str, Sequence[Cost]]
    limits: Sequence[Limit | Floor] = ()
    notes: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """As a table, with the verdicts below."""
        rows = [["", *(column.title for column in self.columns)]]
        for name, costs in self.costs.items():
            rows.append([name, *(column.cell(costs) for column in self.columns)])
        name_width, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
        yield self.title
        for name, *cells in rows:
            padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            yield "   ".join([f"  {name:<{name_width}}", *padded])
        for note in self.notes:
            yield f"  {note}"
        for limit in self.limits:
            yield f"  {limit}"

    def markdown(self) -> Iterator[str]:
        """The same, where Markdown is shown."""
        yield f"### {self.title}"
        yield ""
        yield f"| | {' | '.join(column.title for column in self.columns)} |"
        yield f"|---|{'---:|' * len(self.columns)}"
        for name, costs in self.costs.items():
            yield f"| {name} | {' | '.join(column.cell(costs) for column in self.columns)} |"
        if self.notes or self.limits:
            yield ""
        for line in (*self.notes, *self.limits):
            yield f"- {line}"


def show_progress(text: str) -> None:
    """One changing line for people; a log of it would only bury the tables."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
