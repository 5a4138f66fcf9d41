"""The growth of costs with the number of objects: time should be linear, and memory, too."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from bench.harness.charts import LineChart, Spread
from bench.harness.contenders import CONTROLLER_RUNTIME, STEERSMAN
from bench.harness.convergence import convergence_turn
from bench.harness.delays import Pace, reconcile_start_turn
from bench.harness.fixtures import create_apps
from bench.harness.informers import Start, filled_cluster, programs, sync_turn
from bench.harness.operators import commands
from bench.harness.power_law import Points, exponent, exponent_above, slopes
from bench.harness.report import Column, Limit, Section, by_round, rounds_text
from bench.harness.rounds import RATIO, Cost, Turn, in_rounds
from bench.harness.run_options import RunOptions

TITLE = "Growth with the number of objects"

NAMES = (CONTROLLER_RUNTIME, STEERSMAN)

# The costs of each contender, for each round and each number of objects.
Found: TypeAlias = Mapping[str, Sequence[Mapping[int, Cost]]]

# The turns of all contenders with a number of objects.
Turns: TypeAlias = Callable[[int], Mapping[str, Turn]]

# The exponent of linear growth, with the noise of a shared machine;
TIME_MOST = 1.1
# without the constant start, the noise is larger;
ABOVE_MOST = 1.2
# and the memory of an additional object in the last doubling, as a ratio to the first.
MEMORY_MOST = 1.15

EXPONENT = Column(title="exponent", figure="exponent", decimals=2)
ABOVE_START = Column(title="exponent above the start", figure="above", decimals=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A figure of each turn, its format, and whether its growth has a limit."""

    name: str
    title: str
    unit: str
    figure: str
    factor: float = 1.0
    decimals: int = 2
    is_enforced: bool = True

    def column(self, size: int) -> Column:
        """The column for a number of objects."""
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
# The server's growth is a lower bound for that of its clients.
SERVER = Quantity(
    name="sync-server",
    title="CPU of kube-apiserver for that cold sync",
    unit="s",
    figure="server_cpu",
    is_enforced=False,
)
PEAK = Quantity(
    name="sync-peak",
    title="Peak memory of a cold sync",
    unit="MB",
    figure="peak",
    decimals=1,
    # It includes the memory before the first object; the memory of each object has a limit.
    is_enforced=False,
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
        title=f"Delay from the due time of a change to the start of its reconcile, {part}",
        unit="ms",
        figure=f"due_{part}",
        factor=1e3,
        decimals=1,
        # It should be constant, but a few milliseconds are mostly noise.
        is_enforced=False,
    )
    for part in ("p50", "p99")
)
# The increase for each additional object.
SYNC_MEMORY = Quantity(
    name="sync-memory",
    title="Resident memory of an informer, for each additional object",
    unit="bytes",
    # After Go has returned memory.
    figure="later_resident",
    factor=1e6,
    decimals=0,
)
RECONCILE_MEMORY = Quantity(
    name="reconcile-memory",
    title="Resident memory of an operator, for each additional AppService",
    unit="bytes",
    figure="resident",
    factor=1e6,
    decimals=0,
    # A doubling adds little, and the remains of earlier work are part of it.
    is_enforced=False,
)
MEMORY = (SYNC_MEMORY, RECONCILE_MEMORY)
QUANTITIES = {each.name: each for each in (*SYNC, SERVER, PEAK, *RECONCILE, *LATENCY, *MEMORY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The numbers of objects; each is twice the previous one."""

    sync: Sequence[int]
    reconcile: Sequence[int]
    latency: Sequence[int]
    pace: Pace
    # The maximum number of rounds.
    rounds: int
    # The turns of each contender in a round: a cold sync is short, and therefore noisy.
    sync_turns: int


FULL = Scale(
    sync=(10_000, 20_000, 40_000, 80_000),
    # Not fewer: steersman delays a status in progress for a second, which is most of the time of
    # ten objects. Without the start, little would remain of a smaller number, and the exponent
    # would be too high.
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
# The number of objects that represents the start. It is also the warm-up.
FEW = 10


def sections(options: RunOptions) -> Iterator[Section]:
    """Cold sync, reconcile and latency, with increasing numbers of objects."""
    scale = FULL if options.is_full else QUICK
    rounds = min(options.rounds, scale.rounds)
    known, operators = programs(NAMES), commands(NAMES)
    found = by_size(
        options,
        (FEW, *scale.sync),
        lambda: _filling(options, known),
        rounds=rounds,
        turns_each=scale.sync_turns,
        warming_up=FEW,
    )
    for quantity in (*SYNC, SERVER, PEAK):
        yield growth_section(quantity, found, enforced=options.is_enforced)
    yield memory(SYNC_MEMORY, found, enforced=options.is_enforced)

    def converged(size: int) -> Mapping[str, Turn]:
        return {name: convergence_turn(command, count=size) for name, command in operators.items()}

    found = by_size(
        options,
        (FEW, *scale.reconcile),
        lambda: nullcontext(converged),
        rounds=rounds,
        warming_up=FEW,
    )
    for quantity in RECONCILE:
        yield growth_section(quantity, found, enforced=options.is_enforced)
    yield memory(RECONCILE_MEMORY, found, enforced=options.is_enforced)

    def changed(size: int) -> Mapping[str, Turn]:
        return {
            name: _at_pace(
                scale.pace,
                reconcile_start_turn(command, count=size, paces=[scale.pace], sleep_ms=SLEEP_MS),
            )
            for name, command in operators.items()
        }

    found = by_size(options, scale.latency, lambda: nullcontext(changed), rounds=rounds)
    for quantity in LATENCY:
        yield growth_section(quantity, found, enforced=options.is_enforced)


def _at_pace(pace: Pace, turn: Turn) -> Turn:
    return lambda: pace.of([turn()])[0]


@contextmanager
def _filling(options: RunOptions, known: Mapping[str, Start]) -> Iterator[Turns]:
    """A server to which each step adds objects."""
    there = FEW
    options.progress(f"creating {there:,} AppServices")
    with filled_cluster(apps=there) as plane:

        def turns(size: int) -> Mapping[str, Turn]:
            nonlocal there
            options.progress(f"creating AppServices, up to {size:,}")
            asyncio.run(create_apps(plane.kubeconfig, range(there, size)))
            there = size
            return {name: sync_turn(start, plane, count=size) for name, start in known.items()}

        yield turns


def by_size(
    options: RunOptions,
    sizes: Sequence[int],
    growing: Callable[[], AbstractContextManager[Turns]],
    *,
    rounds: int,
    turns_each: int = 1,
    warming_up: int = 0,
) -> Found:
    """The costs by size, in rounds from the smallest to the largest size.

    For each size, a round has the medians of ``turns_each`` turns. Load of the machine that lasts
    for minutes therefore affects all sizes of one round, and not one size in all rounds. The
    warm-up has ``warming_up`` objects.
    """
    found: dict[str, list[dict[int, Cost]]] = {name: [{} for _ in range(rounds)] for name in NAMES}
    for number in range(rounds):
        with growing() as turns:
            for place, size in enumerate(sizes):
                is_first = number == place == 0
                options.progress(f"round {number + 1} of {rounds}: {size:,} objects")
                before = turns(warming_up) if is_first and warming_up else {}
                at_size = turns(size)
                # Every other time in reverse order.
                order = list(at_size)[:: -1 if (number + place) % 2 else 1]
                costs = in_rounds(
                    {name: at_size[name] for name in order},
                    rounds=turns_each,
                    progress=options.progress,
                    warming_up=before,
                )
                for name, turned in costs.items():
                    found[name][number][size] = _medians(turned)
    return found


def _medians(turned: Sequence[Cost]) -> Cost:
    return {figure: median(cost[figure] for cost in turned) for figure in turned[0]}


def growth_section(quantity: Quantity, found: Found, *, enforced: bool) -> Section:
    """A table of one quantity by size, with its exponent."""
    sizes, has_start = _sizes(found), FEW in found[STEERSMAN][0]
    largest = f"{_at(sizes[-1])}{RATIO}"
    costs = {
        name: [
            {**_fit(quantity, mine), largest: mine[sizes[-1]][quantity.figure] / theirs}
            for mine, theirs in zip(
                rounds,
                (each[sizes[-1]][quantity.figure] for each in found[CONTROLLER_RUNTIME]),
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
            Column(
                title=f"{sizes[-1]:,}, ratio to {CONTROLLER_RUNTIME}", figure=largest, decimals=2
            ),
            EXPONENT,
            *([ABOVE_START] if has_start else []),
        ),
        costs=costs,
        limits=list(_limits(quantity, costs[STEERSMAN], enforced=enforced)),
    )


def _limits(quantity: Quantity, ours: Sequence[Cost], *, enforced: bool) -> Iterator[Limit]:
    if not quantity.is_enforced:
        return
    for column, most in ((EXPONENT, TIME_MOST), (ABOVE_START, ABOVE_MOST)):
        yield Limit(
            what=f"{STEERSMAN}: {quantity.title}, {column.title}",
            most=most,
            unit="",
            rounds=by_round(ours, column.figure),
            enforced=enforced,
        )


def _fit(quantity: Quantity, by_size: Mapping[int, Cost]) -> Cost:
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


def memory(quantity: Quantity, found: Found, *, enforced: bool) -> Section:
    """A table of the memory of each additional object, for each doubling."""
    sizes = _sizes(found)
    largest = f"{_at(sizes[-1])}{RATIO}"
    more = {
        name: [slopes(_points(quantity, by_size)) for by_size in rounds]
        for name, rounds in found.items()
    }
    costs: Mapping[str, Sequence[Cost]] = {
        name: [
            {
                **{_at(size): value for size, value in mine},
                **_ratio("ratio", mine[-1][1], mine[0][1]),
                **_ratio(largest, mine[-1][1], theirs[-1][1]),
            }
            for mine, theirs in zip(rounds, more[CONTROLLER_RUNTIME], strict=True)
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
            Column(
                title=f"last doubling, ratio to {CONTROLLER_RUNTIME}", figure=largest, decimals=2
            ),
            Column(title="last doubling, ratio to the first", figure="ratio", decimals=2),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{STEERSMAN}: memory of an object in the last doubling, ratio to the first",
                most=MEMORY_MOST,
                unit="",
                rounds=by_round(costs[STEERSMAN], "ratio"),
                enforced=enforced,
            )
        ]
        if quantity.is_enforced
        else [],
    )


def _ratio(name: str, value: float, base: float) -> Cost:
    """A ratio, or nothing if a doubling adds no memory, which is noise."""
    return {name: value / base} if base > 0 else {}


def _at(size: float) -> str:
    """The name of the figure for a number of objects."""
    return f"at {size:.0f}"


def _sizes(found: Found) -> Sequence[int]:
    return [size for size in found[STEERSMAN][0] if size != FEW]


def _rounds(found: Found) -> str:
    return rounds_text(len(found[STEERSMAN]))


def charts(sections: Mapping[str, Section]) -> Iterator[LineChart]:
    """A chart of each quantity."""
    for section in sections.values():
        quantity = QUANTITIES[section.name]
        yield LineChart(
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
            # On logarithmic axes, linear growth is a straight line. Constant quantities start at
            # zero.
            is_logarithmic=quantity.is_enforced and quantity not in MEMORY,
        )


def _sizes_in(cost: Cost) -> Sequence[int]:
    return [
        int(name.removeprefix("at "))
        for name in cost
        if name.startswith("at ") and not name.endswith(RATIO)
    ]
