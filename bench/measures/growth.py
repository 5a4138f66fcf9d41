"""How cost grows with the number of objects: time should be linear, memory for each the same."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from bench.harness.charts import Lines, Spread
from bench.harness.contenders import OURS, THEIRS
from bench.harness.converging import converging
from bench.harness.delays import Pace, starting
from bench.harness.effort import Effort
from bench.harness.fitting import Points, exponent, exponent_above, for_each_more
from bench.harness.informers import Start, filled_cluster, programs, syncing
from bench.harness.operators import commands
from bench.harness.report import Column, Limit, Section, by_round, rounds_in_words
from bench.harness.rounds import RATIO, Cost, Turn, in_rounds
from bench.harness.world import add_apps

TITLE = "Growth: the same work as the number of objects doubles"

NAMES = (THEIRS, OURS)

# What was measured, for each contender, in each round, with each number of objects.
Found: TypeAlias = Mapping[str, Sequence[Mapping[int, Cost]]]

# The turn of all contenders with so many objects.
Turns: TypeAlias = Callable[[int], Mapping[str, Turn]]

# No more than this exponent is linear, give or take the noise of a shared machine;
TIME_MOST = 1.1
# where a start is taken off, which could hide how the rest grows, what is left has more of that;
ABOVE_MOST = 1.2
# and what an object takes in the last doubling, of what it takes in the first, is the same.
MEMORY_MOST = 1.15

EXPONENT = Column(title="exponent", figure="exponent", decimals=2)
ABOVE_START = Column(title="exponent above the start", figure="above", decimals=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One figure of every turn, and how it is shown; judged if it is promised how it grows."""

    name: str
    title: str
    unit: str
    figure: str
    factor: float = 1.0
    decimals: int = 2
    is_judged: bool = True

    def column(self, size: int) -> Column:
        """The one for so many objects."""
        return Column(
            title=f"{size:,}, {self.unit}",
            figure=_at(size),
            decimals=self.decimals,
            factor=self.factor,
        )


