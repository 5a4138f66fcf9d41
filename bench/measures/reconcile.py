"""A whole operator: what it takes to bring AppServices in line, to rest, and to look again.

The same operator with controller-runtime, with kopf and with steersman, against a real control
plane with its own controllers at work. Before a figure counts, the children and the status of every
AppService are compared with what its spec asks for, field by field.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.harness.charts import Bars, panels
from bench.harness.contenders import KOPF, OURS, OURS_UVLOOP, THEIRS
from bench.harness.converging import converging
from bench.harness.effort import Effort
from bench.harness.operators import Command, commands
from bench.harness.report import Column, Floor, Limit, Section, rounds_in_words
from bench.harness.resting import Place, idle, places, resynced
from bench.harness.rounds import RATIO, Cost, Turn, beside, in_rounds

TITLE = "Operators: AppServices brought to Deployment, Service and status"

NAMES = (THEIRS, KOPF, OURS, OURS_UVLOOP)

# A turn with thousands is minutes, and with kopf a quarter of an hour.
MANY_NAMES = (THEIRS, OURS)

# What ours may take of what each of these takes.
CPU_LIMITS = {THEIRS: 1.0, KOPF: 0.35}
REQUESTS_LIMIT = 1.0
# And how fast it is at least, beside controller-runtime.
RATE_FLOOR = 1.0

# What is also told as a ratio to controller-runtime in the same round,
COMPARED = ("cpu", "each_cpu", "each_server_cpu", "rate", "requests", "resident")
# and to kopf.
COMPARED_WITH_KOPF = ("cpu", "each_cpu")
# How such ratios end.
SUFFIXES = {THEIRS: RATIO, KOPF: f" of {KOPF}"}

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
    with places(operators) as at:
        yield resting(at, scale, effort)
        yield resyncs(at, scale, effort)


def some(operators: Mapping[str, Command], scale: Scale, effort: Effort) -> Section:
    """As many as are judged, by all of them in every round."""
    notes: list[str] = []
    costs = in_rounds(
        {name: converging(each, count=scale.count) for name, each in operators.items()},
        rounds=effort.rounds,
        progress=effort.progress,
        optional=[KOPF],
        told=notes.append,
        warming_up={
            name: converging(each, count=WARMING_UP)
            for name, each in operators.items()
            if effort.is_full
        },
    )
    ratios = beside_others(costs)
    return Section(
        name="some",
        title=f"{scale.count:,} AppServices to Deployment, Service and status, in a new process"
        f" on a new control plane ({rounds_in_words(len(costs[THEIRS]))})",
        columns=columns((THEIRS, KOPF)),
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
        Column(title=f"of {THEIRS}", figure="rate_ratio", decimals=2),
        Column(title="CPU s", figure="cpu", decimals=2),
        *_ratios("cpu", bases),
        Column(title="start CPU s", figure="start_cpu", decimals=2),
        Column(title="CPU ms each", figure="each_cpu", decimals=2, factor=1e3),
        *_ratios("each_cpu", bases),
        Column(title="API server CPU ms each", figure="each_server_cpu", decimals=1, factor=1e3),
        *_ratios("each_server_cpu", [THEIRS]),
        Column(title="requests each", figure="requests", decimals=2),
        Column(title="writes each", figure="writes", decimals=2),
        Column(title="of them refused", figure="refused", decimals=3),
        *MEMORY,
    )


def _ratios(figure: str, bases: Sequence[str]) -> Iterator[Column]:
    for base in bases:
        yield Column(title=f"of {base}", figure=f"{figure}{SUFFIXES[base]}", decimals=2)


def beside_others(costs: Mapping[str, Sequence[Cost]]) -> Mapping[str, Sequence[Cost]]:
    """Each turn's cost, with its ratios to those of others in the same round."""
    beside_theirs = beside(costs, THEIRS, COMPARED)
    return beside(beside_theirs, KOPF, COMPARED_WITH_KOPF, suffix=SUFFIXES[KOPF])


