"""How soon an informer is whole after its process was started, and what that takes."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from statistics import median

from bench.harness.charts import Bars, panels, spreads
from bench.harness.contenders import (
    ASYNCIO,
    KOPF,
    KOPF_INDEX,
    KR8S,
    LIGHTKUBE,
    LIST_ALONE,
    OFFICIAL,
    OURS,
    OURS_UVLOOP,
    THEIRS,
    THEIRS_ALIKE,
    THEIRS_LISTING,
    THEIRS_STRIPPED,
)
from bench.harness.effort import Effort
from bench.harness.informers import Start, filled_cluster, listing, programs, syncing
from bench.harness.report import Column, Limit, Section, by_round, rounds_in_words
from bench.harness.rounds import (
    BEST_RATIO,
    RATIO,
    Cost,
    beside,
    best_of,
    compared,
    in_rounds,
)
from bench.harness.world import add_apps
from steersman_cluster.testing import RealControlPlane

TITLE = "Cold sync"

# The turns of controller-runtime: as it comes, and in what ours does by default as ours does it.
ALL_THEIRS = (THEIRS, THEIRS_STRIPPED, THEIRS_LISTING, THEIRS_ALIKE)
ALL_OURS = (OURS, OURS_UVLOOP)

# These are in every round, the others in some of them.
ALWAYS = (*ALL_THEIRS, *ALL_OURS, LIST_ALONE)
PEERS = (OFFICIAL, ASYNCIO, LIGHTKUBE, KR8S, KOPF, KOPF_INDEX)

BEST = (
    "best c-r: whichever turn of controller-runtime took the least in that figure in that round;"
    " this is not judged"
)
ALONE = (
    f"{LIST_ALONE}: from one request to the last byte of its answer, with the connection open and"
    " no process to start; about what ours waits for"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How many objects there are, in how many rounds, and in how many of those are the peers."""

    objects: int
    rounds: int
    peer_rounds: int
    left_out: Collection[str] = ()
    left_out_in_words: str = ""
    is_distinct: bool = False

    @property
    def name(self) -> str:
        """What its section is called."""
        return DISTINCT if self.is_distinct else str(self.objects)

    @property
    def has_promises(self) -> bool:
        """Whether it is the one of which something is promised."""
        return self.objects == JUDGED_AT and not self.is_distinct

    @property
    def title(self) -> str:
        """With the rounds, and with who is not among them."""
        what = " with next to nothing in common" if self.is_distinct else ""
        rounds = rounds_in_words(self.rounds)
        if self.peer_rounds < self.rounds:
            rounds += f", {self.peer_rounds} of the Python peers"
        if self.left_out:
            rounds += f"; without {self.left_out_in_words}"
        return f"Sync {self.objects:,} AppServices{what}, in a new process ({rounds})"


JUDGED_AT = 20_000

# A cluster with that many custom resources has other objects too. Without them, the server would
# hold little more than it allocates for one list, and so collect its garbage in the middle of most.
# With them it allocates less in any turn than it holds, and need not collect.
OTHERS = 80_000
# Just to see that it works.
FEW_OTHERS = 1_000
DISTINCT = "distinct"


