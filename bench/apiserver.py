"""``python -m bench.apiserver``: the embedded API server beside a real control plane.

Both run at the same time and are asked in turns, by the same load from a process of its own.
Prints tables and verdicts; the exit status is 1 if one of our limits is missed.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench import servers
from bench.load import CONNECTIONS
from bench.report import Column, Floor, Limit, Section, show_progress
from bench.rounds import Cost, Progress, Turn, in_rounds
from bench.servers import Running
from bench.task import PAGE_SIZE
from bench.world import fill
from steersman.errors import ControlPlaneError

ROOT = Path(__file__).parents[1]

REAL = "etcd and kube-apiserver"
OURS = "steersman cluster up"
IN_PROCESS = "steersman, in the process"

SERVERS: Mapping[str, Callable[[], AbstractContextManager[Running]]] = {
    REAL: servers.real,
    OURS: servers.embedded,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much work, and how often."""

    apps: int
    config_maps: int
    deployments: int
    gets: int
    start_rounds: int
    rounds: int


FULL = Scale(
    apps=20_000, config_maps=3_000, deployments=2_000, gets=6_000, start_rounds=5, rounds=5
)
QUICK = Scale(apps=1_000, config_maps=500, deployments=300, gets=1_000, start_rounds=1, rounds=2)

RATE = Column(title="a second", figure="rate", decimals=0)
SERVER_CPU = Column(title="server CPU µs each", figure="server_cpu", decimals=0, factor=1e6)


class Comparison:
    """Servers that run at the same time, and what is asked of each."""

    def __init__(self, running: Mapping[str, Running], *, scale: Scale, progress: Progress) -> None:
        self._running = running
        self._scale = scale
        self._progress = progress

    def sections(self) -> Iterator[Section]:
        """Every kind of work, one after another."""
        empty = self._memory()
        for name, server in self._running.items():
            self._progress(f"{name}: creating {self._scale.apps:,} AppServices")
            asyncio.run(fill(server.kubeconfig, apps=self._scale.apps))
        yield self._requests(
            "create-configmaps", self._scale.config_maps, "Create ConfigMaps of 1 kB", 1000
        )
        yield self._requests(
            "create-deployments", self._scale.deployments, "Create Deployments", 500
        )
        yield self._gets()
        yield self._listing("list-whole", "in one answer")
        yield self._listing("list-in-pages", f"{PAGE_SIZE} to a page")
        yield self._resident(empty)

    def _requests(self, task: str, count: int, title: str, *floors: float) -> Section:
        costs = self._in_rounds(task, count)
        return Section(
            title=f"{title}, {count:,} times over {CONNECTIONS} connections"
            f" ({self._scale.rounds} rounds)",
            columns=(RATE, SERVER_CPU),
            costs=costs,
            limits=[
                Floor(
                    what=title[0].lower() + title[1:],
                    least=least,
                    unit=" a second",
                    found=_median(ours, "rate"),
                    judged=self._is_judged,
                )
                for ours in _of(OURS, costs)
                for least in floors
            ],
        )

    def _gets(self) -> Section:
        """Over sockets, and beside them what a test has that needs none."""
        section = self._requests("get", self._scale.gets, "Get one ConfigMap")
        if OURS not in self._running:
            return section
        turns = {IN_PROCESS: _in_process(self._scale.gets)}
        inside = in_rounds(turns, rounds=self._scale.rounds, progress=self._progress)
        floor = Floor(
            what="get one ConfigMap in the process",
            least=10_000,
            unit=" a second",
            found=_median(inside[IN_PROCESS], "rate"),
            judged=self._is_judged,
        )
        return replace(section, costs={**section.costs, **inside}, limits=[floor])

    def _listing(self, task: str, how: str) -> Section:
        costs = self._in_rounds(task, self._scale.apps)
        return Section(
            title=f"List {self._scale.apps:,} AppServices, {how} ({self._scale.rounds} rounds)",
            columns=(Column(title="wall s", figure="wall", decimals=3),),
            costs=costs,
            limits=[
                Limit(
                    what=f"list {how}, of the wall time of {REAL}",
                    most=0.6,
                    unit="",
                    found=_ratio(ours, real, "wall"),
                    judged=self._is_judged,
                )
                for ours in _of(OURS, costs)
                for real in _of(REAL, costs)
            ],
        )

    def _resident(self, empty: Mapping[str, float]) -> Section:
        full = self._memory()
        return Section(
            title=f"Resident memory, at first and with {self._scale.apps:,} AppServices",
            columns=(
                Column(title="empty MB", figure="empty", decimals=0),
                Column(title="full MB", figure="full", decimals=0),
            ),
            costs={name: [{"empty": empty[name], "full": full[name]}] for name in self._running},
        )

    def _in_rounds(self, task: str, count: int) -> Mapping[str, Sequence[Cost]]:
        turns = {name: _load(task, server, count) for name, server in self._running.items()}
        return in_rounds(turns, rounds=self._scale.rounds, progress=self._progress)

    def _memory(self) -> Mapping[str, float]:
        return {name: server.resident() for name, server in self._running.items()}

    @property
    def _is_judged(self) -> bool:
        return self._scale == FULL


