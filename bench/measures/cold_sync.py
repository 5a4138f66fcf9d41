"""The time, CPU and memory from the start of a process until its informer has synced."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from statistics import median

from bench.harness.charts import BarChart, panels, spreads
from bench.harness.contenders import (
    ASYNCIO,
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_ALIKE,
    CONTROLLER_RUNTIME_LISTING,
    CONTROLLER_RUNTIME_STRIPPED,
    KOPF,
    KOPF_INDEX,
    KR8S,
    LIGHTKUBE,
    LIST_ALONE,
    OFFICIAL,
    STEERSMAN,
    STEERSMAN_UVLOOP,
)
from bench.harness.fixtures import create_apps
from bench.harness.informers import Start, filled_cluster, list_turn, programs, sync_turn
from bench.harness.report import Column, Limit, Section, by_round, rounds_text
from bench.harness.rounds import (
    BEST_RATIO,
    RATIO,
    Cost,
    all_with_ratios,
    best_of,
    in_rounds,
    with_ratios,
)
from bench.harness.run_options import RunOptions
from steersman_cluster.testing import RealControlPlane

TITLE = "Cold sync"

# The turns of controller-runtime: with default settings, and with those of steersman.
ALL_CONTROLLER_RUNTIME = (
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_STRIPPED,
    CONTROLLER_RUNTIME_LISTING,
    CONTROLLER_RUNTIME_ALIKE,
)
ALL_STEERSMAN = (STEERSMAN, STEERSMAN_UVLOOP)

# The contenders of every round; the others have fewer rounds.
ALWAYS = (*ALL_CONTROLLER_RUNTIME, *ALL_STEERSMAN, LIST_ALONE)
PEERS = (OFFICIAL, ASYNCIO, LIGHTKUBE, KR8S, KOPF, KOPF_INDEX)

BEST = (
    "best c-r: the lowest figure of all turns of controller-runtime in the same round; not enforced"
)
ALONE = (
    f"{LIST_ALONE}: one list request over an open connection, up to the last byte of the"
    " response; steersman waits about as long"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The number of objects, of rounds, and of rounds with the Python libraries."""

    objects: int
    rounds: int
    peer_rounds: int
    left_out: Collection[str] = ()
    left_out_in_words: str = ""
    is_distinct: bool = False

    @property
    def name(self) -> str:
        """The name of the section."""
        return DISTINCT if self.is_distinct else str(self.objects)

    @property
    def has_limits(self) -> bool:
        """Whether limits apply to this step."""
        return self.objects == LIMIT_OBJECTS and not self.is_distinct

    @property
    def title(self) -> str:
        """The title of the section, with the rounds and the omitted contenders."""
        what = " with distinct content" if self.is_distinct else ""
        rounds = rounds_text(self.rounds)
        if self.peer_rounds < self.rounds:
            rounds += f", {self.peer_rounds} of the Python libraries"
        if self.left_out:
            rounds += f"; without {self.left_out_in_words}"
        return f"Sync {self.objects:,} AppServices{what}, in a new process ({rounds})"


LIMIT_OBJECTS = 20_000

# The objects of another kind, as in a real cluster. Without them, the server would hold little more
# than it allocates for one list, and would collect its garbage during most lists. With them, a turn
# allocates less than the server holds.
OTHERS = 80_000
# For runs without limits.
FEW_OTHERS = 1_000
DISTINCT = "distinct"


def steps(options: RunOptions) -> Sequence[Step]:
    """The steps, in ascending order; each step keeps the objects of the previous one.

    An index of kopf needs quadratic time, and is measured with 1,000 objects only. With 100,000,
    kopf and kr8s would take more than a minute, and kr8s 7 GB.
    """
    if not options.is_full:
        return (
            Step(objects=200, rounds=1, peer_rounds=1),
            Step(
                objects=2_000,
                rounds=1,
                peer_rounds=1,
                left_out=[KOPF_INDEX],
                left_out_in_words="an index of kopf",
            ),
        )
    some = min(options.rounds, 3)
    return (
        Step(objects=1_000, rounds=some, peer_rounds=some),
        Step(
            objects=LIMIT_OBJECTS,
            rounds=options.rounds,
            peer_rounds=some,
            left_out=[KOPF_INDEX],
            left_out_in_words="an index of kopf",
        ),
        Step(
            objects=100_000,
            rounds=some,
            peer_rounds=some,
            left_out=[KOPF, KOPF_INDEX, KR8S],
            left_out_in_words="kopf and kr8s",
        ),
    )


