"""The data of charts, independent of their drawing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from bench.harness.report import Section
from bench.harness.rounds import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median, the minimum and the maximum of the rounds."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, costs: Sequence[Cost], figure: str, factor: float = 1.0) -> "Spread":
        """The spread of one figure over all rounds."""
        values = [cost[figure] * factor for cost in costs]
        return cls(low=min(values), middle=median(values), high=max(values))


def spreads(
    costs: Mapping[str, Sequence[Cost]], figure: str, factor: float = 1.0
) -> Mapping[str, Spread]:
    """The spread of one figure for each contender that has it."""
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
    """The data of each panel, by its title; panels without data are omitted.

    ``shown`` maps the title to the section, the figure and the factor.
    """
    found = {
        title: spreads(sections[section].costs, figure, factor)
        for title, (section, figure, factor) in shown.items()
        if section in sections
    }
    return {title: each for title, each in found.items() if each}


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """One panel for each quantity, one bar for each contender.

    ``panels`` maps the title with its unit to the spread of each contender. ``limits`` maps the
    title to the limit of steersman. Shorter is better, unless ``is_more_better``.
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
class LineChart:
    """The growth of a quantity: a line for each contender, through its medians."""

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


Chart: TypeAlias = BarChart | LineChart
