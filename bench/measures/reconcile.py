"""The cost of an operator: for reconciling AppServices, while idle, and for resyncs.

The same operator is written with controller-runtime, kopf and steersman, and runs against a real
control plane with its controllers. Figures count only if the children and the status of every
AppService match its spec.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.harness.charts import BarChart, panels
from bench.harness.contenders import (
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_PATCHING,
    KOPF,
    STEERSMAN,
    STEERSMAN_UVLOOP,
)
from bench.harness.convergence import convergence_turn
from bench.harness.operators import Command, commands
from bench.harness.report import Column, Floor, Limit, Section, by_round, rounds_text
from bench.harness.rounds import (
    BEST_RATIO,
    RATIO,
    Cost,
    Turn,
    all_with_ratios,
    best_of,
    in_rounds,
    with_ratios,
)
from bench.harness.run_options import RunOptions
from bench.harness.steady_state import OperatorSetup, measure_idle, measure_resync, operator_setups

TITLE = "Operators: a Deployment, a Service and a status for each AppService"

# The turns of controller-runtime: with default settings, and with patched statuses, which have no
# conflicts, as in steersman.
ALL_CONTROLLER_RUNTIME = (CONTROLLER_RUNTIME, CONTROLLER_RUNTIME_PATCHING)
NAMES = (*ALL_CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP)
# A turn takes a minute, in which the load of the machine changes. Therefore a contender with limits
# runs next to its reference.
TURNS = (KOPF, CONTROLLER_RUNTIME_PATCHING, STEERSMAN, CONTROLLER_RUNTIME, STEERSMAN_UVLOOP)

# Idle operators write no status, so one turn of controller-runtime is enough.
IDLE_NAMES = (CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP)

BEST = "best c-r"
BEST_NOTE = (
    f"{BEST}: the better figure of both turns of controller-runtime in the same round; not enforced"
)

# A turn with thousands of objects takes minutes, and longer with kopf.
MANY_NAMES = (CONTROLLER_RUNTIME, STEERSMAN)

# The limits, as ratios.
CPU_LIMITS = {CONTROLLER_RUNTIME: 1.0, BEST: 1.0, KOPF: 0.35}
REQUESTS_LIMIT = 1.0
# The lower limit of the rate, as a ratio to controller-runtime.
RATE_FLOOR = 1.0

# The figures with a ratio to each of these in the same round,
COMPARED = {
    CONTROLLER_RUNTIME: ("cpu", "each_cpu", "each_server_cpu", "rate", "requests", "resident"),
    BEST: ("cpu", "each_cpu", "each_server_cpu", "rate", "requests"),
    KOPF: ("cpu", "each_cpu"),
}
# and the suffixes of these ratios.
SUFFIXES = {CONTROLLER_RUNTIME: RATIO, BEST: BEST_RATIO, KOPF: f" of {KOPF}"}

# The number of AppServices in the warm-up.
WARMING_UP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The number of objects, the idle time, and the resync periods."""

    count: int
    many: int
    # The maximum number of rounds of long tables.
    rounds: int
    idle_seconds: float
    resync: "Resync"
    kopf_resync: "Resync"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resync:
    """The period of resyncs and their number; a period is much longer than a resync."""

    seconds: int
    periods: int

    def __str__(self) -> str:
        return f"{self.periods} of {self.seconds} s"


FULL = Scale(
    count=1_000,
    many=5_000,
    rounds=3,
    idle_seconds=60.0,
    resync=Resync(seconds=10, periods=2),
    kopf_resync=Resync(seconds=30, periods=1),
)
QUICK = Scale(
    count=50,
    many=100,
    rounds=1,
    idle_seconds=5.0,
    resync=Resync(seconds=5, periods=2),
    kopf_resync=Resync(seconds=10, periods=1),
)


def sections(options: RunOptions) -> Iterator[Section]:
    """Reconciles of some and of many AppServices, idle operators, and resyncs."""
    scale = FULL if options.is_full else QUICK
    operators = commands(NAMES)
    yield some(operators, scale, options)
    yield many(operators, scale, options)
    with operator_setups({name: operators[name] for name in IDLE_NAMES}) as at:
        idle_table = idle_section(at, scale, options)
        yield idle_table
        yield resync_section(at, idle_table, scale, options)


