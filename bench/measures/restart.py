"""An operator with many objects is restarted while new ones arrive: how long do those wait?"""

import asyncio
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as count_from

from bench.harness.charts import Bars, panels
from bench.harness.contenders import KOPF, OURS, OURS_UVLOOP, THEIRS
from bench.harness.converging import cluster
from bench.harness.effort import Effort
from bench.harness.operators import Command, commands
from bench.harness.report import Column, Limit, Section, by_round, in_parts, rounds_in_words
from bench.harness.restarting import (
    NEW_A_SECOND,
    ROOM,
    Noting,
    Restarted,
    restarting,
    settled,
)
from bench.harness.rounds import Cost, Turn, beside, in_rounds
from bench.harness.world import add_apps

TITLE = "Restart under load"

# Not kopf, which notes in each object that it has seen it: 20,000 writes, before it is through.
SLEEPING = (THEIRS, OURS, OURS_UVLOOP)
NAMES = (THEIRS, KOPF, OURS, OURS_UVLOOP)

# With ten workers, it then takes at least ten seconds to look at 20,000.
SLEEP_MS = 5

# What is new is not to wait for what was there.
LIMIT_SECONDS = 1.0
# All new ones, with those that came while no operator received them, should wait no longer than
# with controller-runtime: what comes of that is shown, and not judged.
ALL_MOST = 1.0

MAX_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects are queued, and how many have children."""

    queued: int
    settled: int


# Of 20,000, the Services alone would take the server minutes for each operator.
FULL = Scale(queued=20_000, settled=2_000)
QUICK = Scale(queued=1_000, settled=50)


def sections(effort: Effort) -> Iterator[Section]:
    """First how soon the reconcile begins, with a long queue; then how soon there are children."""
    scale = FULL if effort.is_full else QUICK
    rounds = min(effort.rounds, MAX_ROUNDS)
    with cluster(controllers=False) as plane:
        effort.progress(f"creating {scale.queued:,} AppServices")
        asyncio.run(add_apps(plane.kubeconfig, range(scale.queued)))
        firsts = count_from(scale.queued, ROOM)
        flags = ["--sleep-ms", str(SLEEP_MS)]
        for how, number in (("stopped", signal.SIGTERM), ("killed", signal.SIGKILL)):
            turns = {
                name: restarting(
                    _noting([*command, *flags]),
                    plane,
                    number,
                    count=scale.queued,
                    firsts=firsts,
                )
                for name, command in commands(SLEEPING).items()
            }
            costs = in_rounds(turns, rounds=rounds, progress=effort.progress, warming_up={})
            yield _queued(how, costs, scale.queued, judged=effort.is_judged)
    effort.progress(f"bringing about {scale.settled:,} AppServices with each operator")
    notings = {name: _noting(command) for name, command in commands(NAMES).items()}
    notes: list[str] = []
    with settled(notings, count=scale.settled, optional=[KOPF], report=notes.append) as operators:
        turns = {name: _turn(each) for name, each in operators.items()}
        costs = in_rounds(
            turns,
            rounds=rounds,
            progress=effort.progress,
            warming_up={},
            optional=[KOPF],
            report=notes.append,
        )
    yield replace(_settled(costs, scale.settled), notes=notes)


def _turn(operator: Restarted) -> Turn:
    def turn() -> Cost:
        cost, writes = operator.restart(signal.SIGTERM)
        operator.confirm(writes)
        # What came in this round is not there in the next.
        operator.remove(writes)
        return cost

    return turn


def _noting(command: Command) -> Noting:
    return lambda starts: [*command, "--starts", str(starts)]


def _queued(how: str, costs: Mapping[str, Sequence[Cost]], count: int, *, judged: bool) -> Section:
    rounds = rounds_in_words(len(costs[THEIRS]))
    done = "killed" if how == "killed" else "stopped"
    compared = beside(costs, THEIRS, ("start_p99", "through", "cpu", "resident"))
    return Section(
        name=how,
        title=f"An operator that has {count:,} AppServices to look at, {SLEEP_MS} ms each, is"
        f" {done} and restarted; from when a new one is due, of {NEW_A_SECOND:g} a"
        f" second from then on, until its reconcile begins ({rounds})",
        columns=(
            *in_parts("start", "", "s"),
            Column(title="p99 of c-r", figure="start_p99_ratio", decimals=2),
            *in_parts("busy", "while others queue", "s"),
            *COMMON,
        ),
        costs=compared,
        limits=[
            limit
            for name in (OURS, OURS_UVLOOP)
            for limit in promises(name, compared[name], done, judged=judged)
        ],
    )


def promises(name: str, costs: Sequence[Cost], done: str, *, judged: bool) -> Iterator[Limit]:
    """That new ones do not wait for those that were there, once they are received.

    Objects that come while no operator runs wait with the others, without a limit.
    """
    yield Limit(
        what=f"{name}, {done}: 99 % of new ones that come while others queue",
        most=LIMIT_SECONDS,
        unit=" s",
        rounds=by_round(costs, "busy_p99"),
        is_of_worst=True,
        judged=judged,
    )
    yield Limit(
        what=f"{name}, {done}: 99 % of all new ones, of the time with {THEIRS}",
        most=ALL_MOST,
        unit="",
        rounds=by_round(costs, "start_p99_ratio"),
        judged=False,
    )


def _settled(costs: Mapping[str, Sequence[Cost]], count: int) -> Section:
    rounds = rounds_in_words(len(costs[THEIRS]))
    return Section(
        name="settled",
        title=f"An operator whose {count:,} AppServices are as they should be is stopped and"
        f" restarted; from when a new one is due, of {NEW_A_SECOND:g} a second from then"
        f" on, until its reconcile begins and until it has its children ({rounds})",
        columns=(
            *in_parts("start", "reconcile", "s"),
            *in_parts("children", "children", "s"),
            Column(title="p99 of c-r", figure="children_p99_ratio", decimals=2),
            *COMMON,
        ),
        costs=beside(costs, THEIRS, ("children_p99", "through", "cpu", "resident")),
    )


COMMON = (
    Column(title="first reconcile after s", figure="first", decimals=1),
    Column(title="all looked at after s", figure="through", decimals=1),
    Column(title="of c-r", figure="through_ratio", decimals=2),
    Column(title="CPU s until then", figure="cpu", decimals=1),
    Column(title="CPU of c-r", figure="cpu_ratio", decimals=2),
    Column(title="resident MB", figure="resident", decimals=0),
    Column(title="resident of c-r", figure="resident_ratio", decimals=2),
    Column(title="peak MB", figure="peak", decimals=0),
    Column(title="server CPU s", figure="server_cpu", decimals=1),
)


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """How long new ones wait, and when all the others have been looked at."""
    for name, title, shown in (
        (
            "stopped",
            "A restart with a long queue, while new objects arrive",
            {
                "New one to its reconcile, p50 s": "start_p50",
                "New one to its reconcile, p99 s": "start_p99",
                "The same while others queue, p99 s": "busy_p99",
                "All the others looked at again, s": "through",
            },
        ),
        (
            "settled",
            "A restart with everything as it should be, while new objects arrive",
            {
                "New one to its children, p50 s": "children_p50",
                "New one to its children, p99 s": "children_p99",
                "All the others looked at again, s": "through",
                "CPU until then, s": "cpu",
            },
        ),
    ):
        drawn = panels(sections, {panel: (name, figure, 1.0) for panel, figure in shown.items()})
        limits = {panel: LIMIT_SECONDS for panel in drawn if shown[panel] == "busy_p99"}
        if drawn:
            yield Bars(name=name, title=title, panels=drawn, limits=limits)
