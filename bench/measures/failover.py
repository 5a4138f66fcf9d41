"""Two replicas with leader election: the time without a leader, and overlapping writes."""

from collections.abc import Iterator, Mapping, Sequence

from bench.harness.charts import BarChart, panels
from bench.harness.contenders import CONTROLLER_RUNTIME, KOPF, STEERSMAN
from bench.harness.operators import Command, commands
from bench.harness.replicas import (
    AFTER_SECONDS,
    CHANGES_A_SECOND,
    PEERING,
    ReplicaCommands,
    failover_turn,
)
from bench.harness.report import Column, Limit, Section, by_round, rounds_text
from bench.harness.rounds import Cost, all_with_ratios, in_rounds
from bench.harness.run_options import RunOptions

TITLE = "Failover"

NAMES = (CONTROLLER_RUNTIME, KOPF, STEERSMAN)

# A turn takes minutes, mostly of waiting.
MAX_ROUNDS = 3

# The figures with a ratio to controller-runtime in the same round.
COMPARED = tuple(
    f"{what}{figure}" for what in ("killed", "paused") for figure in ("", "_cpu", "_resident")
)

# This also detects a standby replica that writes too early.
BETWEEN = "writes of one replica between two writes of the other"

# The replica with the higher priority acts. With equal priorities, both replicas of kopf would
# pause.
PRIORITIES = (100, 50)

SETTINGS = (
    "default leases: 15 s, renewed within 10 s, retried every 2 s;"
    " kopf: default peering, keep-alive of 60 s"
)


def sections(options: RunOptions) -> Iterator[Section]:
    """The leader is killed, and the leader is paused until the other replica acts."""
    notes: list[str] = []
    costs = in_rounds(
        {name: failover_turn(each) for name, each in _replica_commands().items()},
        rounds=min(options.rounds, MAX_ROUNDS),
        progress=options.progress,
        warming_up={},
        optional=[KOPF],
        report=notes.append,
    )
    costs = all_with_ratios(costs, CONTROLLER_RUNTIME, COMPARED)
    rounds = rounds_text(len(costs[CONTROLLER_RUNTIME]))
    arriving = f"with {CHANGES_A_SECOND:g} changes a second ({rounds}; {SETTINGS})"
    yield Section(
        name="killed",
        title=f"The leader is killed, {arriving}",
        columns=(
            Column(title="until the other writes s", figure="killed", decimals=1),
            Column(title="of c-r", figure="killed_ratio", decimals=2),
            Column(
                title="leader's writes between the other's", figure="killed_between", decimals=0
            ),
            *_successor_columns("killed"),
        ),
        costs=costs,
        limits=[never(costs, "killed_between", f"killed: {BETWEEN}", enforced=options.is_enforced)],
        notes=notes,
    )
    yield Section(
        name="paused",
        title=f"The leader is paused, and resumes {AFTER_SECONDS:g} s after the other replica has"
        f" begun to write, {arriving}",
        columns=(
            Column(title="until the other writes s", figure="paused", decimals=1),
            Column(title="of c-r", figure="paused_ratio", decimals=2),
            Column(title="writes of the former leader", figure="late", decimals=0),
            Column(title="of them accepted", figure="late_done", decimals=0),
            Column(title="between the other's writes", figure="between", decimals=0),
            Column(title="last write, s after the pause", figure="late_seconds", decimals=1),
            *_successor_columns("paused"),
        ),
        costs=costs,
        limits=[
            never(costs, figure, f"paused: {what}", enforced=options.is_enforced)
            for figure, what in (
                ("late", "writes of the former leader after the first of the new one"),
                ("between", BETWEEN),
            )
        ],
        notes=notes,
    )


def never(costs: Mapping[str, Sequence[Cost]], figure: str, what: str, *, enforced: bool) -> Limit:
    """A limit of zero, in every round."""
    return Limit(
        what=f"{STEERSMAN}, {what}",
        most=0,
        unit="",
        rounds=by_round(costs[STEERSMAN], figure),
        is_of_worst=True,
        enforced=enforced,
    )


def _successor_columns(what: str) -> Sequence[Column]:
    """The CPU and the memory of the replica that takes over."""
    return (
        Column(title="successor's CPU s", figure=f"{what}_cpu", decimals=2),
        Column(title="of c-r", figure=f"{what}_cpu_ratio", decimals=2),
        Column(title="resident MB", figure=f"{what}_resident", decimals=1),
        Column(title="of c-r", figure=f"{what}_resident_ratio", decimals=2),
        Column(title="peak MB", figure=f"{what}_peak", decimals=1),
    )


def _replica_commands() -> Mapping[str, ReplicaCommands]:
    known = commands(NAMES)
    replicated = {
        name: ReplicaCommands(first=command, second=command)
        for name, command in (
            (name, [*known[name], "--leader-elect"]) for name in (CONTROLLER_RUNTIME, STEERSMAN)
        )
    }
    first, second = (
        [*_without_standalone(known[KOPF]), f"--peering={PEERING}", f"--priority={priority}"]
        for priority in PRIORITIES
    )
    replicated[KOPF] = ReplicaCommands(first=first, second=second, needs_peering=True)
    return {name: replicated[name] for name in NAMES}


def _without_standalone(command: Command) -> Command:
    return [each for each in command if each != "--standalone"]


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """The time without a leader, and overlapping writes."""
    shown = {
        "Leader killed: until the other writes, s": ("killed", "killed", 1.0),
        "Leader paused: until the other writes, s": ("paused", "paused", 1.0),
        "Writes of the former leader between the other's": ("paused", "between", 1.0),
    }
    if drawn := panels(sections, shown):
        yield BarChart(name="leaders", title="Two replicas, one leader", panels=drawn, limits={})
