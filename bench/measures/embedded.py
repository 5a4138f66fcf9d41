"""The embedded API server compared with etcd and kube-apiserver.

Both run at the same time, and receive the same load in turns, from a separate process.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeAlias

from bench.harness import servers
from bench.harness.charts import BarChart, panels
from bench.harness.child_processes import EXIT_SECONDS, child, cpu_at_exit, deadline, output_of
from bench.harness.contenders import EMBEDDED as OURS
from bench.harness.contenders import EMBEDDED_WHOLE as OURS_WHOLE
from bench.harness.contenders import IN_PROCESS, REAL
from bench.harness.fixtures import fill
from bench.harness.informers import COLLECT_PATH, IDLE_SHARE
from bench.harness.load import CONNECTIONS, Destination, connection
from bench.harness.report import (
    Column,
    Floor,
    Limit,
    Section,
    by_round,
    percentile_columns,
    rounds_text,
)
from bench.harness.rounds import RATIO, Cost, Turn, all_with_ratios, in_rounds
from bench.harness.run_options import RunOptions
from bench.harness.servers import Running
from bench.harness.task import PAGE_SIZE

TITLE = "The embedded cluster"

# Longer than any load takes.
LOAD_SECONDS = 300.0

# Each round starts new servers and creates all objects again.
MEMORY_ROUNDS = 3
# A server is idle if it keeps this share of its memory between two readings, and uses as little CPU
# as before a cold sync. The last value is the maximum time to wait.
STEADY = 0.99
READ_SECONDS = 2.0
MAX_IDLE_WAIT_SECONDS = 60.0

Starts: TypeAlias = Mapping[str, Callable[[], AbstractContextManager[Running]]]

SERVERS: Starts = {
    REAL: servers.real,
    OURS: servers.embedded,
}
# The start is also measured with the controllers of Deployments and Pods, which is the default.
STARTED: Starts = {**SERVERS, OURS_WHOLE: partial(servers.embedded, has_workloads=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The number of objects, requests, watchers and rounds."""

    apps: int
    config_maps: int
    deployments: int
    gets: int
    watchers: int
    rushed: int
    paced: int
    rounds: int
    watch_rounds: int

    @classmethod
    def of(cls, options: RunOptions) -> "Scale":
        """The scale for these options."""
        if not options.is_full:
            return cls(
                apps=1_000,
                config_maps=500,
                deployments=300,
                gets=1_000,
                watchers=10,
                rushed=100,
                paced=20,
                rounds=options.rounds,
                watch_rounds=options.rounds,
            )
        return cls(
            apps=20_000,
            config_maps=3_000,
            deployments=2_000,
            gets=6_000,
            watchers=50,
            rushed=1_000,
            paced=150,
            rounds=options.rounds,
            watch_rounds=min(options.rounds, 3),
        )


RATE = Column(title="a second", figure="rate", decimals=0)
SERVER_CPU = Column(title="server CPU µs each", figure="server_cpu", decimals=0, factor=1e6)
WALL = Column(title="wall s", figure="wall", decimals=3)
WALL_RATIO = Column(title="ratio", figure=f"wall{RATIO}", decimals=2)
WHOLE_CPU = Column(title="server CPU s", figure="server_cpu", decimals=2)

STARTS = 0.7
CONFIG_MAPS_LEAST = 1000
DEPLOYMENTS_LEAST = 500
IN_PROCESS_LEAST = 10_000
LIST_RATIO = 0.6


def sections(options: RunOptions) -> Iterator[Section]:
    """The start, every type of request on both servers, and their memory."""
    yield starting(options)
    with ExitStack() as stack:
        running = {name: stack.enter_context(start()) for name, start in SERVERS.items()}
        yield from Comparison(running, options).sections()
    yield memory(options)


