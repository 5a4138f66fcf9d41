"""``python -m bench.informers``: our informer beside the one of controller-runtime.

Both fill from the same kube-apiserver, in turns, each in a process of its own. Prints tables and
verdicts; the exit status is 1 if one of our limits is missed.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError

from bench.go_programs import GoProgram
from bench.report import Column, Limit, Section, show_progress
from bench.rounds import Progress, Turn, compared, in_rounds, staying
from bench.world import add_apps, described, fill
from steersman.clock import SystemClock
from steersman.errors import ControlPlaneError
from steersman.testing import find_binaries, running_control_plane

THEIRS = "controller-runtime"
# Ours drops them unless told otherwise, theirs keeps them: so it is also asked to drop them.
THEIRS_STRIPPED = "controller-runtime, no managedFields"
OURS = "steersman"

PEER = GoProgram(
    name="informer",
    family="peers",
    sources=Path(__file__).with_name("peers") / "controller_runtime",
    package="./informer",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many objects at each step, at which of them it is judged, and how often it is measured.

    The objects of one step are still there at the next.
    """

    steps: Sequence[int]
    judged_at: int
    judged_rounds: int
    rounds: int


FULL = Scale(steps=(1_000, 20_000, 100_000), judged_at=20_000, judged_rounds=5, rounds=3)
QUICK = Scale(steps=(500, 2_000), judged_at=2_000, judged_rounds=2, rounds=1)

# What each may take of what controller-runtime takes.
LIMITS = {"wall": 0.5, "cpu": 0.3, "resident": 0.65}
WORDS = {"wall": "wall time", "cpu": "CPU", "resident": "resident memory"}

WALL = Column(title="wall s", figure="wall", decimals=2)
CPU = Column(title="CPU s", figure="cpu", decimals=2)
LIFE = Column(title="life CPU s", figure="life_cpu", decimals=2)
RESIDENT = Column(title="resident MB", figure="resident", decimals=1)
PEAK = Column(title="peak MB", figure="peak", decimals=1)


class Comparison:
    """Two informers of one server, that fills step by step."""

    def __init__(self, kubeconfig: Path, *, scale: Scale, progress: Progress) -> None:
        self._kubeconfig = kubeconfig
        self._scale = scale
        self._progress = progress
        peer = str(PEER.build())
        self._programs = {
            THEIRS: [peer],
            THEIRS_STRIPPED: [peer, "-strip-managed-fields"],
            OURS: [sys.executable, "-m", "bench.informing", str(kubeconfig)],
        }

    def sections(self) -> Iterator[Section]:
        """Each step, and how memory grew from one to the next."""
        there = self._scale.steps[0]
        resident: dict[int, Mapping[str, float]] = {}
        for objects in self._scale.steps:
            self._progress(f"creating AppServices, up to {objects:,}")
            asyncio.run(add_apps(self._kubeconfig, range(there, objects)))
            there = objects
            section = self._synced(objects)
            resident[objects] = {
                name: median(cost["resident"] for cost in costs)
                for name, costs in section.costs.items()
            }
            yield section
        yield _growth(resident)

    def _synced(self, objects: int) -> Section:
        is_judged = objects == self._scale.judged_at
        rounds = self._scale.judged_rounds if is_judged else self._scale.rounds
        turns = {name: self._turn(command, objects) for name, command in self._programs.items()}
        costs = in_rounds(turns, rounds=rounds, progress=self._progress)
        beside = {name: compared(costs[name], costs[THEIRS], LIMITS) for name in turns}
        return Section(
            title=f"Sync {objects:,} AppServices, in a new process ({rounds} rounds)",
            columns=(*_beside(WALL), *_beside(CPU), LIFE, *_beside(RESIDENT), PEAK),
            costs=beside,
            limits=[
                Limit(
                    what=f"sync, {WORDS[figure]} of that of {THEIRS}",
                    most=most,
                    unit="",
                    found=median(cost[f"{figure}_ratio"] for cost in beside[OURS]),
                    judged=self._scale == FULL,
                )
                for figure, most in LIMITS.items()
                if is_judged
            ],
        )

    def _turn(self, command: Sequence[str], objects: int) -> Turn:
        return staying(command, self._kubeconfig, {"objects": objects})


def _beside(column: Column) -> tuple[Column, Column]:
    """The figure itself, and what it is of the first one's in the same round."""
    ratio = Column(title="of the first", figure=f"{column.figure}_ratio", decimals=2)
    return column, ratio


def _growth(resident: Mapping[int, Mapping[str, float]]) -> Section:
    """What each object takes, by how much more memory there is at a step than at the one before."""
    columns = {f"{before:,} to {after:,}": (before, after) for before, after in pairwise(resident)}
    costs = {
        name: [
            {
                title: (resident[after][name] - resident[before][name]) / (after - before)
                for title, (before, after) in columns.items()
            }
        ]
        for name in (THEIRS, THEIRS_STRIPPED, OURS)
    }
    return Section(
        title="Resident memory for each object more, in bytes, by the medians above",
        columns=[Column(title=title, figure=title, decimals=0, factor=1e6) for title in columns],
        costs=costs,
    )


def _sections(scale: Scale) -> Iterator[Section]:
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        asyncio.run(fill(plane.kubeconfig, apps=scale.steps[0]))
        print(described(plane), "", sep="\n")
        yield from Comparison(plane.kubeconfig, scale=scale, progress=show_progress).sections()


def main() -> int:
    """Measure and report; 0, or 1 if a limit is missed or a program cannot be had."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.informers",
        description="Measure our informer beside the one of controller-runtime.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer objects and fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    options = parser.parse_args()
    held = True
    sections: list[Section] = []
    module = "sigs.k8s.io/controller-runtime"
    print(f"Python {platform.python_version()}, {THEIRS} {PEER.version_of(module)}")
    try:
        for section in _sections(QUICK if options.quick else FULL):
            print(*section.lines(), "", sep="\n", flush=True)
            sections.append(section)
            held &= all(limit.is_held for limit in section.limits)
    except (ControlPlaneError, CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Load average, this run included: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores.")
    if options.json is not None:
        figures = [asdict(section) for section in sections]
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