SYNC = (
    Quantity(name="sync-wall", title="Cold sync", unit="s", figure="wall"),
    Quantity(name="sync-cpu", title="CPU of a cold sync", unit="s", figure="cpu"),
)
# The server's part of that: how the server grows bounds how those it serves do.
SERVER = Quantity(
    name="sync-server",
    title="CPU of kube-apiserver for that cold sync",
    unit="s",
    figure="server_cpu",
    is_judged=False,
)
PEAK = Quantity(
    name="sync-peak",
    title="Peak memory of a cold sync",
    unit="MB",
    figure="peak",
    decimals=1,
    # What is there before the first object is in it; each object's own is judged.
    is_judged=False,
)
RECONCILE = (
    Quantity(
        name="reconcile-wall",
        title="AppServices to Deployment, Service and status",
        unit="s",
        figure="wall",
        decimals=1,
    ),
    Quantity(name="reconcile-cpu", title="CPU of the operator for that", unit="s", figure="cpu"),
)
LATENCY = tuple(
    Quantity(
        name=f"latency-{part}",
        title=f"From when a change was due until its reconcile begins, {part}",
        unit="ms",
        figure=f"due_{part}",
        factor=1e3,
        decimals=1,
        # It should be flat, and of so few milliseconds the machine has its share.
        is_judged=False,
    )
    for part in ("p50", "p99")
)
# Of these, what each object adds.
SYNC_MEMORY = Quantity(
    name="sync-memory",
    title="Resident memory of an informer, for each object more",
    unit="bytes",
    # Once Go has given back what it can.
    figure="later_resident",
    factor=1e6,
    decimals=0,
)
RECONCILE_MEMORY = Quantity(
    name="reconcile-memory",
    title="Resident memory of an operator, for each AppService more",
    unit="bytes",
    figure="resident",
    factor=1e6,
    decimals=0,
    # A doubling adds little, and of that what the work has left behind has its share.
    is_judged=False,
)
MEMORY = (SYNC_MEMORY, RECONCILE_MEMORY)
QUANTITIES = {each.name: each for each in (*SYNC, SERVER, PEAK, *RECONCILE, *LATENCY, *MEMORY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects of each kind of work; each number is twice the one before."""

    sync: Sequence[int]
    reconcile: Sequence[int]
    latency: Sequence[int]
    pace: Pace
    # At most.
    rounds: int
    # Turns of each in a round, with each number of objects: a cold sync is short, and so noisy.
    sync_turns: int


FULL = Scale(
    sync=(10_000, 20_000, 40_000, 80_000),
    # Not fewer: a server that is idle at times makes up for the second for which ours holds back a
    # status in progress, which is most of what ten take. Taken off, it leaves too little of the
    # fewest, and the line is too steep.
    reconcile=(250, 500, 1_000, 2_000),
    latency=(1_000, 2_000, 4_000),
    pace=Pace(rate=100.0, seconds=6.0),
    rounds=3,
    sync_turns=3,
)
QUICK = Scale(
    sync=(500, 1_000, 2_000),
    reconcile=(25, 50),
    latency=(100, 200),
    pace=Pace(rate=50.0, seconds=2.0),
    rounds=1,
    sync_turns=1,
)
SLEEP_MS = 1
# What it takes with so few is hardly more than the start; and enough for whatever is measured first
# to find no more to load than what comes later.
FEW = 10


def sections(effort: Effort) -> Iterator[Section]:
    """Cold sync, reconciles and latency, each with more and more objects."""
    scale = FULL if effort.is_full else QUICK
    rounds = min(effort.rounds, scale.rounds)
    known, operators = programs(NAMES), commands(NAMES)
    found = by_size(
        effort,
        (FEW, *scale.sync),
        lambda: _filling(effort, known),
        rounds=rounds,
        turns_each=scale.sync_turns,
        warming_up=FEW,
    )
    for quantity in (*SYNC, SERVER, PEAK):
        yield grown(quantity, found, judged=effort.is_judged)
    yield memory(SYNC_MEMORY, found, judged=effort.is_judged)

    def converged(size: int) -> Mapping[str, Turn]:
        return {name: converging(command, count=size) for name, command in operators.items()}

    found = by_size(
        effort,
        (FEW, *scale.reconcile),
        lambda: nullcontext(converged),
        rounds=rounds,
        warming_up=FEW,
    )
    for quantity in RECONCILE:
        yield grown(quantity, found, judged=effort.is_judged)
    yield memory(RECONCILE_MEMORY, found, judged=effort.is_judged)

    def changed(size: int) -> Mapping[str, Turn]:
        return {
            name: _at_pace(
                scale.pace,
                starting(command, count=size, paces=[scale.pace], sleep_ms=SLEEP_MS),
            )
            for name, command in operators.items()
        }

    found = by_size(effort, scale.latency, lambda: nullcontext(changed), rounds=rounds)
    for quantity in LATENCY:
        yield grown(quantity, found, judged=effort.is_judged)


def _at_pace(pace: Pace, turn: Turn) -> Turn:
    return lambda: pace.of([turn()])[0]


@contextmanager
def _filling(effort: Effort, known: Mapping[str, Start]) -> Iterator[Turns]:
    """One server that is filled step by step, so that nothing is created twice."""
    there = FEW
    effort.progress(f"creating {there:,} AppServices")
    with filled_cluster(apps=there) as plane:

        def turns(size: int) -> Mapping[str, Turn]:
            nonlocal there
            effort.progress(f"creating AppServices, up to {size:,}")
            asyncio.run(add_apps(plane.kubeconfig, range(there, size)))
            there = size
            return {name: syncing(start, plane, count=size) for name, start in known.items()}

        yield turns


def by_size(
    effort: Effort,
    sizes: Sequence[int],
    growing: Callable[[], AbstractContextManager[Turns]],
    *,
    rounds: int,
    turns_each: int = 1,
    warming_up: int = 0,
) -> Found:
    """From the least to the most, again and again; what does not count has ``warming_up`` objects.

    With each number of objects, a round has the medians of ``turns_each`` turns. Each round is a
    whole growth: what else the machine does for minutes meets all sizes of one round, and not one
    size of all.
    """
    found: dict[str, list[dict[int, Cost]]] = {name: [{} for _ in range(rounds)] for name in NAMES}
    for number in range(rounds):
        with growing() as turns:
            for place, size in enumerate(sizes):
                is_first = number == place == 0
                effort.progress(f"round {number + 1} of {rounds}: {size:,} objects")
                before = turns(warming_up) if is_first and warming_up else {}
                at_size = turns(size)
                # The order of contenders varies.
                order = list(at_size)[:: -1 if (number + place) % 2 else 1]
                costs = in_rounds(
                    {name: at_size[name] for name in order},
                    rounds=turns_each,
                    progress=effort.progress,
                    warming_up=before,
                )
                for name, turned in costs.items():
                    found[name][number][size] = _medians(turned)
    return found


def _medians(turned: Sequence[Cost]) -> Cost:
    return {figure: median(cost[figure] for cost in turned) for figure in turned[0]}


def grown(quantity: Quantity, found: Found, *, judged: bool) -> Section:
    """What it was with each number of objects, and how it grew."""
    sizes, has_start = _sizes(found), FEW in found[OURS][0]
    largest = f"{_at(sizes[-1])}{RATIO}"
    costs = {
        name: [
            {**_fitted(quantity, mine), largest: mine[sizes[-1]][quantity.figure] / theirs}
            for mine, theirs in zip(
                rounds,
                (each[sizes[-1]][quantity.figure] for each in found[THEIRS]),
                strict=True,
            )
        ]
        for name, rounds in found.items()
    }
    return Section(
        name=quantity.name,
        title=f"{quantity.title}, by the number of objects ({_rounds(found)})",
        columns=(
            *([replace(quantity.column(FEW), figure="start")] if has_start else []),
            *(quantity.column(size) for size in sizes),
            Column(title=f"{sizes[-1]:,}, of {THEIRS}", figure=largest, decimals=2),
            EXPONENT,
            *([ABOVE_START] if has_start else []),
        ),
        costs=costs,
        limits=list(_limits(quantity, costs[OURS], judged=judged)),
    )


def _limits(quantity: Quantity, ours: Sequence[Cost], *, judged: bool) -> Iterator[Limit]:
    if not quantity.is_judged:
        return
    for column, most in ((EXPONENT, TIME_MOST), (ABOVE_START, ABOVE_MOST)):
        yield Limit(
            what=f"{OURS}: {quantity.title}, {column.title}",
            most=most,
            unit="",
            rounds=by_round(ours, column.figure),
            judged=judged,
        )


def _fitted(quantity: Quantity, by_size: Mapping[int, Cost]) -> Cost:
    points = _points(quantity, by_size)
    fitted = {**{_at(size): value for size, value in points}, "exponent": exponent(points)}
    if FEW in by_size:
        fitted["start"] = by_size[FEW][quantity.figure]
        above = exponent_above(fitted["start"], points)
        if above is not None:
            fitted["above"] = above
    return fitted


def _points(quantity: Quantity, by_size: Mapping[int, Cost]) -> Points:
    return [(size, cost[quantity.figure]) for size, cost in by_size.items() if size != FEW]


def memory(quantity: Quantity, found: Found, *, judged: bool) -> Section:
    """What each object takes, by how much more memory there is after each doubling."""
    sizes = _sizes(found)
    largest = f"{_at(sizes[-1])}{RATIO}"
    more = {
        name: [for_each_more(_points(quantity, by_size)) for by_size in rounds]
        for name, rounds in found.items()
    }
    costs: Mapping[str, Sequence[Cost]] = {
        name: [
            {
                **{_at(size): value for size, value in mine},
                **_ratio("ratio", mine[-1][1], mine[0][1]),
                **_ratio(largest, mine[-1][1], theirs[-1][1]),
            }
            for mine, theirs in zip(rounds, more[THEIRS], strict=True)
        ]
        for name, rounds in more.items()
    }
    return Section(
        name=quantity.name,
        title=f"{quantity.title} ({_rounds(found)})",
        columns=(
            *(
                replace(quantity.column(after), title=f"{before:,} to {after:,}, {quantity.unit}")
                for before, after in pairwise(sizes)
            ),
            Column(title=f"the last, of {THEIRS}", figure=largest, decimals=2),
            Column(title="last of first", figure="ratio", decimals=2),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{OURS}: memory of an object in the last doubling, of that in the first",
                most=MEMORY_MOST,
                unit="",
                rounds=by_round(costs[OURS], "ratio"),
                judged=judged,
            )
        ]
        if quantity.is_judged
        else [],
    )


def _ratio(name: str, value: float, base: float) -> Cost:
    """There is none to a doubling that adds nothing, which is chance."""
    return {name: value / base} if base > 0 else {}


def _at(size: float) -> str:
    """What a figure is called that was found with so many objects."""
    return f"at {size:.0f}"


def _sizes(found: Found) -> Sequence[int]:
    return [size for size in found[OURS][0] if size != FEW]


def _rounds(found: Found) -> str:
    return rounds_in_words(len(found[OURS]))


def pictures(sections: Mapping[str, Section]) -> Iterator[Lines]:
    """A line of each contender, for each quantity."""
    for section in sections.values():
        quantity = QUANTITIES[section.name]
        yield Lines(
            name=quantity.name,
            title=quantity.title,
            x_title="objects",
            y_title=quantity.unit,
            series={
                name: [
                    (size, Spread.of(costs, _at(size), quantity.factor))
                    for size in _sizes_in(costs[0])
                ]
                for name, costs in section.costs.items()
            },
            # Where a straight line is linear growth; what is flat is shown from zero.
            is_logarithmic=quantity.is_judged and quantity not in MEMORY,
        )


def _sizes_in(cost: Cost) -> Sequence[int]:
    return [
        int(name.removeprefix("at "))
        for name in cost
        if name.startswith("at ") and not name.endswith(RATIO)
    ]
