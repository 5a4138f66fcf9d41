"""How soon an informer is whole after its process was started, and what that takes."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from bench.harness.charts import Bars, panels, spreads
from bench.harness.contenders import (
    ASYNCIO,
    KOPF,
    KOPF_INDEX,
    KR8S,
    LIGHTKUBE,
    OFFICIAL,
    OURS,
    OURS_UVLOOP,
    THEIRS,
    THEIRS_LISTING,
    THEIRS_STRIPPED,
)
from bench.harness.effort import Effort
from bench.harness.informers import filled_cluster, programs, syncing
from bench.harness.report import Column, Limit, Section, rounds_in_words
from bench.harness.rounds import Cost, Turn, in_rounds
from bench.harness.world import add_apps

TITLE = "Cold sync"

# These are in every round, the others in some of them.
ALWAYS = (THEIRS, THEIRS_STRIPPED, THEIRS_LISTING, OURS, OURS_UVLOOP)
PEERS = (OFFICIAL, ASYNCIO, LIGHTKUBE, KR8S, KOPF, KOPF_INDEX)

# After so long, whoever gives memory back by itself has begun to; Go has been told to by then.
LATER_SECONDS = 10.0

# The turns of controller-runtime: as it comes, and in what ours does by default as ours does it.
ALL_THEIRS = (THEIRS, THEIRS_STRIPPED, THEIRS_LISTING)
BEST = (
    "best c-r: whichever turn of controller-runtime took the least in that figure in that round;"
    " this is not judged"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How many objects there are, in how many rounds, and in how many of those are the peers.

    The objects of one step are still there at the next. With ``looks_later``, the memory of those
    who are in every round is looked at twice.
    """

    objects: int
    rounds: int
    peer_rounds: int
    left_out: Collection[str] = ()
    left_out_in_words: str = ""
    looks_later: bool = False

    @property
    def name(self) -> str:
        """What its section is called."""
        return str(self.objects)

    @property
    def title(self) -> str:
        """With the rounds, and with who is not among them."""
        rounds = rounds_in_words(self.rounds)
        if self.peer_rounds < self.rounds:
            rounds += f", {self.peer_rounds} of the Python peers"
        if self.left_out:
            rounds += f"; without {self.left_out_in_words}"
        return f"Sync {self.objects:,} AppServices, in a new process ({rounds})"


JUDGED_AT = 20_000


def steps(effort: Effort) -> Sequence[Step]:
    """From few to many.

    The time that the index of kopf needs grows with the square of the objects: 1,000 are enough to
    see it. With 100,000, kopf and kr8s would take minutes, and kr8s more memory than most have.
    """
    if not effort.is_full:
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
    some = min(effort.rounds, 3)
    return (
        Step(objects=1_000, rounds=some, peer_rounds=some),
        Step(
            objects=JUDGED_AT,
            rounds=effort.rounds,
            peer_rounds=some,
            left_out=[KOPF_INDEX],
            left_out_in_words="an index of kopf",
            looks_later=True,
        ),
        Step(
            objects=100_000,
            rounds=some,
            peer_rounds=1,
            left_out=[KOPF, KOPF_INDEX, KR8S],
            left_out_in_words="kopf and kr8s",
        ),
    )


# What ours may take of what controller-runtime takes.
LIMITS = {"wall": 0.5, "cpu": 0.25, "resident": 0.6}
WORDS = {"wall": "wall time", "cpu": "CPU", "resident": "resident memory"}
PANELS = {
    "wall, s": "wall",
    "CPU, s": "cpu",
    "resident memory, MB": "resident",
    "API server's CPU, s": "server_cpu",
}

