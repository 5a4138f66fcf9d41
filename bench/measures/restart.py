"""The delay of new objects after a restart of an operator with many objects."""

import asyncio
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as count_from

from bench.harness.charts import BarChart, panels
from bench.harness.contenders import CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP
from bench.harness.convergence import cluster
from bench.harness.fixtures import create_apps
from bench.harness.operators import Command, commands
from bench.harness.report import Column, Limit, Section, by_round, percentile_columns, rounds_text
from bench.harness.restarts import (
    NAMES_PER_RESTART,
    NEW_A_SECOND,
    CommandFor,
    RestartableOperator,
    restart_turn,
    settled_operators,
)
from bench.harness.rounds import Cost, Turn, all_with_ratios, in_rounds
from bench.harness.run_options import RunOptions

TITLE = "Restart under load"

# Without kopf, which would first write to each of the 20,000 objects.
SLEEPING = (CONTROLLER_RUNTIME, STEERSMAN, STEERSMAN_UVLOOP)
NAMES = (CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP)

# With ten workers, 20,000 reconciles then take at least ten seconds.
SLEEP_MS = 5

# New objects should not wait for existing ones.
LIMIT_SECONDS = 1.0
# The ratio for all new objects, including those that arrive while no operator runs, is shown, but
# not enforced.
ALL_MOST = 1.0