def starting(options: RunOptions) -> Section:
    """The time from the start to the first response."""

    def start(name: str) -> Turn:
        def turn() -> Cost:
            with STARTED[name]() as server:
                return {"wall": server.start_seconds, "cpu": server.cpu_seconds()}

        return turn

    turns = {name: start(name) for name in STARTED}
    costs = in_rounds(turns, rounds=options.rounds, progress=options.progress)
    return Section(
        name="start",
        title=f"Start to first response ({rounds_text(options.rounds)})",
        columns=(
            Column(title="wall s", figure="wall", decimals=2),
            Column(title="CPU s", figure="cpu", decimals=2),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{name}, start to first response",
                most=STARTS,
                unit=" s",
                rounds=by_round(costs[name], "wall"),
                enforced=options.is_enforced,
            )
            for name in (OURS, OURS_WHOLE)
        ],
    )


def memory(options: RunOptions) -> Section:
    """The memory of a server after its start, with all AppServices, and at its peak."""
    apps, rounds = Scale.of(options).apps, min(options.rounds, MEMORY_ROUNDS)

    def start(name: str) -> Turn:
        def turn() -> Cost:
            with SERVERS[name]() as server:
                empty = _idle_memory(name, server)
                asyncio.run(fill(server.kubeconfig, apps=apps))
                full = _idle_memory(name, server)
                # The peak includes a response with all objects.
                _run("load", "list-whole", str(server.kubeconfig), str(apps))
                return {
                    "empty": empty,
                    "full": full,
                    "each": (full - empty) / apps,
                    "peak": server.memory()["peak"],
                }

        return turn

    turns = {name: start(name) for name in SERVERS}
    return Section(
        name="memory",
        title=f"Resident memory: idle after the start, idle with {apps:,} AppServices, and at its"
        f" peak, with a list of all in one response ({rounds_text(rounds)})",
        columns=(
            Column(title="empty MB", figure="empty", decimals=0),
            Column(title="full MB", figure="full", decimals=0),
            Column(title="kB for each", figure="each", decimals=1, factor=1e3),
            Column(title="peak MB", figure="peak", decimals=0),
        ),
        costs=in_rounds(turns, rounds=rounds, progress=options.progress, warming_up={}),
    )


def _idle_memory(name: str, server: Running) -> float:
    """The resident memory of an idle server after a garbage collection, in megabytes."""
    _wait_until_idle(server)
    if name == REAL:
        asyncio.run(_collect(server.kubeconfig))
        _wait_until_idle(server)
    return server.memory()["resident"]


def _wait_until_idle(server: Running) -> None:
    """Wait until the server is idle and returns no more memory, which Go does gradually."""
    deadline_at = time.monotonic() + MAX_IDLE_WAIT_SECONDS
    cpu_seconds, resident = server.cpu_seconds(), server.memory()["resident"]
    while time.monotonic() < deadline_at:
        time.sleep(READ_SECONDS)
        before, held = cpu_seconds, resident
        cpu_seconds, resident = server.cpu_seconds(), server.memory()["resident"]
        if cpu_seconds - before < IDLE_SHARE * READ_SECONDS and resident > STEADY * held:
            return


async def _collect(kubeconfig: Path) -> None:
    """Make kube-apiserver collect its garbage; etcd has no such endpoint."""
    to = Destination.of(kubeconfig)
    async with connection(to) as mine:
        await mine.send(to.request("GET", COLLECT_PATH))