def some(operators: Mapping[str, Command], scale: Scale, options: RunOptions) -> Section:
    """The table with limits, with all contenders."""
    notes = [BEST_NOTE]
    costs = in_rounds(
        {name: convergence_turn(operators[name], count=scale.count) for name in TURNS},
        rounds=options.rounds,
        progress=options.progress,
        optional=[CONTROLLER_RUNTIME_PATCHING, KOPF],
        report=notes.append,
        warming_up={
            name: convergence_turn(each, count=WARMING_UP)
            for name, each in operators.items()
            if options.is_full
        },
    )
    ratios = ratios_to_others({name: costs[name] for name in NAMES if name in costs})
    return Section(
        name="some",
        title=f"{scale.count:,} AppServices to Deployment, Service and status, in a new process"
        f" on a new control plane ({rounds_text(len(costs[CONTROLLER_RUNTIME]))})",
        columns=columns((CONTROLLER_RUNTIME, BEST, KOPF)),
        costs=ratios,
        limits=[
            limit
            for name in (STEERSMAN, STEERSMAN_UVLOOP)
            for limit in limits_of(name, ratios[name], enforced=options.is_enforced)
        ],
        notes=notes,
    )


def many(operators: Mapping[str, Command], scale: Scale, options: RunOptions) -> Section:
    """The table with thousands of AppServices."""
    costs = in_rounds(
        {name: convergence_turn(operators[name], count=scale.many) for name in MANY_NAMES},
        rounds=min(options.rounds, scale.rounds),
        progress=options.progress,
        warming_up={},
    )
    return Section(
        name="many",
        title=f"{scale.many:,} AppServices ({rounds_text(len(costs[CONTROLLER_RUNTIME]))})",
        columns=columns((CONTROLLER_RUNTIME,)),
        costs=ratios_to_others(costs),
    )


def columns(bases: Sequence[str]) -> Sequence[Column]:
    """The columns of reconciles."""
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
        Column(title="of them rejected", figure="refused", decimals=3),
        *MEMORY,
    )


def _ratios(figure: str, bases: Sequence[str]) -> Iterator[Column]:
    for base in bases:
        if figure in COMPARED[base]:
            yield Column(title=f"of {base}", figure=f"{figure}{SUFFIXES[base]}", decimals=2)


def ratios_to_others(costs: Mapping[str, Sequence[Cost]]) -> Mapping[str, Sequence[Cost]]:
    """The costs, with ratios to other contenders in the same round."""
    found = costs
    for base in (CONTROLLER_RUNTIME, KOPF):
        found = all_with_ratios(found, base, COMPARED[base], suffix=SUFFIXES[base])
    best = _best(costs) if all(name in costs for name in ALL_CONTROLLER_RUNTIME) else ()
    return {
        name: with_ratios(each, best, COMPARED[BEST], suffix=SUFFIXES[BEST])
        for name, each in found.items()
    }


def _best(costs: Mapping[str, Sequence[Cost]]) -> Sequence[Cost]:
    """For each round, the highest rate and the lowest other figures of controller-runtime."""
    least = best_of(
        costs, ALL_CONTROLLER_RUNTIME, [each for each in COMPARED[BEST] if each != "rate"]
    )
    most = best_of(costs, ALL_CONTROLLER_RUNTIME, ["rate"], best=max)
    return [{**cost, **fastest} for cost, fastest in zip(least, most, strict=True)]


def limits_of(name: str, costs: Sequence[Cost], *, enforced: bool) -> Iterator[Limit | Floor]:
    """The limits of ``name``, as ratios within a round.

    The ratios to the best of controller-runtime are not enforced.
    """

    for base, most in CPU_LIMITS.items():
        is_enforced = enforced and base != BEST
        for figure, words in {"cpu": "CPU", "each_cpu": "CPU of one AppService"}.items():
            yield Limit(
                what=f"{name}, {words}, ratio to {base}",
                most=most,
                unit="",
                rounds=by_round(costs, f"{figure}{SUFFIXES[base]}"),
                enforced=is_enforced,
            )
        if "requests" in COMPARED[base]:
            yield Limit(
                what=f"{name}, requests, ratio to {base}",
                most=REQUESTS_LIMIT,
                unit="",
                rounds=by_round(costs, f"requests{SUFFIXES[base]}"),
                enforced=is_enforced,
            )
        if "rate" in COMPARED[base]:
            yield Floor(
                what=f"{name}, AppServices a second, ratio to {base}",
                least=RATE_FLOOR,
                unit="",
                rounds=by_round(costs, f"rate{SUFFIXES[base]}"),
                enforced=is_enforced,
            )


