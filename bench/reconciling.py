"""``python -m bench.reconciling``: our controllers beside those of controller-runtime and kopf.

The same operator three times over, against a real control plane: what it costs, how soon it begins
after a change, and how soon with something new while it has a long queue. Prints tables and
verdicts; the exit status is 1 if one of our limits is missed.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import count as count_from
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError

from bench.converging import cluster, converging
from bench.delays import changing, queueing
from bench.operators import KOPF, OURS, OURS_UVLOOP, PEER, THEIRS, Command, commands
from bench.report import Column, Floor, Limit, Section, show_progress
from bench.rounds import Cost, in_rounds
from bench.world import add_apps
from steersman.errors import ControlPlaneError

NAMES = (THEIRS, KOPF, OURS, OURS_UVLOOP)

# Those whose reconciles say when they begin.
TIMED = (THEIRS, OURS, OURS_UVLOOP)

# What ours may take of what each of these takes.
CPU_LIMITS = {THEIRS: 1.5, KOPF: 0.4}
CHANGES_A_SECOND = 200.0
CHANGE_LIMIT_SECONDS = 0.020
NEW_LIMIT_SECONDS = 1.0
CHANGE_SLEEP_MS = 1
# With ten workers, a queue of 20,000 lasts at least twenty seconds.
QUEUE_SLEEP_MS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects, and how often it is measured."""

    count: int
    rounds: int
    change_seconds: float
    change_rounds: int
    queued: int


FULL = Scale(count=1_000, rounds=5, change_seconds=10.0, change_rounds=3, queued=20_000)
QUICK = Scale(count=50, rounds=1, change_seconds=2.0, change_rounds=1, queued=10_000)


def cost(operators: Mapping[str, Command], scale: Scale) -> Section:
    """AppServices brought to Deployment, Service and status."""
    costs = in_rounds(
        {name: converging(each, count=scale.count) for name, each in operators.items()},
        rounds=scale.rounds,
        progress=show_progress,
        warming_up={name: converging(each, count=10) for name, each in operators.items()},
    )
    bases = [name for name in CPU_LIMITS if name in costs]
    beside = {
        name: [_with_ratios(costs, name, number, bases) for number in range(scale.rounds)]
        for name in costs
    }
    return Section(
        title=f"{scale.count:,} AppServices to Deployment, Service and status, in a new process"
        f" on a new control plane ({scale.rounds} rounds)",
        columns=(
            Column(title="CPU s", figure="cpu", decimals=2),
            *(Column(title=f"of {base}", figure=f"of {base}", decimals=2) for base in bases),
            Column(title="start CPU s", figure="start_cpu", decimals=2),
            Column(title="wall s", figure="wall", decimals=1),
            Column(title="resident MB", figure="resident", decimals=1),
            Column(title="writes each", figure="writes", decimals=1),
        ),
        costs=beside,
        limits=[
            Limit(
                what=f"{name}, CPU of that of {base}",
                most=CPU_LIMITS[base],
                unit="",
                found=median(each[f"of {base}"] for each in beside[name]),
                judged=scale == FULL,
            )
            for name in (OURS, OURS_UVLOOP)
            for base in bases
            if name in beside
        ],
    )


def _with_ratios(
    costs: Mapping[str, Sequence[Cost]], name: str, number: int, bases: Sequence[str]
) -> Cost:
    """A turn's cost, with its CPU beside that of each of ``bases`` in the same round."""
    mine = costs[name][number]
    return {**mine, **{f"of {base}": mine["cpu"] / costs[base][number]["cpu"] for base in bases}}


