"""A whole operator: what it takes to bring AppServices in line, to rest, and to look again.

The same operator with controller-runtime, with kopf and with steersman, against a real control
plane with its own controllers. Before a figure counts, the children and the status of every
AppService are compared with what its spec asks for, field by field.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.harness.charts import Bars, panels
from bench.harness.contenders import KOPF, OURS, OURS_UVLOOP, THEIRS, THEIRS_PATCHING
from bench.harness.converging import converging
from bench.harness.effort import Effort
from bench.harness.operators import Command, commands
from bench.harness.report import Column, Floor, Limit, Section, by_round, rounds_in_words
from bench.harness.resting import Place, idle, places, resynced
from bench.harness.rounds import (
    BEST_RATIO,
    RATIO,
    Cost,
    Turn,
    beside,
    best_of,
    compared,
    in_rounds,
)

TITLE = "Operators: AppServices brought to Deployment, Service and status"

# The turns of controller-runtime: as it comes, and with a status that is written, as ours is,
# whatever else has been written meanwhile.
ALL_THEIRS = (THEIRS, THEIRS_PATCHING)
NAMES = (*ALL_THEIRS, KOPF, OURS, OURS_UVLOOP)
# A turn is a minute, and what else the machine does changes in that time: a judged contender has
# its turn next to its reference.
TURNS = (KOPF, THEIRS_PATCHING, OURS, THEIRS, OURS_UVLOOP)

# How a status is written is no question while none is.
RESTING_NAMES = (THEIRS, KOPF, OURS, OURS_UVLOOP)

BEST = "best c-r"
BEST_NOTE = (
    f"{BEST}: whichever turn of controller-runtime was better in that figure in that round; this"
    " is not judged"
)

# A turn with thousands is minutes, and with kopf more of them than it is worth.
MANY_NAMES = (THEIRS, OURS)

# What ours may take of what each of these takes.
CPU_LIMITS = {THEIRS: 1.0, BEST: 1.0, KOPF: 0.35}
REQUESTS_LIMIT = 1.0
# And how fast it is at least, beside controller-runtime.
RATE_FLOOR = 1.0

# What is also shown as a ratio to each of these in the same round,
COMPARED = {
    THEIRS: ("cpu", "each_cpu", "each_server_cpu", "rate", "requests", "resident"),
    BEST: ("cpu", "each_cpu", "each_server_cpu", "rate", "requests"),
    KOPF: ("cpu", "each_cpu"),
}
# and how the names of such ratios end.
SUFFIXES = {THEIRS: RATIO, BEST: BEST_RATIO, KOPF: f" of {KOPF}"}

# How much of it does not count, before the first round.
WARMING_UP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects, how long nothing happens, and after how long everything is looked at."""

    count: int
    many: int
    # At most, of what takes long and is not judged by its median.
    rounds: int
    idle_seconds: float
    resync: "Looking"
    kopf_resync: "Looking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Every so many seconds, so often; much longer than it takes to look at everything."""

    seconds: int
    periods: int

    def __str__(self) -> str:
        return f"{self.periods} of {self.seconds} s"


FULL = Scale(
    count=1_000,
    many=5_000,
    rounds=3,
    idle_seconds=60.0,
    resync=Looking(seconds=10, periods=2),
    kopf_resync=Looking(seconds=30, periods=1),
)
QUICK = Scale(
    count=50,
    many=100,
    rounds=1,
    idle_seconds=5.0,
    resync=Looking(seconds=5, periods=2),
    kopf_resync=Looking(seconds=10, periods=1),
)


def sections(effort: Effort) -> Iterator[Section]:
    """Work, more work, none, and the same again."""
    scale = FULL if effort.is_full else QUICK
    operators = commands(NAMES)
    yield some(operators, scale, effort)
    yield many(operators, scale, effort)
    with places({name: operators[name] for name in RESTING_NAMES}) as at:
        rested = resting(at, scale, effort)
        yield rested
        yield resyncs(at, rested, scale, effort)


def some(operators: Mapping[str, Command], scale: Scale, effort: Effort) -> Section:
    """As many as are judged, by all of them in every round."""
    notes = [BEST_NOTE]
    costs = in_rounds(
        {name: converging(operators[name], count=scale.count) for name in TURNS},
        rounds=effort.rounds,
        progress=effort.progress,
        optional=[THEIRS_PATCHING, KOPF],
        report=notes.append,
        warming_up={
            name: converging(each, count=WARMING_UP)
            for name, each in operators.items()
            if effort.is_full
        },
    )
    ratios = beside_others({name: costs[name] for name in NAMES if name in costs})
    return Section(
        name="some",
        title=f"{scale.count:,} AppServices to Deployment, Service and status, in a new process"
        f" on a new control plane ({rounds_in_words(len(costs[THEIRS]))})",
        columns=columns((THEIRS, BEST, KOPF)),
        costs=ratios,
        limits=[
            limit
            for name in (OURS, OURS_UVLOOP)
            for limit in promises(name, ratios[name], judged=effort.is_judged)
        ],
        notes=notes,
    )