def idle_section(at: Mapping[str, OperatorSetup], scale: Scale, options: RunOptions) -> Section:
    """The table of idle operators."""
    notes: list[str] = []
    costs = measure_idle(
        at,
        count=scale.count,
        seconds=scale.idle_seconds,
        rounds=min(options.rounds, scale.rounds),
        progress=options.progress,
        optional=[KOPF],
        report=notes.append,
    )
    return Section(
        name="idle",
        title=f"{scale.idle_seconds:g} s idle, with {scale.count:,} AppServices; all contenders"
        f" at the same time ({rounds_text(len(costs[CONTROLLER_RUNTIME]))})",
        columns=(
            Column(title="CPU ms", figure="cpu", decimals=1, factor=1e3),
            Column(title=f"of {CONTROLLER_RUNTIME}", figure="cpu_ratio", decimals=2),
            Column(title="requests", figure="requests", decimals=0),
            Column(title="watches", figure="watches", decimals=0),
            *MEMORY,
        ),
        costs=all_with_ratios(costs, CONTROLLER_RUNTIME, ("cpu", "resident")),
        limits=[
            Limit(
                what=f"{name}, requests while idle, without watches and leases",
                most=0,
                unit="",
                rounds=by_round(costs[name], "requests"),
                is_of_worst=True,
                enforced=options.is_enforced,
            )
            for name in (STEERSMAN, STEERSMAN_UVLOOP)
        ],
        notes=notes,
    )


def resync_section(
    at: Mapping[str, OperatorSetup], idle_table: Section, scale: Scale, options: RunOptions
) -> Section:
    """The table of resyncs without changes.

    An operator that failed in the table ``idle_table`` is omitted, because its resync would change
    objects.
    """

    def looking(name: str, place: OperatorSetup) -> Turn:
        how = scale.kopf_resync if name == KOPF else scale.resync
        return lambda: measure_resync(
            name, place, count=scale.count, seconds=how.seconds, periods=how.periods
        )

    notes = [*idle_table.notes]
    costs = in_rounds(
        {name: looking(name, place) for name, place in at.items() if name in idle_table.costs},
        rounds=min(options.rounds, scale.rounds),
        progress=options.progress,
        warming_up={},
        optional=[KOPF],
        report=notes.append,
    )
    rounds = rounds_text(len(costs[CONTROLLER_RUNTIME]))
    return Section(
        name="resync",
        title=f"A resync of {scale.count:,} unchanged AppServices, in a new process"
        f" (means of {scale.resync}, of {KOPF} {scale.kopf_resync}; {rounds})",
        columns=(
            Column(title="CPU µs per reconcile", figure="look_cpu", decimals=0, factor=1e6),
            Column(title=f"of {CONTROLLER_RUNTIME}", figure="look_cpu_ratio", decimals=2),
            Column(title="reconciles of each", figure="looks", decimals=1),
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="requests each", figure="requests", decimals=2),
            *MEMORY,
        ),
        # Without the total CPU, because the number of reconciles varies.
        costs=all_with_ratios(costs, CONTROLLER_RUNTIME, ("look_cpu", "resident")),
        notes=notes,
    )


MEMORY = (
    Column(title="resident MB", figure="resident", decimals=1),
    Column(title=f"of {CONTROLLER_RUNTIME}", figure="resident_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
)


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """The cost, the rate, the memory, and the cost of idle operators."""
    few, lots = (_begins(sections, name, before=" AppServices") for name in ("some", "many"))
    span = _begins(sections, "idle", before=" idle")
    for name, title, shown in (
        (
            "cost",
            "Reconcile of one AppService: Deployment, Service and status",
            {
                "CPU, ms": ("some", "each_cpu", 1e3),
                "all of kube-apiserver's CPU, ms": ("some", "each_server_cpu", 1e3),
                "API requests": ("some", "requests", 1.0),
            },
        ),
        (
            "throughput",
            "AppServices reconciled a second",
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
            "idle",
            "Idle operators, and resyncs",
            {
                f"{span}, CPU ms": ("idle", "cpu", 1e3),
                f"{span}, API requests": ("idle", "requests", 1.0),
                "one reconcile of a resync, CPU µs": ("resync", "look_cpu", 1e6),
            },
        ),
    ):
        if drawn := panels(sections, shown):
            yield BarChart(
                name=name,
                title=title,
                panels=drawn,
                limits={},
                is_more_better=name == "throughput",
            )


def _begins(sections: Mapping[str, Section], name: str, *, before: str) -> str:
    """The start of a section's title: the number of objects, or the duration."""
    return sections[name].title.partition(before)[0] if name in sections else ""
