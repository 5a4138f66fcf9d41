"""A whole operator: what it takes to bring AppServices in line, to rest, and to look again.

The same operator with controller-runtime, with kopf and with steersman, against a real control
plane with its own controllers at work. Before a figure counts, the children and the status of every
AppService are compared with what its spec asks for, field by field.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.harness.charts import Bars, Spread
from bench.harness.converging import converging
from bench.harness.effort import Effort
from bench.harness.operators import KOPF, OURS, OURS_UVLOOP, THEIRS, Command, commands
from bench.harness.report import Column, Floor, Limit, Section
from bench.harness.resting import Place, idle, places, resynced
from bench.harness.rounds import Cost, in_rounds

TITLE = "Operators: AppServices brought to Deployment, Service and status"

NAMES = (THEIRS, KOPF, OURS, OURS_UVLOOP)

# Once is enough of what takes minutes, and says the same as with fewer.
MANY_NAMES = (THEIRS, OURS)

# What ours may take of what each of these takes.
CPU_LIMITS = {THEIRS: 1.0, KOPF: 0.35}
REQUESTS_LIMIT = 1.0
# And how fast it is at least, beside controller-runtime.
RATE_FLOOR = 1.0

# What is also told as a ratio to controller-runtime in the same round.
COMPARED = ("cpu", "each_cpu", "each_server_cpu", "rate", "requests", "resident")

# How much of it does not count, before the first round.
WARMING_UP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects, how long nothing happens, and after how long everything is looked at.

    A period between two looks is much longer than it takes to look at everything.
    """

    count: int
    many: int
    many_rounds: int
    idle_seconds: float
    idle_rounds: int
    resync_seconds: int
    kopf_resync_seconds: int
    resync_periods: int


