"""Medians, limits and tables."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median
from typing import ClassVar

from bench.harness.rounds import Cost
from bench.harness.spans import PERCENTILES


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table: a figure of the costs, and its format."""

    title: str
    figure: str
    decimals: int
    factor: float = 1.0

    def cell(self, costs: Sequence[Cost]) -> str:
        """The median, with the minimum and maximum of several rounds; a dash without a value."""
        values = [cost[self.figure] * self.factor for cost in costs if self.figure in cost]
        if not values:
            return "–"
        middle, low, high = (
            f"{value:,.{self.decimals}f}" for value in (median(values), min(values), max(values))
        )
        return middle if len(values) == 1 else f"{middle} ({low}-{high})"


# The number of decimals, and the factor from seconds, for each unit of time.
TIME_UNITS = {"ms": (1, 1e3), "s": (2, 1.0)}


def percentile_columns(figure: str, words: str, unit: str) -> Iterator[Column]:
    """The columns for ``spans.percentiles`` of a figure, in ``ms`` or ``s``."""
    decimals, factor = TIME_UNITS[unit]
    for part in PERCENTILES:
        title = f"{words} {part} {unit}".strip()
        yield Column(title=title, figure=f"{figure}_{part}", decimals=decimals, factor=factor)


def rounds_text(count: int) -> str:
    """A number of rounds, as text."""
    return f"{count} round{'s' if count != 1 else ''}"


# The digits of a result; more if the rounded result would contradict the verdict.
DIGITS = 3
MAX_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    """The common part of upper and lower limits.

    ``rounds`` has the value of each round, and ``found`` is their median, or the worst of them. A
    round without a value is ``None``, and counts as a violation of the limit. An enforced limit
    without a result is violated.
    """

    what: str
    unit: str
    rounds: Sequence[float | None]
    is_of_worst: bool = False
    enforced: bool = True

    # Of each subclass: the sign, and the value of a round without a result.
    sign: ClassVar[str]
    worst: ClassVar[float]

    @property
    def bound(self) -> float:
        """The value of the limit."""
        raise NotImplementedError

    def _worst(self, values: Iterable[float]) -> float:
        raise NotImplementedError

    def _is_within(self, value: float) -> bool:
        raise NotImplementedError

    @property
    def found(self) -> float | None:
        """The median or the worst round; ``None`` if too many rounds have no value."""
        known = [self.worst if each is None else each for each in self.rounds]
        pick = self._worst if self.is_of_worst else median
        value = pick(known) if known else self.worst
        return value if isfinite(value) else None

    @property
    def is_met(self) -> bool:
        """Whether the result is within the limit."""
        return self.found is not None and self._is_within(self.found)

    @property
    def passes(self) -> bool:
        """Whether the limit is met, or is not enforced in this run."""
        return not self.enforced or self.is_met

    @property
    def verdict(self) -> str:
        """The verdict for tables."""
        if not self.enforced:
            return "not enforced"
        if self.found is None:
            return "NO RESULT"
        return "ok" if self.is_met else "EXCEEDED"

    @property
    def found_text(self) -> str:
        """The result with three digits, or with as many as show the verdict."""
        if self.found is None:
            return "–"
        texts = [_rounded(self.found, digits) for digits in range(DIGITS, MAX_DIGITS)]
        known = (text for text in texts if self._is_within(_number(text)) == self.is_met)
        return next(known, texts[-1])

    @property
    def rounds_text(self) -> str:
        """The number of rounds, and their range."""
        known = [each for each in self.rounds if each is not None]
        if len(self.rounds) == 1 or not known:
            return rounds_text(len(self.rounds))
        pick = "worst" if self.is_of_worst else "median"
        low, high = (_rounded(each, DIGITS) for each in (min(known), max(known)))
        silent = len(self.rounds) - len(known)
        return f"{pick} of {len(self.rounds)}, {low} to {high}" + (
            f", {silent} without a result" if silent else ""
        )

    def __str__(self) -> str:
        said = f"{self.what} {self.sign} {self.bound:,g}{self.unit}: {self.found_text}"
        of_rounds = f" ({self.rounds_text})" if len(self.rounds) > 1 else ""
        return f"{said} {self.verdict}{of_rounds}"


def _rounded(value: float, digits: int) -> str:
    """A value with at least ``digits`` digits, and all digits before the point."""
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if whole >= digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def _number(text: str) -> float:
    return float(text.replace(",", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(_Bound):
    """An upper limit, and the result; a run that is too small does not enforce it."""

    most: float

    sign = "≤"
    worst = inf

    @property
    def bound(self) -> float:
        """The value of the limit."""
        return self.most

    def _worst(self, values: Iterable[float]) -> float:
        return max(values)

    def _is_within(self, value: float) -> bool:
        return value <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor(_Bound):
    """A lower limit, and the result."""

    least: float

    sign = "≥"
    worst = -inf

    @property
    def bound(self) -> float:
        """The value of the limit."""
        return self.least

    def _worst(self, values: Iterable[float]) -> float:
        return min(values)

    def _is_within(self, value: float) -> bool:
        return value >= self.least


def by_round(costs: Sequence[Cost], figure: str) -> Sequence[float | None]:
    """A figure of each round, for a limit."""
    return [cost.get(figure) for cost in costs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table: the costs of one kind of work for each contender, and the limits.

    ``name`` is unique within a measure. ``notes`` are lines below the table.
    """

    name: str
    title: str
    columns: Sequence[Column]
    costs: Mapping[str, Sequence[Cost]]
    limits: Sequence[Limit | Floor] = ()
    notes: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """The table as text, with its notes and limits below."""
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
        """The table as Markdown."""
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
    """Show the progress on one line of a terminal; a pipe gets only the tables."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