class Comparison:
    """The requests to servers that run at the same time."""

    def __init__(self, running: Mapping[str, Running], options: RunOptions) -> None:
        self._running = running
        self._options = options
        self._scale = Scale.of(options)

    def sections(self) -> Iterator[Section]:
        """Each type of request."""
        scale = self._scale
        for name, server in self._running.items():
            self._options.progress(f"{name}: creating {scale.apps:,} AppServices")
            asyncio.run(fill(server.kubeconfig, apps=scale.apps))
        yield self._creates(
            "configmaps", scale.config_maps, "Create ConfigMaps of 1 kB", least=CONFIG_MAPS_LEAST
        )
        yield self._creates(
            "deployments", scale.deployments, "Create Deployments", least=DEPLOYMENTS_LEAST
        )
        yield self._gets()
        yield self._listing("list-whole", "in one response")
        yield self._listing("list-in-pages", f"{PAGE_SIZE} to a page")
        yield self._burst()
        yield self._steady()

    def _creates(self, what: str, count: int, title: str, *, least: float) -> Section:
        section = self._requests(f"create-{what}", count, title)
        floor = Floor(
            what=title[0].lower() + title[1:],
            least=least,
            unit=" a second",
            rounds=by_round(section.costs[OURS], "rate"),
            enforced=self._options.is_enforced,
        )
        return replace(section, limits=[floor])

    def _gets(self) -> Section:
        """Gets over sockets, and gets with the in-process transport of tests."""
        section = self._requests("get", self._scale.gets, "Get one ConfigMap")
        inside = self._in_rounds({IN_PROCESS: _in_process(self._scale.gets)}, self._scale.rounds)
        floor = Floor(
            what="get one ConfigMap in-process",
            least=IN_PROCESS_LEAST,
            unit=" a second",
            rounds=by_round(inside[IN_PROCESS], "rate"),
            enforced=self._options.is_enforced,
        )
        return replace(section, costs={**section.costs, **inside}, limits=[floor])

    def _requests(self, task: str, count: int, title: str) -> Section:
        rounds = self._scale.rounds
        turns = {name: _load(task, server, count) for name, server in self._running.items()}
        return Section(
            name=task,
            title=f"{title}, {count:,} times over {CONNECTIONS} connections"
            f" ({rounds_text(rounds)})",
            columns=(RATE, SERVER_CPU),
            costs=self._in_rounds(turns, rounds),
        )

    def _listing(self, task: str, how: str) -> Section:
        rounds, count = self._scale.rounds, self._scale.apps
        turns = {
            name: _load(task, server, count, share=1) for name, server in self._running.items()
        }
        costs = all_with_ratios(self._in_rounds(turns, rounds), REAL, ["wall"])
        limit = Limit(
            what=f"list {how}, wall time, ratio to {REAL}",
            most=LIST_RATIO,
            unit="",
            rounds=by_round(costs[OURS], f"wall{RATIO}"),
            enforced=self._options.is_enforced,
        )
        return Section(
            name=task,
            title=f"List {count:,} AppServices, {how} ({rounds_text(rounds)})",
            columns=(WALL, WALL_RATIO, WHOLE_CPU),
            costs=costs,
            limits=[limit],
        )

    def _burst(self) -> Section:
        scale = self._scale
        turns = {
            name: _fan_out("burst", server, watchers=scale.watchers, changes=scale.rushed)
            for name, server in self._running.items()
        }
        return Section(
            name="fan-out",
            title=f"Notify {scale.watchers} watchers of {scale.rushed:,} ConfigMaps of 1 kB,"
            f" created as fast as possible; figures for one event at one watcher"
            f" ({rounds_text(scale.watch_rounds)})",
            columns=(RATE, SERVER_CPU),
            costs=self._in_rounds(turns, scale.watch_rounds, warming_up={}),
        )

    def _steady(self) -> Section:
        scale = self._scale
        turns = {
            name: _fan_out("steady", server, watchers=scale.watchers, changes=scale.paced)
            for name, server in self._running.items()
        }
        return Section(
            name="fan-out-delay",
            title=f"Delay from the create of a ConfigMap to its event at each of {scale.watchers}"
            f" watchers, {scale.paced} creates ({rounds_text(scale.watch_rounds)})",
            columns=[*percentile_columns("delay", "", "ms")],
            costs=self._in_rounds(turns, scale.watch_rounds, warming_up={}),
        )

    def _in_rounds(
        self, turns: Mapping[str, Turn], rounds: int, warming_up: Mapping[str, Turn] | None = None
    ) -> Mapping[str, Sequence[Cost]]:
        return in_rounds(
            turns, rounds=rounds, progress=self._options.progress, warming_up=warming_up
        )


def _in_process(count: int) -> Turn:
    def turn() -> Cost:
        # The process contains both client and server.
        cost: dict[str, float] = json.loads(_run("in_process", str(count)))
        return cost

    return turn