MAX_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The number of queued objects, and of objects with children."""

    queued: int
    settled: int


# With 20,000, the Services alone would take the server minutes for each operator.
FULL = Scale(queued=20_000, settled=2_000)
QUICK = Scale(queued=1_000, settled=50)


def sections(options: RunOptions) -> Iterator[Section]:
    """The delay until the reconcile with a long queue, and the delay until the children exist."""
    scale = FULL if options.is_full else QUICK
    rounds = min(options.rounds, MAX_ROUNDS)
    with cluster(controllers=False) as plane:
        options.progress(f"creating {scale.queued:,} AppServices")
        asyncio.run(create_apps(plane.kubeconfig, range(scale.queued)))
        firsts = count_from(scale.queued, NAMES_PER_RESTART)
        flags = ["--sleep-ms", str(SLEEP_MS)]
        for how, number in (("stopped", signal.SIGTERM), ("killed", signal.SIGKILL)):
            turns = {
                name: restart_turn(
                    _command_for([*command, *flags]),
                    plane,
                    number,
                    count=scale.queued,
                    firsts=firsts,
                )
                for name, command in commands(SLEEPING).items()
            }
            costs = in_rounds(turns, rounds=rounds, progress=options.progress, warming_up={})
            yield _queued(how, costs, scale.queued, enforced=options.is_enforced)
    options.progress(f"creating {scale.settled:,} AppServices with each operator")
    commands_for = {name: _command_for(command) for name, command in commands(NAMES).items()}
    notes: list[str] = []
    with settled_operators(
        commands_for, count=scale.settled, optional=[KOPF], report=notes.append
    ) as operators:
        turns = {name: _turn(each) for name, each in operators.items()}
        costs = in_rounds(
            turns,
            rounds=rounds,
            progress=options.progress,
            warming_up={},
            optional=[KOPF],
            report=notes.append,
        )
    yield replace(_settled(costs, scale.settled), notes=notes)


def _turn(operator: RestartableOperator) -> Turn:
    def turn() -> Cost:
        cost, writes = operator.restart(signal.SIGTERM)
        operator.check_state(writes)
        # The next round starts without the new objects of this one.
        operator.remove(writes)
        return cost

    return turn


def _command_for(command: Command) -> CommandFor:
    return lambda starts: [*command, "--starts", str(starts)]


def _queued(
    how: str, costs: Mapping[str, Sequence[Cost]], count: int, *, enforced: bool
) -> Section:
    rounds = rounds_text(len(costs[CONTROLLER_RUNTIME]))
    done = "killed" if how == "killed" else "stopped"
    compared = all_with_ratios(
        costs, CONTROLLER_RUNTIME, ("start_p99", "through", "cpu", "resident")
    )
    return Section(
        name=how,
        title=f"An operator with {count:,} AppServices to reconcile, {SLEEP_MS} ms each, is {done}"
        f" and restarted: delay of new AppServices, {NEW_A_SECOND:g} a second, until their"
        f" reconcile starts ({rounds})",
        columns=(
            *percentile_columns("start", "", "s"),
            Column(title="p99 of c-r", figure="start_p99_ratio", decimals=2),
            *percentile_columns("busy", "while others are queued", "s"),
            *COMMON,
        ),
        costs=compared,
        limits=[
            limit
            for name in (STEERSMAN, STEERSMAN_UVLOOP)
            for limit in limits_of(name, compared[name], done, enforced=enforced)
        ],
    )


def limits_of(name: str, costs: Sequence[Cost], done: str, *, enforced: bool) -> Iterator[Limit]:
    """The limits for the delay of new objects.

    Objects that arrive while no operator runs have no limit.
    """
    yield Limit(
        what=f"{name}, {done}: delay of new objects while others are queued, p99",
        most=LIMIT_SECONDS,
        unit=" s",
        rounds=by_round(costs, "busy_p99"),
        is_of_worst=True,
        enforced=enforced,
    )
    yield Limit(
        what=f"{name}, {done}: delay of all new objects, p99, ratio to {CONTROLLER_RUNTIME}",
        most=ALL_MOST,
        unit="",
        rounds=by_round(costs, "start_p99_ratio"),
        enforced=False,
    )


def _settled(costs: Mapping[str, Sequence[Cost]], count: int) -> Section:
    rounds = rounds_text(len(costs[CONTROLLER_RUNTIME]))
    return Section(
        name="settled",
        title=f"An operator with {count:,} AppServices that are up to date is stopped and"
        f" restarted: delay of new AppServices, {NEW_A_SECOND:g} a second, until their"
        f" reconcile starts and until they have children ({rounds})",
        columns=(
            *percentile_columns("start", "reconcile", "s"),
            *percentile_columns("children", "children", "s"),
            Column(title="p99 of c-r", figure="children_p99_ratio", decimals=2),
            *COMMON,
        ),
        costs=all_with_ratios(
            costs, CONTROLLER_RUNTIME, ("children_p99", "through", "cpu", "resident")
        ),
    )


COMMON = (
    Column(title="first reconcile after s", figure="first", decimals=1),
    Column(title="all reconciled after s", figure="through", decimals=1),
    Column(title="of c-r", figure="through_ratio", decimals=2),
    Column(title="CPU s until then", figure="cpu", decimals=1),
    Column(title="CPU of c-r", figure="cpu_ratio", decimals=2),
    Column(title="resident MB", figure="resident", decimals=0),
    Column(title="resident of c-r", figure="resident_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=0),
    Column(title="server CPU s", figure="server_cpu", decimals=1),
)


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """The delay of new objects, and the time until all others are reconciled."""
    for name, title, shown in (
        (
            "stopped",
            "A restart with a long queue, while new objects arrive",
            {
                "New object to its reconcile, p50 s": "start_p50",
                "New object to its reconcile, p99 s": "start_p99",
                "The same while others are queued, p99 s": "busy_p99",
                "All other objects reconciled again, s": "through",
            },
        ),
        (
            "settled",
            "A restart with up-to-date objects, while new objects arrive",
            {
                "New object to its children, p50 s": "children_p50",
                "New object to its children, p99 s": "children_p99",
                "All other objects reconciled again, s": "through",
                "CPU until then, s": "cpu",
            },
        ),
    ):
        drawn = panels(sections, {panel: (name, figure, 1.0) for panel, figure in shown.items()})
        limits = {panel: LIMIT_SECONDS for panel in drawn if shown[panel] == "busy_p99"}
        if drawn:
            yield BarChart(name=name, title=title, panels=drawn, limits=limits)