def many(operators: Mapping[str, Command], scale: Scale, effort: Effort) -> Section:
    """Some thousands, to see whether it stays like that."""
    costs = in_rounds(
        {name: converging(operators[name], count=scale.many) for name in MANY_NAMES},
        rounds=min(effort.rounds, scale.rounds),
        progress=effort.progress,
        warming_up={},
    )
    return Section(
        name="many",
        title=f"{scale.many:,} AppServices ({rounds_in_words(len(costs[THEIRS]))})",
        columns=columns((THEIRS,)),
        costs=beside_others(costs),
    )


def columns(bases: Sequence[str]) -> Sequence[Column]:
    """What is shown of bringing AppServices in line."""
    return (
        Column(title="a second", figure="rate", decimals=1),
        *_ratios("rate", bases),
        Column(title="CPU s", figure="cpu", decimals=2),
        *_ratios("cpu", bases),
        Column(title="start CPU s", figure="start_cpu", decimals=2),
        Column(title="CPU ms each", figure="each_cpu", decimals=2, factor=1e3),
        *_ratios("each_cpu", bases),
        Column(
            title="all of kube-apiserver's CPU ms each",
            figure="each_server_cpu",
            decimals=1,
            factor=1e3,
        ),
        *_ratios("each_server_cpu", bases),
        Column(title="requests each", figure="requests", decimals=2),
        Column(title="writes each", figure="writes", decimals=2),
        Column(title="of them refused", figure="refused", decimals=3),
        *MEMORY,
    )


def _ratios(figure: str, bases: Sequence[str]) -> Iterator[Column]:
    for base in bases:
        if figure in COMPARED[base]:
            yield Column(title=f"of {base}", figure=f"{figure}{SUFFIXES[base]}", decimals=2)


def beside_others(costs: Mapping[str, Sequence[Cost]]) -> Mapping[str, Sequence[Cost]]:
    """Each turn's cost, with its ratios to those of others in the same round."""
    found = costs
    for base in (THEIRS, KOPF):
        found = beside(found, base, COMPARED[base], suffix=SUFFIXES[base])
    best = _best(costs) if all(name in costs for name in ALL_THEIRS) else ()
    return {
        name: compared(each, best, COMPARED[BEST], suffix=SUFFIXES[BEST])
        for name, each in found.items()
    }


def _best(costs: Mapping[str, Sequence[Cost]]) -> Sequence[Cost]:
    """The most AppServices a second that controller-runtime has come to, and the least of all else.

    Figure by figure and round by round.
    """
    least = best_of(costs, ALL_THEIRS, [each for each in COMPARED[BEST] if each != "rate"])
    most = best_of(costs, ALL_THEIRS, ["rate"], best=max)
    return [{**cost, **fastest} for cost, fastest in zip(least, most, strict=True)]


def promises(name: str, costs: Sequence[Cost], *, judged: bool) -> Iterator[Limit | Floor]:
    """What of ``name`` is promised, with what came of it: medians of ratios within a round.

    The same is shown for controller-runtime at its best, of which nothing is promised.
    """

    for base, most in CPU_LIMITS.items():
        is_judged = judged and base != BEST
        for figure, words in {"cpu": "CPU", "each_cpu": "CPU for each AppService"}.items():
            yield Limit(
                what=f"{name}, {words} of that of {base}",
                most=most,
                unit="",
                rounds=by_round(costs, f"{figure}{SUFFIXES[base]}"),
                judged=is_judged,
            )
        if "requests" in COMPARED[base]:
            yield Limit(
                what=f"{name}, requests of those of {base}",
                most=REQUESTS_LIMIT,
                unit="",
                rounds=by_round(costs, f"requests{SUFFIXES[base]}"),
                judged=is_judged,
            )
        if "rate" in COMPARED[base]:
            yield Floor(
                what=f"{name}, AppServices a second of those of {base}",
                least=RATE_FLOOR,
                unit="",
                rounds=by_round(costs, f"rate{SUFFIXES[base]}"),
                judged=is_judged,
            )