COLUMNS = (
    Column(title="wall s", figure="wall", decimals=2),
    Column(title="wall of c-r", figure="wall_ratio", decimals=2),
    Column(title="of best c-r", figure="wall_best_ratio", decimals=2),
    Column(title="CPU s", figure="cpu", decimals=2),
    Column(title="CPU of c-r", figure="cpu_ratio", decimals=2),
    Column(title="of best c-r", figure="cpu_best_ratio", decimals=2),
    Column(title="resident MB", figure="resident", decimals=1),
    Column(title="resident of c-r", figure="resident_ratio", decimals=2),
    Column(title="of best c-r", figure="resident_best_ratio", decimals=2),
    Column(title=f"resident MB {LATER_SECONDS:g} s later", figure="later_resident", decimals=1),
    Column(title="of c-r", figure="later_resident_ratio", decimals=2),
    Column(title="of best c-r", figure="later_resident_best_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
    Column(title="server CPU s", figure="server_cpu", decimals=2),
)

MEMORY = "memory"


def sections(effort: Effort) -> Iterator[Section]:
    """Each step, and how memory grew from one to the next."""
    known = programs((*ALWAYS, *PEERS))
    plan = steps(effort)
    there = plan[0].objects
    resident: dict[int, Mapping[str, float]] = {}
    effort.progress(f"creating {there:,} AppServices")
    with filled_cluster(apps=there) as plane:
        for step in plan:
            effort.progress(f"creating AppServices, up to {step.objects:,}")
            asyncio.run(add_apps(plane.kubeconfig, range(there, step.objects)))
            there = step.objects
            turns = {
                name: syncing(
                    start,
                    plane,
                    count=step.objects,
                    later_seconds=LATER_SECONDS if step.looks_later and name in ALWAYS else 0.0,
                )
                for name, start in known.items()
                if name not in step.left_out
            }
            section = _synced(turns, step, effort, warm_up=step is plan[0])
            resident[step.objects] = {
                name: median(cost["resident"] for cost in costs)
                for name, costs in section.costs.items()
            }
            yield section
    yield memory(resident)


def _synced(turns: Mapping[str, Turn], step: Step, effort: Effort, *, warm_up: bool) -> Section:
    notes = [BEST]
    # Whoever has been there once has its files in memory and its modules compiled.
    costs = in_rounds(
        turns,
        rounds=step.peer_rounds,
        progress=effort.progress,
        warming_up=None if warm_up else {},
        optional=PEERS,
        told=notes.append,
    )
    more = in_rounds(
        {name: turns[name] for name in ALWAYS},
        rounds=step.rounds - step.peer_rounds,
        progress=effort.progress,
        warming_up={},
    )
    every = {name: [*each, *more.get(name, ())] for name, each in costs.items()}
    beside = {name: beside_theirs(every, name) for name in every}
    return Section(
        name=step.name,
        title=step.title,
        columns=COLUMNS,
        costs=beside,
        limits=[
            Limit(
                what=f"{name}, {WORDS[figure]} of that of {THEIRS}",
                most=most,
                unit="",
                found=median(cost[f"{figure}_ratio"] for cost in beside[name]),
                judged=effort.is_judged,
            )
            for name in (OURS, OURS_UVLOOP)
            for figure, most in LIMITS.items()
            if step.objects == JUDGED_AT
        ],
        notes=notes,
    )


def beside_theirs(costs: Mapping[str, Sequence[Cost]], name: str) -> Sequence[Cost]:
    """Each turn's cost, with its ratios to those of controller-runtime in the same round.

    To what it takes as it comes, and to the least that any of its turns takes, figure by figure.
    """
    found = []
    for mine, *theirs in zip(costs[name], *(costs[each] for each in ALL_THEIRS), strict=False):
        figures = [figure for figure in (*LIMITS, "later_resident") if figure in mine]
        as_it_comes = theirs[0]
        least = {figure: min(each[figure] for each in theirs) for figure in figures}
        found.append(
            {
                **mine,
                **{f"{figure}_ratio": mine[figure] / as_it_comes[figure] for figure in figures},
                **{f"{figure}_best_ratio": mine[figure] / least[figure] for figure in figures},
            }
        )
    return found


def memory(resident: Mapping[int, Mapping[str, float]]) -> Section:
    """What each object takes, by how much more memory there is at a step than at the one before."""
    spans = list(pairwise(resident))
    more = {
        span: {
            name: (megabytes - resident[span[0]][name]) / (span[1] - span[0])
            for name, megabytes in resident[span[1]].items()
            if name in resident[span[0]]
        }
        for span in spans
    }
    costs = {
        name: [
            {_span(*span): each[name] for span, each in more.items() if name in each}
            | {
                _ratio(*span): each[name] / each[THEIRS]
                for span, each in more.items()
                if name in each and each.get(THEIRS)
            }
        ]
        for name in resident[next(iter(resident))]
        if any(name in each for each in more.values())
    }
    return Section(
        name=MEMORY,
        title="Resident memory for each object more, in bytes, by the medians above",
        columns=[
            column
            for span in spans
            for column in (
                Column(title=_span(*span), figure=_span(*span), decimals=0, factor=1e6),
                Column(title="of c-r", figure=_ratio(*span), decimals=2),
            )
        ],
        costs=costs,
    )


def _span(before: int, after: int) -> str:
    return f"{before:,} to {after:,}"


def _ratio(before: int, after: int) -> str:
    return f"{_span(before, after)}, of {THEIRS}"


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """One for each step, and one of the memory for each object."""
    for section in sections.values():
        if section.name == MEMORY:
            yield _memory_picture(section)
            continue
        base = section.costs[THEIRS]
        shown = {panel: (section.name, figure, 1.0) for panel, figure in PANELS.items()}
        yield Bars(
            name=section.name,
            title=section.title.partition(" (")[0],
            panels=panels(sections, shown),
            limits={
                panel: LIMITS[figure] * median(cost[figure] for cost in base)
                for panel, figure in PANELS.items()
                if section.limits and figure in LIMITS
            },
        )


def _memory_picture(section: Section) -> Bars:
    return Bars(
        name=MEMORY,
        title="Resident memory for each object more, kB",
        panels={
            column.title: spreads(section.costs, column.figure, 1e3)
            for column in section.columns
            # Not those that are ratios.
            if column.title == column.figure
        },
        limits={},
    )