FULL = Scale(
    count=1_000,
    many=5_000,
    many_rounds=3,
    idle_seconds=60.0,
    idle_rounds=3,
    resync_seconds=10,
    kopf_resync_seconds=30,
    resync_periods=3,
)
QUICK = Scale(
    count=50,
    many=100,
    many_rounds=1,
    idle_seconds=5.0,
    idle_rounds=1,
    resync_seconds=5,
    kopf_resync_seconds=10,
    resync_periods=2,
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
    costs = in_rounds(
        {name: converging(each, count=scale.count) for name, each in operators.items()},
        rounds=effort.rounds,
        progress=effort.progress,
        warming_up={
            name: converging(each, count=WARMING_UP)
            for name, each in operators.items()
            if effort.is_full
        },
    )
    beside = {name: beside_others(costs, name) for name in costs}
    return Section(
        name="some",
        title=f"{scale.count:,} AppServices to Deployment, Service and status, in a new process"
        f" on a new control plane ({effort.rounds} rounds)",
        columns=columns((THEIRS, KOPF)),
        costs=beside,
        limits=[
            limit
            for name in (OURS, OURS_UVLOOP)
            for limit in promises(name, beside[name], judged=effort.is_full)
        ],
    )


def many(operators: Mapping[str, Command], scale: Scale, effort: Effort) -> Section:
    """Some thousands, to see whether it stays like that."""
    costs = dict(
        in_rounds(
            {name: converging(operators[name], count=scale.many) for name in MANY_NAMES},
            rounds=scale.many_rounds,
            progress=effort.progress,
            warming_up={},
        )
    )
    effort.progress(f"{scale.many:,} AppServices, once: {KOPF}")
    costs[KOPF] = [converging(operators[KOPF], count=scale.many)()]
    return Section(
        name="many",
        title=f"{scale.many:,} AppServices ({scale.many_rounds} rounds, one of them with {KOPF})",
        columns=columns((THEIRS,)),
        costs={name: beside_others(costs, name) for name in (THEIRS, KOPF, OURS)},
    )


def columns(bases: Sequence[str]) -> Sequence[Column]:
    """What is shown of bringing AppServices in line."""
    return (
        Column(title="a second", figure="rate", decimals=1),
        Column(title=f"of {THEIRS}", figure="rate_ratio", decimals=2),
        Column(title="CPU s", figure="cpu", decimals=2),
        *(Column(title=f"of {base}", figure=f"cpu of {base}", decimals=2) for base in bases),
        Column(title="start CPU s", figure="start_cpu", decimals=2),
        Column(title="CPU ms each", figure="each_cpu", decimals=2, factor=1e3),
        *(Column(title=f"of {base}", figure=f"each_cpu of {base}", decimals=2) for base in bases),
        Column(title="API server CPU ms each", figure="each_server_cpu", decimals=1, factor=1e3),
        Column(title="requests each", figure="requests", decimals=2),
        Column(title="writes each", figure="writes", decimals=2),
        Column(title="resident MB", figure="resident", decimals=1),
        Column(title="peak MB", figure="peak", decimals=1),
    )


def beside_others(costs: Mapping[str, Sequence[Cost]], name: str) -> Sequence[Cost]:
    """Each turn's cost, with its ratios to those of others in the same round."""
    found = []
    for number, mine in enumerate(costs[name]):
        theirs = costs[THEIRS][number]
        ratios = {f"{figure}_ratio": mine[figure] / theirs[figure] for figure in COMPARED}
        for base in CPU_LIMITS:
            if number < len(costs[base]):
                beside = costs[base][number]
                for figure in ("cpu", "each_cpu"):
                    ratios[f"{figure} of {base}"] = mine[figure] / beside[figure]
        found.append({**mine, **ratios})
    return found


def promises(name: str, costs: Sequence[Cost], *, judged: bool) -> Iterator[Limit | Floor]:
    """What of ``name`` is promised, with what came of it: medians of ratios within a round."""

    def middle(figure: str) -> float:
        return median(cost[figure] for cost in costs)

    for base, most in CPU_LIMITS.items():
        for figure, words in {"cpu": "CPU", "each_cpu": "CPU for each AppService"}.items():
            yield Limit(
                what=f"{name}, {words} of that of {base}",
                most=most,
                unit="",
                found=middle(f"{figure} of {base}"),
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
    costs = idle(
        at,
        count=scale.count,
        seconds=scale.idle_seconds,
        rounds=scale.idle_rounds,
        progress=effort.progress,
    )
    return Section(
        name="idle",
        title=f"{scale.idle_seconds:g} s with nothing to do, and {scale.count:,} AppServices"
        f" ({scale.idle_rounds} times)",
        columns=(
            Column(title="CPU ms", figure="cpu", decimals=0, factor=1e3),
            Column(title="requests", figure="requests", decimals=0),
            Column(title="watches", figure="watches", decimals=0),
            Column(title="resident MB", figure="resident", decimals=1),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{name}, requests with nothing to do, beyond watches and leases",
                most=0,
                unit="",
                found=max(each["requests"] for each in costs[name]),
                judged=effort.is_full,
            )
            for name in (OURS, OURS_UVLOOP)
        ],
    )


def resyncs(at: Mapping[str, Place], scale: Scale, effort: Effort) -> Section:
    """Everything looked at again, and nothing found to do."""
    costs = {}
    for name, place in at.items():
        effort.progress(f"resync: {name}")
        seconds = scale.kopf_resync_seconds if name == KOPF else scale.resync_seconds
        costs[name] = [
            resynced(name, place, count=scale.count, seconds=seconds, periods=scale.resync_periods)
        ]
    return Section(
        name="resync",
        title=f"A resync of {scale.count:,} AppServices with nothing to do"
        f" (mean of {scale.resync_periods})",
        columns=(
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="looks at each", figure="looks", decimals=1),
            Column(title="CPU µs a look", figure="look_cpu", decimals=0, factor=1e6),
            Column(title="requests each", figure="requests", decimals=2),
        ),
        costs=costs,
    )


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """What it costs, how fast it is, and what is spent on nothing."""
    some_costs, many_costs = sections["some"].costs, sections["many"].costs
    yield Bars(
        name="cost",
        title="An AppService brought to Deployment, Service and status",
        panels={
            "CPU, ms": _spreads(some_costs, "each_cpu", 1e3),
            "API server's CPU, ms": _spreads(some_costs, "each_server_cpu", 1e3),
            "API requests": _spreads(some_costs, "requests"),
        },
        limits={},
    )
    yield Bars(
        name="throughput",
        title="AppServices brought in line in a second",
        panels={
            "1,000 of them": _spreads(some_costs, "rate"),
            "5,000 of them": _spreads(many_costs, "rate"),
        },
        limits={},
        is_more_better=True,
    )
    yield Bars(
        name="memory",
        title="Memory of an operator",
        panels={
            "1,000 AppServices, peak MB": _spreads(some_costs, "peak"),
            "5,000 AppServices, peak MB": _spreads(many_costs, "peak"),
        },
        limits={},
    )
    yield Bars(
        name="resting",
        title="With nothing to do",
        panels={
            "an idle minute, CPU ms": _spreads(sections["idle"].costs, "cpu", 1e3),
            "an idle minute, API requests": _spreads(sections["idle"].costs, "requests"),
            "a resync, CPU s": _spreads(sections["resync"].costs, "cpu"),
        },
        limits={},
    )


def _spreads(
    costs: Mapping[str, Sequence[Cost]], figure: str, factor: float = 1.0
) -> Mapping[str, Spread]:
    return {name: Spread.of(each, figure, factor) for name, each in costs.items()}
