"""What a chart shows, before anyone draws it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from bench.harness.report import Section
from bench.harness.rounds import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A median, and how far single rounds were from it."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, costs: Sequence[Cost], figure: str, factor: float = 1.0) -> "Spread":
        """One figure of every round."""
        values = [cost[figure] * factor for cost in costs]
        return cls(low=min(values), middle=median(values), high=max(values))


def spreads(
    costs: Mapping[str, Sequence[Cost]], figure: str, factor: float = 1.0
) -> Mapping[str, Spread]:
    """One figure of every contender that has it."""
    return {
        name: Spread.of(having, figure, factor)
        for name, having in (
            (name, [cost for cost in each if figure in cost]) for name, each in costs.items()
        )
        if having
    }


def panels(
    sections: Mapping[str, Section], shown: Mapping[str, tuple[str, str, float]]
) -> Mapping[str, Mapping[str, Spread]]:
    """By the title of a panel: which section's figure it shows, and times what.

    Without those of which nothing was found.
    """
    found = {
        title: spreads(sections[section].costs, figure, factor)
        for title, (section, figure, factor) in shown.items()
        if section in sections
    }
    return {title: each for title, each in found.items() if each}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """One panel for each quantity, one bar for each contender; shorter is better unless said.

    ``panels`` are by title, unit included, and have a spread for each contender; ``limits`` are by
    the same titles, a line that ours should stay below.
    """

    name: str
    title: str
    panels: Mapping[str, Mapping[str, Spread]]
    limits: Mapping[str, float]
    is_more_better: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(self.panels.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """How something grows: a line for each contender, through the medians of its points."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: Mapping[str, Sequence[tuple[float, Spread]]]
    is_logarithmic: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(self.series.values())


Picture: TypeAlias = Bars | Lines