def steps(effort: Effort) -> Sequence[Step]:
    """From few to many; the objects of one step are still there at the next.

    The time that the index of kopf needs grows with the square of the objects: 1,000 are enough to
    see it. With 100,000, kopf and kr8s would take a minute and more, and kr8s 7 GB.
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
        ),
        Step(
            objects=100_000,
            rounds=some,
            peer_rounds=some,
            left_out=[KOPF, KOPF_INDEX, KR8S],
            left_out_in_words="kopf and kr8s",
        ),
    )


def distinct_step(effort: Effort) -> Step:
    """Ours keeps equal parts of objects once: what it takes where there are none."""
    rounds = min(effort.rounds, 3) if effort.is_full else 1
    return Step(
        objects=JUDGED_AT if effort.is_full else 2_000,
        rounds=rounds,
        peer_rounds=rounds,
        left_out=PEERS,
        left_out_in_words="the Python peers",
        is_distinct=True,
    )


# What ours may take of what controller-runtime takes.
LIMITS = {"wall": 0.5, "cpu": 0.25, "resident": 0.6}
# Memory once Go has given back what it can. The promise is of the first look; what it would be of
# this one is shown, and not judged.
LATER = "later_resident"
WORDS = {
    "wall": "wall time",
    "cpu": "CPU",
    "resident": "resident memory",
    LATER: "resident memory, looked at later,",
}
# Ours should take no more than the best of them: what comes of that is shown, and not judged.
BEST_MOST = 1.0

PANELS = {
    "wall, s": "wall",
    "CPU, s": "cpu",
    "resident memory, MB": "resident",
    "resident memory, looked at later, MB": LATER,
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
    Column(title="resident MB later", figure=LATER, decimals=1),
    Column(title="of c-r", figure=f"{LATER}_ratio", decimals=2),
    Column(title="of best c-r", figure=f"{LATER}{BEST_RATIO}", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
    Column(title="server CPU s", figure="server_cpu", decimals=2),
)

MEMORY = "memory"


def sections(effort: Effort) -> Iterator[Section]:
    """Each step, how memory grew from one to the next, and objects with nothing in common."""
    known = programs((*ALL_THEIRS, *ALL_OURS, *PEERS))
    plan = steps(effort)
    there = plan[0].objects
    found: dict[int, Mapping[str, Sequence[Cost]]] = {}
    effort.progress(f"creating {there:,} AppServices and {_others(effort):,} others")
    with filled_cluster(apps=there, others=_others(effort)) as plane:
        for step in plan:
            effort.progress(f"creating AppServices, up to {step.objects:,}")
            asyncio.run(add_apps(plane.kubeconfig, range(there, step.objects)))
            there = step.objects
            section = _synced(known, plane, step, effort, warm_up=step is plan[0])
            found[step.objects] = section.costs
            yield section
    yield memory(found)
    distinct = distinct_step(effort)
    effort.progress(
        f"creating {distinct.objects:,} AppServices with nothing in common, and"
        f" {_others(effort):,} others"
    )
    with filled_cluster(apps=distinct.objects, others=_others(effort), is_distinct=True) as plane:
        yield _synced(known, plane, distinct, effort, warm_up=True)


def _others(effort: Effort) -> int:
    return OTHERS if effort.is_full else FEW_OTHERS


def _synced(
    known: Mapping[str, Start],
    plane: RealControlPlane,
    step: Step,
    effort: Effort,
    *,
    warm_up: bool,
) -> Section:
    turns = {
        name: syncing(start, plane, count=step.objects)
        for name, start in known.items()
        if name not in step.left_out
    }
    turns[LIST_ALONE] = listing(plane, count=step.objects)
    notes = [BEST, ALONE, f"the server holds {_others(effort):,} objects of another kind besides"]
    # A contender that has run once has its files in memory and its modules compiled.
    costs = in_rounds(
        turns,
        rounds=step.peer_rounds,
        progress=effort.progress,
        warming_up=None if warm_up else {},
        optional=PEERS,
        report=notes.append,
    )
    more = in_rounds(
        {name: turns[name] for name in ALWAYS},
        rounds=step.rounds - step.peer_rounds,
        progress=effort.progress,
        warming_up={},
    )
    every = {name: [*each, *more.get(name, ())] for name, each in costs.items()}
    ratios = {name: beside_theirs(every, name) for name in every}
    return Section(
        name=step.name,
        title=step.title,
        columns=COLUMNS,
        costs=ratios,
        limits=[
            limit
            for name in ALL_OURS
            for limit in promises(name, ratios[name], judged=effort.is_judged)
            if step.has_promises
        ],
        notes=notes,
    )


def promises(name: str, costs: Sequence[Cost], *, judged: bool) -> Iterator[Limit]:
    """What is promised of ``name``; and what one has to know beside that, which is not judged."""
    for figure, words in WORDS.items():
        yield Limit(
            what=f"{name}, {words} of that of {THEIRS}",
            most=LIMITS["resident" if figure == LATER else figure],
            unit="",
            rounds=by_round(costs, f"{figure}{RATIO}"),
            judged=judged and figure in LIMITS,
        )
    for figure, words in WORDS.items():
        yield Limit(
            what=f"{name}, {words} of that of {THEIRS} at its best",
            most=BEST_MOST,
            unit="",
            rounds=by_round(costs, f"{figure}{BEST_RATIO}"),
            judged=False,
        )


def beside_theirs(costs: Mapping[str, Sequence[Cost]], name: str) -> Sequence[Cost]:
    """Each turn's cost, with its ratios to those of controller-runtime in the same round.

    To what it takes as it comes, and to the least that any of its turns takes, figure by figure.
    """
    least = best_of(costs, ALL_THEIRS, WORDS)
    as_it_comes = compared(costs[name], costs[THEIRS], WORDS)
    return compared(as_it_comes, least, WORDS, suffix=BEST_RATIO)


def memory(found: Mapping[int, Mapping[str, Sequence[Cost]]]) -> Section:
    """What each object takes, by how much more memory there is at a step than at the one before.

    By the later look, and of the same round of both steps, as far as both have it.
    """
    spans = list(pairwise(found))
    costs = {
        name: added
        for name in found[next(iter(found))]
        if (added := list(_added({size: each.get(name, ()) for size, each in found.items()})))
    }
    return Section(
        name=MEMORY,
        title="Resident memory for each object more, in bytes, by the later look of each round",
        columns=[
            column
            for span in spans
            for column in (
                Column(title=_span(*span), figure=_span(*span), decimals=0, factor=1e6),
                Column(title="of c-r", figure=f"{_span(*span)}{RATIO}", decimals=2),
            )
        ],
        costs=beside(costs, THEIRS, [_span(*span) for span in spans]),
    )


def _added(found: Mapping[int, Sequence[Cost]]) -> Iterator[Cost]:
    """For each object more, in each round that is one of two steps in a row."""
    for turns in zip_longest(*found.values()):
        added = {
            _span(before, after): (later[LATER] - earlier[LATER]) / (after - before)
            for (before, earlier), (after, later) in pairwise(zip(found, turns, strict=True))
            # Some are not in every round of both, and the list alone holds nothing.
            if earlier is not None and later is not None and LATER in earlier and LATER in later
        }
        if added:
            yield added


def _span(before: int, after: int) -> str:
    return f"{before:,} to {after:,}"


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """One for each table of syncs, and one of the memory of an object; some also without peers."""
    for section in sections.values():
        if section.name == MEMORY:
            yield (picture := _memory_picture(section))
            yield _without_peers(picture)
            continue
        shown = {panel: (section.name, figure, 1.0) for panel, figure in PANELS.items()}
        base = section.costs[THEIRS]
        picture = Bars(
            name=section.name,
            title=section.title.partition(" (")[0],
            panels=panels(sections, shown),
            limits={
                panel: LIMITS[figure] * median(cost[figure] for cost in base)
                for panel, figure in PANELS.items()
                if section.limits and figure in LIMITS
            },
        )
        yield picture
        if section.limits:
            yield _without_peers(picture)


def _without_peers(picture: Bars) -> Bars:
    """The same, where the longest bars of the others leave no room to see who takes less."""
    return replace(
        picture,
        name=f"{picture.name}-without-peers",
        title=f"{picture.title}, without the Python peers",
        panels={
            panel: {name: spread for name, spread in by_name.items() if name in ALWAYS}
            for panel, by_name in picture.panels.items()
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