def _load(task: str, server: Running, count: int, *, share: int | None = None) -> Turn:
    """A turn of ``task``; the server's CPU is divided by ``share``, or else by ``count``."""

    def turn() -> Cost:
        cpu_before = server.cpu_seconds()
        cost = json.loads(_run("load", task, str(server.kubeconfig), str(count)))
        cpu_seconds = server.cpu_seconds() - cpu_before
        _clear(server)
        return {**cost, "server_cpu": cpu_seconds / (share or count)}

    return turn


def _fan_out(task: str, server: Running, *, watchers: int, changes: int) -> Turn:
    def turn() -> Cost:
        arguments = (task, str(server.kubeconfig), str(watchers), str(changes))
        with child(
            _command("fan_out", *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with deadline(process, "start all watches", seconds=LOAD_SECONDS):
                process.stdout.readline()
            # The measurement starts after all handshakes.
            cpu_before = server.cpu_seconds()
            process.stdin.write(b"\n")
            process.stdin.flush()
            with deadline(process, "receive every change", seconds=LOAD_SECONDS):
                said = process.stdout.readline()
            cpu_seconds = server.cpu_seconds() - cpu_before
            cpu_at_exit(process, within_seconds=EXIT_SECONDS)
        _clear(server)
        return {**json.loads(said), "server_cpu": cpu_seconds / (watchers * changes)}

    return turn


def _clear(server: Running) -> None:
    _run("load", "clear", str(server.kubeconfig), "0")


def _run(module: str, *arguments: str) -> bytes:
    return output_of(_command(module, *arguments), within_seconds=LOAD_SECONDS)


def _command(module: str, *arguments: str) -> Sequence[str]:
    return [sys.executable, "-m", f"bench.harness.{module}", *arguments]


# The panels of the charts: section, figure and factor, by title.
RATES = {
    "ConfigMaps created a second": ("create-configmaps", "rate", 1.0),
    "Deployments created a second": ("create-deployments", "rate", 1.0),
    "gets a second": ("get", "rate", 1.0),
    "events a second": ("fan-out", "rate", 1.0),
}
TIMES = {
    "start to first response, s": ("start", "wall", 1.0),
    "list of all, s": ("list-whole", "wall", 1.0),
    "list in pages, s": ("list-in-pages", "wall", 1.0),
    "delay of an event, p99, ms": ("fan-out-delay", "delay_p99", 1e3),
}
USAGE = {
    "server CPU for a ConfigMap, µs": ("create-configmaps", "server_cpu", 1e6),
    "server CPU for a get, µs": ("get", "server_cpu", 1e6),
    "server CPU for an event, µs": ("fan-out", "server_cpu", 1e6),
    "memory, empty, MB": ("memory", "empty", 1.0),
    "memory, full, MB": ("memory", "full", 1.0),
}


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """Rates, times, and usage."""
    lists = {
        title: LIST_RATIO * median(cost["wall"] for cost in sections[TIMES[title][0]].costs[REAL])
        for title in ("list of all, s", "list in pages, s")
        if TIMES[title][0] in sections
    }
    for name, title, shown, limits in (
        (
            "rates",
            "The embedded cluster: rates",
            RATES,
            {
                "ConfigMaps created a second": CONFIG_MAPS_LEAST,
                "Deployments created a second": DEPLOYMENTS_LEAST,
            },
        ),
        (
            "times",
            "The embedded cluster: times",
            TIMES,
            {"start to first response, s": STARTS, **lists},
        ),
        ("usage", "The embedded cluster: CPU and memory of the server", USAGE, {}),
    ):
        both = {
            panel: {contender: each[contender] for contender in (REAL, OURS)}
            for panel, each in panels(sections, shown).items()
        }
        if both:
            yield BarChart(
                name=name,
                title=title,
                panels=both,
                limits={panel: limit for panel, limit in limits.items() if panel in both},
                is_more_better=name == "rates",
            )
