"""How soon an operator answers to a change: its reconcile begins, its children have followed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.harness.charts import Bars, panels
from bench.harness.contenders import KOPF, OURS, OURS_UVLOOP, THEIRS
from bench.harness.delays import Pace, following, starting
from bench.harness.effort import Effort
from bench.harness.operators import commands
from bench.harness.report import Column, Limit, Section, by_round, in_parts, rounds_in_words
from bench.harness.rounds import Cost, Turn, beside, in_rounds

TITLE = "Latency"

NAMES = (THEIRS, KOPF, OURS, OURS_UVLOOP)

# At which pace the promise is made, and what it is.
JUDGED_RATE = 100.0
LIMIT_SECONDS = 0.020
SLEEP_MS = 1

# Three are enough: in each there are hundreds of changes and more.
MAX_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects are changed in turn, and how fast."""

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


def sections(effort: Effort) -> Iterator[Section]:
    """First how soon the reconcile begins, then how soon there is something to see of it."""
    scale = FULL if effort.is_full else QUICK
    operators = commands(NAMES)
    notes: list[str] = []
    costs = _in_rounds(
        {
            name: starting(command, count=scale.count, paces=scale.paces, sleep_ms=SLEEP_MS)
            for name, command in operators.items()
        },
        effort,
        notes,
    )
    for pace in scale.paces:
        section = _starts(pace, _at(pace, costs), scale.count, judged=effort.is_judged)
        yield replace(section, notes=notes)
    notes = []
    costs = _in_rounds(
        {
            name: following(command, count=scale.count, paces=scale.paces)
            for name, command in operators.items()
        },
        effort,
        notes,
    )
    for pace in scale.paces:
        yield replace(_children(pace, _at(pace, costs), scale.count), notes=notes)


def _in_rounds(
    turns: Mapping[str, Turn], effort: Effort, notes: list[str]
) -> Mapping[str, Sequence[Cost]]:
    return in_rounds(
        turns,
        rounds=min(effort.rounds, MAX_ROUNDS),
        progress=effort.progress,
        warming_up={},
        optional=[KOPF],
        report=notes.append,
    )


def _at(pace: Pace, costs: Mapping[str, Sequence[Cost]]) -> Mapping[str, Sequence[Cost]]:
    own = {name: pace.of(each) for name, each in costs.items()}
    return beside(own, THEIRS, ("due_p50", "due_p99", "cpu", "resident"))


def _starts(
    pace: Pace, costs: Mapping[str, Sequence[Cost]], count: int, *, judged: bool
) -> Section:
    is_judged = pace.rate == JUDGED_RATE
    rounds = rounds_in_words(len(costs[THEIRS]))
    return Section(
        name=f"start-{pace.rate:g}",
        title=f"{pace.rate:g} changes a second for {pace.seconds:g} s to {count:,} AppServices,"
        f" until a reconcile that takes {SLEEP_MS} ms begins ({rounds})",
        columns=(
            *in_parts("answered", "from the answer", "ms"),
            *in_parts("sent", "from sending", "ms"),
            *in_parts("due", "from when it was due", "ms"),
            Column(title="p99 of c-r", figure="due_p99_ratio", decimals=2),
            Column(title="answer p99 ms", figure="answer_p99", decimals=1, factor=1e3),
            *COMMON,
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{name}, 99 % of changes, from the answer",
                most=LIMIT_SECONDS,
                unit=" s",
                rounds=by_round(costs[name], "answered_p99"),
                judged=judged,
            )
            for name in (OURS, OURS_UVLOOP)
            if is_judged
        ],
    )


def _children(pace: Pace, costs: Mapping[str, Sequence[Cost]], count: int) -> Section:
    rounds = rounds_in_words(len(costs[THEIRS]))
    return Section(
        name=f"children-{pace.rate:g}",
        title=f"{pace.rate:g} changes a second for {pace.seconds:g} s to the size of {count:,}"
        f" AppServices, until an onlooker sees the Deployment follow ({rounds}); where fewer were"
        f" made than asked for, the machine is the limit",
        columns=(
            *in_parts("sent", "from sending", "ms"),
            *in_parts("due", "from when it was due", "ms"),
            Column(title="p50 of c-r", figure="due_p50_ratio", decimals=2),
            Column(title="p99 of c-r", figure="due_p99_ratio", decimals=2),
            Column(title="followed a second", figure="followed_rate", decimals=0),
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


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """How it changes with the rate; of what is there."""
    for kind, figure, title in (
        ("start", "answered", "From the answer to a change until its reconcile begins"),
        ("children", "due", "From when a change was due until its Deployment has followed"),
    ):
        rates = [
            float(name.removeprefix(f"{kind}-")) for name in sections if name.startswith(f"{kind}-")
        ]
        shown = {
            _panel(part, rate): (f"{kind}-{rate:g}", f"{figure}_{part}", 1e3)
            for rate in rates
            for part in ("p50", "p99")
        }
        limits = {_panel("p99", JUDGED_RATE): LIMIT_SECONDS * 1e3} if kind == "start" else {}
        if drawn := panels(sections, shown):
            limits = {panel: limit for panel, limit in limits.items() if panel in drawn}
            yield Bars(name=kind, title=title, panels=drawn, limits=limits)


def _panel(part: str, rate: float) -> str:
    return f"{part} at {rate:g} a second, ms"