def promises(name: str, costs: Sequence[Cost], *, judged: bool) -> Iterator[Limit | Floor]:
    """What of ``name`` is promised, with what came of it: medians of ratios within a round."""

    def middle(figure: str) -> float | None:
        values = [cost[figure] for cost in costs if figure in cost]
        return median(values) if values else None

    for base, most in CPU_LIMITS.items():
        for figure, words in {"cpu": "CPU", "each_cpu": "CPU for each AppService"}.items():
            yield Limit(
                what=f"{name}, {words} of that of {base}",
                most=most,
                unit="",
                found=middle(f"{figure}{SUFFIXES[base]}"),
                judged=judged,
            )
    yield Limit(
        what=f"{name}, requests of those of {THEIRS}",
        most=REQUESTS_LIMIT,
        unit="",
        found=middle("requests_ratio"),
        judged=judged,
    )
    yield Floor(
        what=f"{name}, AppServices a second of those of {THEIRS}",
        least=RATE_FLOOR,
        unit="",
        found=middle("rate_ratio"),
        judged=judged,
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
        told=notes.append,
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
                found=max(each["requests"] for each in costs[name]),
                judged=effort.is_judged,
            )
            for name in (OURS, OURS_UVLOOP)
        ],
        notes=notes,
    )


def resyncs(at: Mapping[str, Place], scale: Scale, effort: Effort) -> Section:
    """Everything looked at again, and nothing found to do."""

    def looking(name: str, place: Place) -> Turn:
        how = scale.kopf_resync if name == KOPF else scale.resync
        return lambda: resynced(
            name, place, count=scale.count, seconds=how.seconds, periods=how.periods
        )

    notes: list[str] = []
    costs = in_rounds(
        {name: looking(name, place) for name, place in at.items()},
        rounds=min(effort.rounds, scale.rounds),
        progress=effort.progress,
        warming_up={},
        optional=[KOPF],
        told=notes.append,
    )
    rounds = rounds_in_words(len(costs[THEIRS]))
    return Section(
        name="resync",
        title=f"A resync of {scale.count:,} AppServices with nothing to do, in a new process"
        f" (means of {scale.resync}, of {KOPF} {scale.kopf_resync}; {rounds})",
        columns=(
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title=f"of {THEIRS}", figure="cpu_ratio", decimals=2),
            Column(title="looks at each", figure="looks", decimals=1),
            Column(title="CPU µs a look", figure="look_cpu", decimals=0, factor=1e6),
            Column(title=f"of {THEIRS}", figure="look_cpu_ratio", decimals=2),
            Column(title="requests each", figure="requests", decimals=2),
            *MEMORY,
        ),
        costs=beside(costs, THEIRS, ("cpu", "look_cpu", "resident")),
        notes=notes,
    )


MEMORY = (
    Column(title="resident MB", figure="resident", decimals=1),
    Column(title=f"of {THEIRS}", figure="resident_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
)


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """What it costs, how fast it is, and what is spent on nothing; of what is there."""
    for name, title, shown in (
        (
            "cost",
            "An AppService brought to Deployment, Service and status",
            {
                "CPU, ms": ("some", "each_cpu", 1e3),
                "API server's CPU, ms": ("some", "each_server_cpu", 1e3),
                "API requests": ("some", "requests", 1.0),
            },
        ),
        (
            "throughput",
            "AppServices brought in line in a second",
            {"1,000 of them": ("some", "rate", 1.0), "5,000 of them": ("many", "rate", 1.0)},
        ),
        (
            "memory",
            "Memory of an operator",
            {
                "1,000 AppServices, peak MB": ("some", "peak", 1.0),
                "5,000 AppServices, peak MB": ("many", "peak", 1.0),
            },
        ),
        (
            "resting",
            "With nothing to do",
            {
                "an idle minute, CPU ms": ("idle", "cpu", 1e3),
                "an idle minute, API requests": ("idle", "requests", 1.0),
                "a resync, CPU s": ("resync", "cpu", 1.0),
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