def distinct_step(options: RunOptions) -> Step:
    """Objects without equal parts, which steersman cannot store once."""
    rounds = min(options.rounds, 3) if options.is_full else 1
    return Step(
        objects=LIMIT_OBJECTS if options.is_full else 2_000,
        rounds=rounds,
        peer_rounds=rounds,
        left_out=PEERS,
        left_out_in_words="the Python libraries",
        is_distinct=True,
    )


# The limits, as ratios to controller-runtime.
LIMITS = {"wall": 0.5, "cpu": 0.25, "resident": 0.6}
# Memory after Go has returned what it can. The limit applies to the first reading; the ratio of
# this one is shown, but not enforced.
LATER = "later_resident"
WORDS = {
    "wall": "wall time",
    "cpu": "CPU",
    "resident": "resident memory",
    LATER: "later resident memory",
}
# The ratio to the best of all turns is shown, but not enforced.
BEST_MOST = 1.0

PANELS = {
    "wall, s": "wall",
    "CPU, s": "cpu",
    "resident memory, MB": "resident",
    "later resident memory, MB": LATER,
    "API server's CPU, s": "server_cpu",
}

COLUMNS = (
    Column(title="wall s", figure="wall", decimals=2),
    Column(title="wall of c-r", figure="wall_ratio", decimals=2),
    Column(title="of best c-r", figure=f"wall{BEST_RATIO}", decimals=2),
    Column(title="CPU s", figure="cpu", decimals=2),
    Column(title="CPU of c-r", figure="cpu_ratio", decimals=2),
    Column(title="of best c-r", figure=f"cpu{BEST_RATIO}", decimals=2),
    Column(title="resident MB", figure="resident", decimals=1),
    Column(title="resident of c-r", figure="resident_ratio", decimals=2),
    Column(title="of best c-r", figure=f"resident{BEST_RATIO}", decimals=2),
    Column(title="later resident MB", figure=LATER, decimals=1),
    Column(title="of c-r", figure=f"{LATER}_ratio", decimals=2),
    Column(title="of best c-r", figure=f"{LATER}{BEST_RATIO}", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
    Column(title="server CPU s", figure="server_cpu", decimals=2),
)

MEMORY = "memory"


def sections(options: RunOptions) -> Iterator[Section]:
    """Each step, the growth of memory between steps, and objects with distinct content."""
    known = programs((*ALL_CONTROLLER_RUNTIME, *ALL_STEERSMAN, *PEERS))
    plan = steps(options)
    there = plan[0].objects
    found: dict[int, Mapping[str, Sequence[Cost]]] = {}
    options.progress(f"creating {there:,} AppServices and {_others(options):,} others")
    with filled_cluster(apps=there, others=_others(options)) as plane:
        for step in plan:
            options.progress(f"creating AppServices, up to {step.objects:,}")
            asyncio.run(create_apps(plane.kubeconfig, range(there, step.objects)))
            there = step.objects
            section = _synced(known, plane, step, options, warm_up=step is plan[0])
            found[step.objects] = section.costs
            yield section
    yield memory(found)
    distinct = distinct_step(options)
    options.progress(
        f"creating {distinct.objects:,} AppServices with distinct content, and"
        f" {_others(options):,} others"
    )
    with filled_cluster(apps=distinct.objects, others=_others(options), is_distinct=True) as plane:
        yield _synced(known, plane, distinct, options, warm_up=True)


def _others(options: RunOptions) -> int:
    return OTHERS if options.is_full else FEW_OTHERS


def _synced(
    known: Mapping[str, Start],
    plane: RealControlPlane,
    step: Step,
    options: RunOptions,
    *,
    warm_up: bool,
) -> Section:
    turns = {
        name: sync_turn(start, plane, count=step.objects)
        for name, start in known.items()
        if name not in step.left_out
    }
    turns[LIST_ALONE] = list_turn(plane, count=step.objects)
    notes = [BEST, ALONE, f"the server also holds {_others(options):,} objects of another kind"]
    # Only the first step needs a warm-up: afterwards, files are cached and modules compiled.
    costs = in_rounds(
        turns,
        rounds=step.peer_rounds,
        progress=options.progress,
        warming_up=None if warm_up else {},
        optional=PEERS,
        report=notes.append,
    )
    more = in_rounds(
        {name: turns[name] for name in ALWAYS},
        rounds=step.rounds - step.peer_rounds,
        progress=options.progress,
        warming_up={},
    )
    every = {name: [*each, *more.get(name, ())] for name, each in costs.items()}
    ratios = {name: ratios_to_controller_runtime(every, name) for name in every}
    return Section(
        name=step.name,
        title=step.title,
        columns=COLUMNS,
        costs=ratios,
        limits=[
            limit
            for name in ALL_STEERSMAN
            for limit in limits_of(name, ratios[name], enforced=options.is_enforced)
            if step.has_limits
        ],
        notes=notes,
    )


def limits_of(name: str, costs: Sequence[Cost], *, enforced: bool) -> Iterator[Limit]:
    """The limits of ``name``, and further ratios, which are not enforced."""
    for figure, words in WORDS.items():
        yield Limit(
            what=f"{name}, {words}, ratio to {CONTROLLER_RUNTIME}",
            most=LIMITS["resident" if figure == LATER else figure],
            unit="",
            rounds=by_round(costs, f"{figure}{RATIO}"),
            enforced=enforced and figure in LIMITS,
        )
    for figure, words in WORDS.items():
        yield Limit(
            what=f"{name}, {words}, ratio to the best {CONTROLLER_RUNTIME}",
            most=BEST_MOST,
            unit="",
            rounds=by_round(costs, f"{figure}{BEST_RATIO}"),
            enforced=False,
        )


def ratios_to_controller_runtime(costs: Mapping[str, Sequence[Cost]], name: str) -> Sequence[Cost]:
    """The costs, with ratios to controller-runtime in the same round.

    One ratio is to its turn with default settings, and one to the lowest figure of all its turns.
    """
    least = best_of(costs, ALL_CONTROLLER_RUNTIME, WORDS)
    with_default = with_ratios(costs[name], costs[CONTROLLER_RUNTIME], WORDS)
    return with_ratios(with_default, least, WORDS, suffix=BEST_RATIO)


def memory(found: Mapping[int, Mapping[str, Sequence[Cost]]]) -> Section:
    """The memory of each additional object, from the later readings of two consecutive steps."""
    spans = list(pairwise(found))
    costs = {
        name: added
        for name in found[next(iter(found))]
        if (added := list(_added({size: each.get(name, ()) for size, each in found.items()})))
    }
    return Section(
        name=MEMORY,
        title="Resident memory of each additional object, in bytes, from the later readings",
        columns=[
            column
            for span in spans
            for column in (
                Column(title=_span(*span), figure=_span(*span), decimals=0, factor=1e6),
                Column(title="of c-r", figure=f"{_span(*span)}{RATIO}", decimals=2),
            )
        ],
        costs=all_with_ratios(costs, CONTROLLER_RUNTIME, [_span(*span) for span in spans]),
    )


def _added(found: Mapping[int, Sequence[Cost]]) -> Iterator[Cost]:
    """The memory of each additional object, for each round that two consecutive steps have."""
    for turns in zip_longest(*found.values()):
        added = {
            _span(before, after): (later[LATER] - earlier[LATER]) / (after - before)
            for (before, earlier), (after, later) in pairwise(zip(found, turns, strict=True))
            # A contender can lack rounds, and the list alone has no memory.
            if earlier is not None and later is not None and LATER in earlier and LATER in later
        }
        if added:
            yield added


def _span(before: int, after: int) -> str:
    return f"{before:,} to {after:,}"


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """A chart of each table; some also without the Python libraries."""
    for section in sections.values():
        if section.name == MEMORY:
            yield (chart := _memory_chart(section))
            yield _without_peers(chart)
            continue
        shown = {panel: (section.name, figure, 1.0) for panel, figure in PANELS.items()}
        base = section.costs[CONTROLLER_RUNTIME]
        chart = BarChart(
            name=section.name,
            title=section.title.partition(" (")[0],
            panels=panels(sections, shown),
            limits={
                panel: LIMITS[figure] * median(cost[figure] for cost in base)
                for panel, figure in PANELS.items()
                if section.limits and figure in LIMITS
            },
        )
        yield chart
        if section.limits:
            yield _without_peers(chart)


def _without_peers(chart: BarChart) -> BarChart:
    """The chart without the Python libraries, whose long bars hide the differences."""
    return replace(
        chart,
        name=f"{chart.name}-without-peers",
        title=f"{chart.title}, without the Python libraries",
        panels={
            panel: {name: spread for name, spread in by_name.items() if name in ALWAYS}
            for panel, by_name in chart.panels.items()
        },
    )


def _memory_chart(section: Section) -> BarChart:
    return BarChart(
        name=MEMORY,
        title="Resident memory of each additional object, kB",
        panels={
            column.title: spreads(section.costs, column.figure, 1e3)
            for column in section.columns
            # Without the ratios.
            if column.title == column.figure
        },
        limits={},
    )