def _in_process(count: int) -> Turn:
    def turn() -> Cost:
        command = [sys.executable, "-m", "bench.in_process", str(count)]
        found = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        # One process is client and server, and does nothing else.
        cost: dict[str, float] = json.loads(found)
        return {**cost, "server_cpu": 1 / cost["rate"]}

    return turn


def _load(task: str, server: Running, count: int) -> Turn:
    def run(task: str) -> bytes:
        command = [sys.executable, "-m", "bench.load", task, str(server.kubeconfig), str(count)]
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout

    def turn() -> Cost:
        cpu_before = server.cpu_seconds()
        cost = json.loads(run(task))
        cpu_seconds = server.cpu_seconds() - cpu_before
        run("clear")
        return {**cost, "server_cpu": cpu_seconds / count}

    return turn


def starting(names: Sequence[str], scale: Scale, progress: Progress) -> Section:
    """From nothing to the first answer."""

    def start(name: str) -> Turn:
        def turn() -> Cost:
            with SERVERS[name]() as server:
                return {"wall": server.start_seconds}

        return turn

    costs = in_rounds(
        {name: start(name) for name in names}, rounds=scale.start_rounds, progress=progress
    )
    return Section(
        title=f"Start to first answer ({scale.start_rounds} rounds)",
        columns=(Column(title="wall s", figure="wall", decimals=2),),
        costs=costs,
        limits=[
            Limit(what="start to first answer", most=0.7, unit=" s", found=_median(ours, "wall"))
            for ours in _of(OURS, costs)
        ],
    )


def _of(name: str, costs: Mapping[str, Sequence[Cost]]) -> Sequence[Sequence[Cost]]:
    """The costs of ``name``, if it was there: one or none."""
    return [costs[name]] if name in costs else []


def _ratio(costs: Sequence[Cost], base: Sequence[Cost], figure: str) -> float:
    return median(cost[figure] / ground[figure] for cost, ground in zip(costs, base, strict=True))


def _median(costs: Sequence[Cost], figure: str) -> float:
    return median(cost[figure] for cost in costs)


def _sections(names: Sequence[str], scale: Scale) -> Iterator[Section]:
    yield starting(names, scale, show_progress)
    with ExitStack() as stack:
        running = {name: stack.enter_context(SERVERS[name]()) for name in names}
        yield from Comparison(running, scale=scale, progress=show_progress).sections()


def main() -> int:
    """Measure and report; 0, or 1 if a limit is missed or a server cannot be had."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.apiserver",
        description="Measure the embedded API server beside a real control plane.",
    )
    parser.add_argument("--quick", action="store_true", help="less work and fewer rounds")
    parser.add_argument("--only", choices=("real", "embedded"), help="one of the two servers")
    options = parser.parse_args()
    names = {"real": [REAL], "embedded": [OURS], None: [REAL, OURS]}[options.only]
    held = True
    try:
        for section in _sections(names, QUICK if options.quick else FULL):
            print(*section.lines(), "", sep="\n", flush=True)
            held &= all(limit.is_held for limit in section.limits)
    except (ControlPlaneError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Load average, this run included: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores.")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