def resting(at: Mapping[str, Place], scale: Scale, effort: Effort) -> Section:
    """Nothing to do."""
    notes: list[str] = []
    costs = idle(
        at,
        count=scale.count,
        seconds=scale.idle_seconds,
        rounds=min(effort.rounds, scale.rounds),
        progress=effort.progress,
        optional=[KOPF],
        report=notes.append,
    )
    return Section(
        name="idle",
        title=f"{scale.idle_seconds:g} s with nothing to do, and {scale.count:,} AppServices; all"
        f" at the same time ({rounds_in_words(len(costs[THEIRS]))})",
        columns=(
            Column(title="CPU ms", figure="cpu", decimals=1, factor=1e3),
            Column(title=f"of {THEIRS}", figure="cpu_ratio", decimals=2),
            Column(title="requests", figure="requests", decimals=0),
            Column(title="watches", figure="watches", decimals=0),
            *MEMORY,
        ),
        costs=beside(costs, THEIRS, ("cpu", "resident")),
        limits=[
            Limit(
                what=f"{name}, requests with nothing to do, beyond watches and leases",
                most=0,
                unit="",
                rounds=by_round(costs[name], "requests"),
                is_of_worst=True,
                judged=effort.is_judged,
            )
            for name in (OURS, OURS_UVLOOP)
        ],
        notes=notes,
    )


def resyncs(at: Mapping[str, Place], rested: Section, scale: Scale, effort: Effort) -> Section:
    """Everything looked at again, and nothing found to do.

    By those who have ``rested``: where an operator has not reconciled everything, there would be
    something to do.
    """

    def looking(name: str, place: Place) -> Turn:
        how = scale.kopf_resync if name == KOPF else scale.resync
        return lambda: resynced(
            name, place, count=scale.count, seconds=how.seconds, periods=how.periods
        )

    notes = [*rested.notes]
    costs = in_rounds(
        {name: looking(name, place) for name, place in at.items() if name in rested.costs},
        rounds=min(effort.rounds, scale.rounds),
        progress=effort.progress,
        warming_up={},
        optional=[KOPF],
        report=notes.append,
    )
    rounds = rounds_in_words(len(costs[THEIRS]))
    return Section(
        name="resync",
        title=f"A resync of {scale.count:,} AppServices with nothing to do, in a new process"
        f" (means of {scale.resync}, of {KOPF} {scale.kopf_resync}; {rounds})",
        columns=(
            Column(title="CPU µs a look", figure="look_cpu", decimals=0, factor=1e6),
            Column(title=f"of {THEIRS}", figure="look_cpu_ratio", decimals=2),
            Column(title="looks at each", figure="looks", decimals=1),
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="requests each", figure="requests", decimals=2),
            *MEMORY,
        ),
        # Not of all the CPU: how many looks there are in that time is partly chance.
        costs=beside(costs, THEIRS, ("look_cpu", "resident")),
        notes=notes,
    )


MEMORY = (
    Column(title="resident MB", figure="resident", decimals=1),
    Column(title=f"of {THEIRS}", figure="resident_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
)


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """What it costs, how fast it is, and what is spent on nothing; of what is there."""
    few, lots = (_begins(sections, name, before=" AppServices") for name in ("some", "many"))
    span = _begins(sections, "idle", before=" with")
    for name, title, shown in (
        (
            "cost",
            "An AppService brought to Deployment, Service and status",
            {
                "CPU, ms": ("some", "each_cpu", 1e3),
                "all of kube-apiserver's CPU, ms": ("some", "each_server_cpu", 1e3),
                "API requests": ("some", "requests", 1.0),
            },
        ),
        (
            "throughput",
            "AppServices brought in line in a second",
            {f"{few} of them": ("some", "rate", 1.0), f"{lots} of them": ("many", "rate", 1.0)},
        ),
        (
            "memory",
            "Memory of an operator",
            {
                f"{few} AppServices, peak MB": ("some", "peak", 1.0),
                f"{lots} AppServices, peak MB": ("many", "peak", 1.0),
            },
        ),
        (
            "resting",
            "With nothing to do",
            {
                f"{span} of it, CPU ms": ("idle", "cpu", 1e3),
                f"{span} of it, API requests": ("idle", "requests", 1.0),
                "a look in a resync, CPU µs": ("resync", "look_cpu", 1e6),
            },
        ),
    ):
        if drawn := panels(sections, shown):
            yield Bars(
                name=name,
                title=title,
                panels=drawn,
                limits={},
                is_more_better=name == "throughput",
            )


def _begins(sections: Mapping[str, Section], name: str, *, before: str) -> str:
    """What the title of a section begins with: of how many it is, or how long it took."""
    return sections[name].title.partition(before)[0] if name in sections else ""
