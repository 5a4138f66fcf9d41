"""Two replicas with leader election: how long no replica acts when the leader is gone or stops."""

from collections.abc import Iterator, Mapping, Sequence

from bench.harness.charts import Bars, panels
from bench.harness.contenders import KOPF, OURS, THEIRS
from bench.harness.effort import Effort
from bench.harness.operators import Command, commands
from bench.harness.replicas import (
    AFTER_SECONDS,
    CHANGES_A_SECOND,
    PEERING,
    Replicated,
    failing_over,
)
from bench.harness.report import Column, Limit, Section, by_round, rounds_in_words
from bench.harness.rounds import Cost, beside, in_rounds

TITLE = "Failover"

NAMES = (THEIRS, KOPF, OURS)

# A turn is minutes of waiting, and no more than that.
MAX_ROUNDS = 3

# What is also shown as a ratio to controller-runtime in the same round.
COMPARED = tuple(
    f"{what}{figure}" for what in ("killed", "paused") for figure in ("", "_cpu", "_resident")
)

# One that stands by and writes before its time is found by this, too.
BETWEEN = "writes by one replica between those of the other"

# The higher one acts; kopf's replicas would both freeze if they were equal.
PRIORITIES = (100, 50)

SETTINGS = (
    "leases as they come, of 15 s, renewed within 10 s, tried for every 2 s;"
    " kopf: peering as it comes, keep-alive of 60 s"
)


def sections(effort: Effort) -> Iterator[Section]:
    """The leader killed, and the leader stopped until long after another acts."""
    notes: list[str] = []
    costs = in_rounds(
        {name: failing_over(each) for name, each in _replicated().items()},
        rounds=min(effort.rounds, MAX_ROUNDS),
        progress=effort.progress,
        warming_up={},
        optional=[KOPF],
        report=notes.append,
    )
    costs = beside(costs, THEIRS, COMPARED)
    rounds = rounds_in_words(len(costs[THEIRS]))
    arriving = f"with {CHANGES_A_SECOND:g} changes a second ({rounds}; {SETTINGS})"
    yield Section(
        name="killed",
        title=f"The leader is killed, {arriving}",
        columns=(
            Column(title="until another writes s", figure="killed", decimals=1),
            Column(title="of c-r", figure="killed_ratio", decimals=2),
            Column(title="leader's writes between others'", figure="killed_between", decimals=0),
            *_taken("killed"),
        ),
        costs=costs,
        limits=[never(costs, "killed_between", f"killed: {BETWEEN}", judged=effort.is_judged)],
        notes=notes,
    )
    yield Section(
        name="paused",
        title=f"The leader is stopped, and wakes up {AFTER_SECONDS:g} s after another has begun to"
        f" act, {arriving}",
        columns=(
            Column(title="until another writes s", figure="paused", decimals=1),
            Column(title="of c-r", figure="paused_ratio", decimals=2),
            Column(title="writes by the former leader", figure="late", decimals=0),
            Column(title="of them done", figure="late_done", decimals=0),
            Column(title="between others' writes", figure="between", decimals=0),
            Column(title="the last after s awake", figure="late_seconds", decimals=1),
            *_taken("paused"),
        ),
        costs=costs,
        limits=[
            never(costs, figure, f"stopped: {what}", judged=effort.is_judged)
            for figure, what in (
                ("late", "writes by the former leader after another's first"),
                ("between", BETWEEN),
            )
        ],
        notes=notes,
    )


def never(costs: Mapping[str, Sequence[Cost]], figure: str, what: str, *, judged: bool) -> Limit:
    """Of this there shall be nothing, in any round."""
    return Limit(
        what=f"{OURS}, {what}",
        most=0,
        unit="",
        rounds=by_round(costs[OURS], figure),
        is_of_worst=True,
        judged=judged,
    )


def _taken(what: str) -> Sequence[Column]:
    """What the replica that takes over has used since its start, and what it holds at the end."""
    return (
        Column(title="successor's CPU s", figure=f"{what}_cpu", decimals=2),
        Column(title="of c-r", figure=f"{what}_cpu_ratio", decimals=2),
        Column(title="resident MB", figure=f"{what}_resident", decimals=1),
        Column(title="of c-r", figure=f"{what}_resident_ratio", decimals=2),
        Column(title="peak MB", figure=f"{what}_peak", decimals=1),
    )


def _replicated() -> Mapping[str, Replicated]:
    known = commands(NAMES)
    replicated = {
        name: Replicated(first=command, second=command)
        for name, command in ((name, [*known[name], "--leader-elect"]) for name in (THEIRS, OURS))
    }
    first, second = (
        [*_without_standalone(known[KOPF]), f"--peering={PEERING}", f"--priority={priority}"]
        for priority in PRIORITIES
    )
    replicated[KOPF] = Replicated(first=first, second=second, needs_peering=True)
    return {name: replicated[name] for name in NAMES}


def _without_standalone(command: Command) -> Command:
    return [each for each in command if each != "--standalone"]


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """How long no replica acts, and which acts beside the other."""
    shown = {
        "Leader killed: until another writes, s": ("killed", "killed", 1.0),
        "Leader stopped: until another writes, s": ("paused", "paused", 1.0),
        "Writes by the former leader while another writes": ("paused", "between", 1.0),
    }
    if drawn := panels(sections, shown):
        yield Bars(name="leaders", title="Two replicas, one leader", panels=drawn, limits={})
