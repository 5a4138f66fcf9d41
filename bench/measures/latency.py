"""The delay between a change and the start of its reconcile, or the changed Deployment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.harness.charts import BarChart, panels
from bench.harness.contenders import CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP
from bench.harness.delays import Pace, deployment_change_turn, reconcile_start_turn
from bench.harness.operators import commands
from bench.harness.report import Column, Limit, Section, by_round, percentile_columns, rounds_text
from bench.harness.rounds import Cost, Turn, all_with_ratios, in_rounds
from bench.harness.run_options import RunOptions

TITLE = "Latency"

NAMES = (CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP)

# The pace and the value of the limit.
LIMIT_RATE = 100.0
LIMIT_SECONDS = 0.020
SLEEP_MS = 1

# Three rounds are enough, because each has hundreds of changes.
MAX_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The number of objects, and the paces of the changes."""

    count: int
    paces: Sequence[Pace]


FULL = Scale(
    count=200,
    paces=(
        Pace(rate=10.0, seconds=15.0),
        Pace(rate=100.0, seconds=8.0),
        Pace(rate=500.0, seconds=3.0),
    ),
)
QUICK = Scale(count=20, paces=[Pace(rate=pace.rate, seconds=2.0) for pace in FULL.paces])


def sections(options: RunOptions) -> Iterator[Section]:
    """The delay until the reconcile starts, and the delay until the Deployment changes."""
    scale = FULL if options.is_full else QUICK
    operators = commands(NAMES)
    notes: list[str] = []
    costs = _in_rounds(
        {
            name: reconcile_start_turn(
                command, count=scale.count, paces=scale.paces, sleep_ms=SLEEP_MS
            )
            for name, command in operators.items()
        },
        options,
        notes,
    )
    for pace in scale.paces:
        section = _starts(pace, _at(pace, costs), scale.count, enforced=options.is_enforced)
        yield replace(section, notes=notes)
    notes = []
    costs = _in_rounds(
        {
            name: deployment_change_turn(command, count=scale.count, paces=scale.paces)
            for name, command in operators.items()
        },
        options,
        notes,
    )
    for pace in scale.paces:
        yield replace(_children(pace, _at(pace, costs), scale.count), notes=notes)


def _in_rounds(
    turns: Mapping[str, Turn], options: RunOptions, notes: list[str]
) -> Mapping[str, Sequence[Cost]]:
    return in_rounds(
        turns,
        rounds=min(options.rounds, MAX_ROUNDS),
        progress=options.progress,
        warming_up={},
        optional=[KOPF],
        report=notes.append,
    )


def _at(pace: Pace, costs: Mapping[str, Sequence[Cost]]) -> Mapping[str, Sequence[Cost]]:
    own = {name: pace.of(each) for name, each in costs.items()}
    return all_with_ratios(own, CONTROLLER_RUNTIME, ("due_p50", "due_p99", "cpu", "resident"))


def _starts(
    pace: Pace, costs: Mapping[str, Sequence[Cost]], count: int, *, enforced: bool
) -> Section:
    is_enforced = pace.rate == LIMIT_RATE
    rounds = rounds_text(len(costs[CONTROLLER_RUNTIME]))
    return Section(
        name=f"start-{pace.rate:g}",
        title=f"{pace.rate:g} changes a second for {pace.seconds:g} s to {count:,} AppServices,"
        f" until a reconcile of {SLEEP_MS} ms starts ({rounds})",
        columns=(
            *percentile_columns("answered", "from the response", "ms"),
            *percentile_columns("sent", "from sending", "ms"),
            *percentile_columns("due", "from the due time", "ms"),
            Column(title="p99 of c-r", figure="due_p99_ratio", decimals=2),
            Column(title="response p99 ms", figure="answer_p99", decimals=1, factor=1e3),
            *COMMON,
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{name}, response to start of the reconcile, p99",
                most=LIMIT_SECONDS,
                unit=" s",
                rounds=by_round(costs[name], "answered_p99"),
                enforced=enforced,
            )
            for name in (STEERSMAN, STEERSMAN_UVLOOP)
            if is_enforced
        ],
    )


def _children(pace: Pace, costs: Mapping[str, Sequence[Cost]], count: int) -> Section:
    rounds = rounds_text(len(costs[CONTROLLER_RUNTIME]))
    return Section(
        name=f"children-{pace.rate:g}",
        title=f"{pace.rate:g} changes a second for {pace.seconds:g} s to the size of {count:,}"
        f" AppServices, until a watcher receives the changed Deployment ({rounds}); fewer changes"
        f" a second than requested mean that the machine is overloaded",
        columns=(
            *percentile_columns("sent", "from sending", "ms"),
            *percentile_columns("due", "from the due time", "ms"),
            Column(title="p50 of c-r", figure="due_p50_ratio", decimals=2),
            Column(title="p99 of c-r", figure="due_p99_ratio", decimals=2),
            Column(title="Deployments changed a second", figure="followed_rate", decimals=0),
            *COMMON,
        ),
        costs=costs,
    )


COMMON = (
    Column(title="changes a second", figure="rate", decimals=0),
    Column(title="CPU s", figure="cpu", decimals=2),
    Column(title="CPU of c-r", figure="cpu_ratio", decimals=2),
    Column(title="resident MB", figure="resident", decimals=1),
    Column(title="resident of c-r", figure="resident_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=1),
    Column(title="server CPU s", figure="server_cpu", decimals=1),
)


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """The delays by rate."""
    for kind, figure, title in (
        ("start", "answered", "Delay from the response to a change to the start of its reconcile"),
        ("children", "due", "Delay from the due time of a change to the changed Deployment"),
    ):
        rates = [
            float(name.removeprefix(f"{kind}-")) for name in sections if name.startswith(f"{kind}-")
        ]
        shown = {
            _panel(part, rate): (f"{kind}-{rate:g}", f"{figure}_{part}", 1e3)
            for rate in rates
            for part in ("p50", "p99")
        }
        limits = {_panel("p99", LIMIT_RATE): LIMIT_SECONDS * 1e3} if kind == "start" else {}
        if drawn := panels(sections, shown):
            limits = {panel: limit for panel, limit in limits.items() if panel in drawn}
            yield BarChart(name=kind, title=title, panels=drawn, limits=limits)


def _panel(part: str, rate: float) -> str:
    return f"{part} at {rate:g} a second, ms"
