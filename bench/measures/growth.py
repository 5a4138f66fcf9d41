"""How cost grows with the number of objects: time should be linear, memory for each the same."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from bench.harness.charts import Lines, Spread
from bench.harness.converging import converging
from bench.harness.delays import Pace, starting
from bench.harness.effort import Effort
from bench.harness.fitting import exponent, exponent_above_start, for_each_more
from bench.harness.informers import OURS, THEIRS, filled_cluster, programs, syncing
from bench.harness.operators import commands
from bench.harness.report import Column, Limit, Section
from bench.harness.rounds import Cost, Turn, in_rounds
from bench.harness.world import add_apps

TITLE = "Growth: the same work as the number of objects doubles"

NAMES = (THEIRS, OURS)

# What was measured, for each contender, in each round, with each number of objects.
Found: TypeAlias = Mapping[str, Sequence[Mapping[int, Cost]]]

# No more than this exponent is linear, give or take the noise of a shared machine;
TIME_MOST = 1.1
# where a start is left out, which could hide how the rest grows, differences have more of that;
ABOVE_MOST = 1.2
# and what an object takes in the last doubling, of what it takes in the first, is the same.
MEMORY_MOST = 1.15

EXPONENT = Column(title="exponent", figure="exponent", decimals=2)
ABOVE_START = Column(title="exponent above the start", figure="above", decimals=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One figure of every turn, and how it is shown; judged if it has to be linear."""

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
MEMORY = "sync-memory"
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
        title=f"From sending a change until its reconcile begins, {part}",
        unit="ms",
        figure=f"sent_{part}",
        factor=1e3,
        decimals=1,
        # It should be flat, and of so few milliseconds the machine has its share.
        is_judged=False,
    )
    for part in ("p50", "p99")
)
QUANTITIES = {each.name: each for each in (*SYNC, *RECONCILE, *LATENCY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects of each kind of work; each number is twice the one before."""

    sync: Sequence[int]
    reconcile: Sequence[int]
    latency: Sequence[int]
    pace: Pace
    sync_rounds: int


FULL = Scale(
    sync=(5_000, 10_000, 20_000, 40_000, 80_000),
    reconcile=(250, 500, 1_000, 2_000),
    latency=(1_000, 2_000, 4_000, 8_000, 16_000),
    pace=Pace(rate=100.0, seconds=10.0),
    sync_rounds=2,
)
QUICK = Scale(
    sync=(500, 1_000, 2_000),
    reconcile=(25, 50),
    latency=(100, 200),
    pace=Pace(rate=50.0, seconds=2.0),
    sync_rounds=1,
)
SLEEP_MS = 1
# Enough for whatever is measured first to find no more to load than what comes later.
FEW = 10


def sections(effort: Effort) -> Iterator[Section]:
    """Cold sync, reconciles and latency, each with more and more objects."""
    scale = FULL if effort.is_full else QUICK
    found = _synced(effort, scale)
    for quantity in SYNC:
        yield grown(quantity, found, is_full=effort.is_full)
    yield memory(found, is_full=effort.is_full)

    operators = commands(NAMES)

    def converged(size: int) -> Mapping[str, Turn]:
        return {name: converging(command, count=size) for name, command in operators.items()}

    found = _by_size(effort, scale.reconcile, converged, warming_up=converged(FEW))
    for quantity in RECONCILE:
        yield grown(quantity, found, is_full=effort.is_full)

    def changed(size: int) -> Mapping[str, Turn]:
        return {
            name: _at_pace(
                scale.pace,
                starting(command, count=size, paces=[scale.pace], sleep_ms=SLEEP_MS),
            )
            for name, command in operators.items()
        }

    found = _by_size(effort, scale.latency, changed)
    for quantity in LATENCY:
        yield grown(quantity, found, is_full=effort.is_full)


def _at_pace(pace: Pace, turn: Turn) -> Turn:
    return lambda: pace.of([turn()])[0]


def _synced(effort: Effort, scale: Scale) -> Found:
    """One server that is filled step by step, so that nothing is created twice."""
    known = programs(NAMES)
    there = scale.sync[0]
    effort.progress(f"creating {there:,} AppServices")
    with filled_cluster(apps=there) as plane:

        def turns(size: int) -> Mapping[str, Turn]:
            nonlocal there
            effort.progress(f"creating AppServices, up to {size:,}")
            asyncio.run(add_apps(plane.kubeconfig, range(there, size)))
            there = size
            return {name: syncing(start, plane, count=size) for name, start in known.items()}

        return _by_size(
            effort,
            scale.sync,
            turns,
            rounds=min(scale.sync_rounds, effort.rounds),
            warming_up=turns(there),
        )


def _by_size(
    effort: Effort,
    sizes: Sequence[int],
    turns: Callable[[int], Mapping[str, Turn]],
    *,
    rounds: int = 1,
    warming_up: Mapping[str, Turn] | None = None,
) -> Found:
    """Turns at one size after the other."""
    found: dict[str, list[dict[int, Cost]]] = {name: [{} for _ in range(rounds)] for name in NAMES}
    for size in sizes:
        effort.progress(f"{size:,} objects")
        costs = in_rounds(
            turns(size),
            rounds=rounds,
            progress=effort.progress,
            warming_up=(warming_up or {}) if size == sizes[0] else {},
        )
        for name, each in costs.items():
            for number, cost in enumerate(each):
                found[name][number][size] = cost
    return found


def grown(quantity: Quantity, found: Found, *, is_full: bool) -> Section:
    """What it was with each number of objects, and how it grew."""
    sizes = _sizes(found)
    costs = {name: [_fitted(quantity, each) for each in rounds] for name, rounds in found.items()}
    return Section(
        name=quantity.name,
        title=f"{quantity.title}, by the number of objects ({_rounds(found)})",
        columns=(*(quantity.column(size) for size in sizes), EXPONENT, ABOVE_START),
        costs=costs,
        limits=list(_limits(quantity, costs[OURS], is_full=is_full)),
    )


def _limits(quantity: Quantity, ours: Sequence[Cost], *, is_full: bool) -> Iterator[Limit]:
    for column, most in ((EXPONENT, TIME_MOST), (ABOVE_START, ABOVE_MOST)):
        values = [cost[column.figure] for cost in ours if column.figure in cost]
        # Of wall times, single differences are chance.
        is_steady = column is EXPONENT or quantity.figure == "cpu"
        if quantity.is_judged and is_steady and values:
            yield Limit(
                what=f"{OURS}: {quantity.title}, {column.title}",
                most=most,
                unit="",
                found=median(values),
                judged=is_full,
            )


def _fitted(quantity: Quantity, by_size: Mapping[int, Cost]) -> Cost:
    points = [(size, cost[quantity.figure]) for size, cost in by_size.items()]
    above = exponent_above_start(points)
    return {
        **{_at(size): value for size, value in points},
        "exponent": exponent(points),
        **({} if above is None else {"above": above}),
    }


def memory(found: Found, *, is_full: bool) -> Section:
    """What each object takes, by how much more memory there is after each doubling."""
    sizes = _sizes(found)
    costs: dict[str, Sequence[Cost]] = {}
    for name, rounds in found.items():
        each = [
            for_each_more([(size, cost["resident"]) for size, cost in by_size.items()])
            for by_size in rounds
        ]
        costs[name] = [
            {**{_at(size): value for size, value in more}, "ratio": more[-1][1] / more[0][1]}
            for more in each
        ]
    return Section(
        name=MEMORY,
        title=f"Resident memory for each object more, in bytes ({_rounds(found)})",
        columns=(
            *(
                Column(title=f"{before:,} to {after:,}", figure=_at(after), decimals=0, factor=1e6)
                for before, after in pairwise(sizes)
            ),
            Column(title="last of first", figure="ratio", decimals=2),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{OURS}: memory of an object in the last doubling, of that in the first",
                most=MEMORY_MOST,
                unit="",
                found=median(cost["ratio"] for cost in costs[OURS]),
                judged=is_full,
            )
        ],
    )


def _at(size: float) -> str:
    """What a figure is called that was found with so many objects."""
    return f"at {size:.0f}"


def _sizes(found: Found) -> Sequence[int]:
    return list(found[OURS][0])


def _rounds(found: Found) -> str:
    count = len(found[OURS])
    return f"{count} round{'s' if count != 1 else ''}"


def pictures(sections: Mapping[str, Section]) -> Iterator[Lines]:
    """A line of each contender, for each quantity."""
    for section in sections.values():
        quantity = QUANTITIES.get(section.name)
        unit, factor = (quantity.unit, quantity.factor) if quantity else ("kB", 1e3)
        yield Lines(
            name=section.name,
            title=section.title.partition(" (")[0]
            .partition(", by the")[0]
            .removesuffix(", in bytes"),
            x_title="objects",
            y_title=unit,
            series={
                name: [(size, Spread.of(costs, _at(size), factor)) for size in _sizes_in(costs[0])]
                for name, costs in section.costs.items()
            },
            # Where a straight line is linear growth; what is flat is shown from zero.
            is_logarithmic=quantity is not None and quantity.is_judged,
        )


def _sizes_in(cost: Cost) -> Sequence[int]:
    return [int(name.removeprefix("at ")) for name in cost if name.startswith("at ")]