def changes(operators: Mapping[str, Command], scale: Scale) -> Section:
    """From a change to the beginning of the reconcile that it leads to."""
    costs = in_rounds(
        {
            name: changing(
                each,
                count=scale.count,
                rate=CHANGES_A_SECOND,
                seconds=scale.change_seconds,
                sleep_ms=CHANGE_SLEEP_MS,
            )
            for name, each in operators.items()
        },
        rounds=scale.change_rounds,
        progress=show_progress,
        warming_up={},
    )
    return Section(
        title=f"{CHANGES_A_SECOND:g} changes a second for {scale.change_seconds:g} s to"
        f" {scale.count:,} AppServices, until a reconcile of {CHANGE_SLEEP_MS} ms begins"
        f" ({scale.change_rounds} rounds)",
        columns=(
            Column(title="changes a second", figure="rate", decimals=0),
            *(
                Column(title=f"{words} {part} ms", figure=f"{name}_{part}", decimals=1, factor=1e3)
                for name, words in {"answered": "after the answer", "sent": "after sending"}.items()
                for part in ("p50", "p99", "max")
            ),
            Column(title="answer p99 ms", figure="answer_p99", decimals=1, factor=1e3),
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="server CPU s", figure="server_cpu", decimals=1),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{name}, 99 % of changes, from the answer",
                most=CHANGE_LIMIT_SECONDS,
                unit=" s",
                found=median(each["answered_p99"] for each in costs[name]),
                judged=scale == FULL,
            )
            for name in (OURS, OURS_UVLOOP)
            if name in costs
        ],
    )


def queue(operators: Mapping[str, Command], scale: Scale) -> Section:
    """From the creation of something new to its reconcile, while many others are queued."""
    with cluster(controllers=False) as plane:
        show_progress(f"creating {scale.queued:,} AppServices")
        asyncio.run(add_apps(plane.kubeconfig, range(scale.queued)))
        numbers = count_from(scale.queued)
        costs = in_rounds(
            {
                name: queueing(
                    each,
                    plane.kubeconfig,
                    count=scale.queued,
                    sleep_ms=QUEUE_SLEEP_MS,
                    numbers=numbers,
                )
                for name, each in operators.items()
            },
            rounds=1,
            progress=show_progress,
            warming_up={},
        )
    return Section(
        title=f"Five new AppServices while {scale.queued:,} wait for a reconcile of"
        f" {QUEUE_SLEEP_MS} ms, until theirs begins",
        columns=(
            Column(title="median ms", figure="median", decimals=0, factor=1e3),
            Column(title="max ms", figure="max", decimals=0, factor=1e3),
            Column(title="still queued", figure="queued", decimals=0),
        ),
        costs=costs,
        limits=[
            limit
            for name in (OURS, OURS_UVLOOP)
            if name in costs
            for limit in (
                Limit(
                    what=f"{name}, from the creation of a new one to its reconcile",
                    most=NEW_LIMIT_SECONDS,
                    unit=" s",
                    found=costs[name][0]["max"],
                ),
                # Otherwise the figure above would say nothing.
                Floor(
                    what=f"{name}, still queued after the last new one",
                    least=1,
                    unit="",
                    found=costs[name][0]["queued"],
                ),
            )
        ],
    )


MEASURES = {"cost": cost, "changes": changes, "queue": queue}


def _sections(names: Sequence[str], measures: Sequence[str], scale: Scale) -> Iterator[Section]:
    operators = commands(names)
    timed = {name: operators[name] for name in TIMED if name in operators}
    for name in measures:
        yield MEASURES[name](operators if name == "cost" else timed, scale)


def main() -> int:
    """Measure and report; 0, or 1 if a limit is missed or a program cannot be had."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.reconciling",
        description="Measure our controllers beside those of controller-runtime and kopf.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer objects and fewer rounds")
    parser.add_argument("--rounds", type=int, help="how often the cost is measured")
    parser.add_argument("--count", type=int, help="how many AppServices there are")
    parser.add_argument("--only", choices=NAMES, nargs="+", default=NAMES, help="which operators")
    parser.add_argument("--measures", choices=MEASURES, nargs="+", default=tuple(MEASURES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    scale = replace(
        scale, rounds=options.rounds or scale.rounds, count=options.count or scale.count
    )
    held = True
    sections: list[Section] = []
    module = "sigs.k8s.io/controller-runtime"
    print(
        f"Python {platform.python_version()}, {THEIRS} {PEER.version_of(module)},"
        f" kopf {version('kopf')}, uvloop {version('uvloop')}",
        "",
        sep="\n",
        flush=True,
    )
    try:
        for section in _sections(options.only, options.measures, scale):
            print(*section.lines(), "", sep="\n", flush=True)
            sections.append(section)
            held &= all(limit.is_held for limit in section.limits)
    except (ControlPlaneError, CalledProcessError, AssertionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Load average, this run included: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores.")
    if options.json is not None:
        figures = [asdict(section) for section in sections]
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
