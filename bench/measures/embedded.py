"""The embedded API server beside a real control plane.

Both run at the same time and are asked in turns, by the same load from a process of its own.
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
from bench.harness.charts import Bars, panels
from bench.harness.children import PARTING_SECONDS, at_most, child, cpu_when_ended, output_of
from bench.harness.contenders import EMBEDDED as OURS
from bench.harness.contenders import EMBEDDED_WHOLE as OURS_WHOLE
from bench.harness.contenders import IN_PROCESS, REAL
from bench.harness.effort import Effort
from bench.harness.informers import COLLECT_PATH, REST_SHARE
from bench.harness.load import CONNECTIONS, Destination, connection
from bench.harness.report import (
    Column,
    Floor,
    Limit,
    Section,
    by_round,
    in_parts,
    rounds_in_words,
)
from bench.harness.rounds import RATIO, Cost, Turn, beside, in_rounds
from bench.harness.servers import Running
from bench.harness.task import PAGE_SIZE
from bench.harness.world import fill

TITLE = "The embedded cluster"

# More than any load takes, with every server.
LOAD_SECONDS = 300.0

# Each is a start and as many creates again.
MEMORY_ROUNDS = 3
# A server is at rest that has kept so much of its memory from one look to the next, and has worked
# as little as before a cold sync; or it is waited for no longer.
STEADY = 0.99
LOOK_SECONDS = 2.0
REST_SECONDS = 60.0

Starts: TypeAlias = Mapping[str, Callable[[], AbstractContextManager[Running]]]

SERVERS: Starts = {
    REAL: servers.real,
    OURS: servers.embedded,
}
# To start there is one more: as it comes, with the controllers of Deployments and Pods.
STARTED: Starts = {**SERVERS, OURS_WHOLE: partial(servers.embedded, has_workloads=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much work, and how often."""

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
    def of(cls, effort: Effort) -> "Scale":
        """What is right for this effort."""
        if not effort.is_full:
            return cls(
                apps=1_000,
                config_maps=500,
                deployments=300,
                gets=1_000,
                watchers=10,
                rushed=100,
                paced=20,
                rounds=effort.rounds,
                watch_rounds=effort.rounds,
            )
        return cls(
            apps=20_000,
            config_maps=3_000,
            deployments=2_000,
            gets=6_000,
            watchers=50,
            rushed=1_000,
            paced=150,
            rounds=effort.rounds,
            watch_rounds=min(effort.rounds, 3),
        )


RATE = Column(title="a second", figure="rate", decimals=0)
SERVER_CPU = Column(title="server CPU µs each", figure="server_cpu", decimals=0, factor=1e6)
WALL = Column(title="wall s", figure="wall", decimals=3)
WALL_RATIO = Column(title="of the real one", figure=f"wall{RATIO}", decimals=2)
WHOLE_CPU = Column(title="server CPU s", figure="server_cpu", decimals=2)

STARTS = 0.7
CONFIG_MAPS_LEAST = 1000
DEPLOYMENTS_LEAST = 500
IN_PROCESS_LEAST = 10_000
OF_THE_REAL_LIST = 0.6


def sections(effort: Effort) -> Iterator[Section]:
    """From nothing to the first answer, then every kind of work on both, and what they hold."""
    yield starting(effort)
    with ExitStack() as stack:
        running = {name: stack.enter_context(start()) for name, start in SERVERS.items()}
        yield from Comparison(running, effort).sections()
    yield memory(effort)


def starting(effort: Effort) -> Section:
    """From nothing to the first answer."""

    def start(name: str) -> Turn:
        def turn() -> Cost:
            with STARTED[name]() as server:
                return {"wall": server.start_seconds, "cpu": server.cpu_seconds()}

        return turn

    turns = {name: start(name) for name in STARTED}
    costs = in_rounds(turns, rounds=effort.rounds, progress=effort.progress)
    return Section(
        name="start",
        title=f"Start to first answer ({rounds_in_words(effort.rounds)})",
        columns=(
            Column(title="wall s", figure="wall", decimals=2),
            Column(title="CPU s", figure="cpu", decimals=2),
        ),
        costs=costs,
        limits=[
            Limit(
                what=f"{name}, start to first answer",
                most=STARTS,
                unit=" s",
                rounds=by_round(costs[name], "wall"),
                judged=effort.is_judged,
            )
            for name in (OURS, OURS_WHOLE)
        ],
    )


def memory(effort: Effort) -> Section:
    """What a server holds that has just started, and with all AppServices; and at most."""
    apps, rounds = Scale.of(effort).apps, min(effort.rounds, MEMORY_ROUNDS)

    def start(name: str) -> Turn:
        def turn() -> Cost:
            with SERVERS[name]() as server:
                empty = _held(name, server)
                asyncio.run(fill(server.kubeconfig, apps=apps))
                full = _held(name, server)
                # All of them at once, and encoded, is more than it has had to hold so far.
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
        title=f"Resident memory at rest, after the start and with {apps:,} AppServices, and at"
        f" most, up to a list of all in one answer ({rounds_in_words(rounds)})",
        columns=(
            Column(title="empty MB", figure="empty", decimals=0),
            Column(title="full MB", figure="full", decimals=0),
            Column(title="kB for each", figure="each", decimals=1, factor=1e3),
            Column(title="peak MB", figure="peak", decimals=0),
        ),
        costs=in_rounds(turns, rounds=rounds, progress=effort.progress, warming_up={}),
    )


def _held(name: str, server: Running) -> float:
    """Resident megabytes of a server that has nothing to do, without garbage."""
    _rest(server)
    if name == REAL:
        asyncio.run(_collect(server.kubeconfig))
        _rest(server)
    return server.memory()["resident"]


def _rest(server: Running) -> None:
    """Wait until it neither works nor gives memory back, which Go does little by little."""
    deadline_at = time.monotonic() + REST_SECONDS
    cpu_seconds, resident = server.cpu_seconds(), server.memory()["resident"]
    while time.monotonic() < deadline_at:
        time.sleep(LOOK_SECONDS)
        before, held = cpu_seconds, resident
        cpu_seconds, resident = server.cpu_seconds(), server.memory()["resident"]
        if cpu_seconds - before < REST_SHARE * LOOK_SECONDS and resident > STEADY * held:
            return


async def _collect(kubeconfig: Path) -> None:
    """Have kube-apiserver collect its garbage; etcd has no such door."""
    to = Destination.of(kubeconfig)
    async with connection(to) as mine:
        await mine.ask(to.request("GET", COLLECT_PATH))


class Comparison:
    """Servers that run at the same time, and what is asked of each."""

    def __init__(self, running: Mapping[str, Running], effort: Effort) -> None:
        self._running = running
        self._effort = effort
        self._scale = Scale.of(effort)

    def sections(self) -> Iterator[Section]:
        """Every kind of work, one after another."""
        scale = self._scale
        for name, server in self._running.items():
            self._effort.progress(f"{name}: creating {scale.apps:,} AppServices")
            asyncio.run(fill(server.kubeconfig, apps=scale.apps))
        yield self._creates(
            "configmaps", scale.config_maps, "Create ConfigMaps of 1 kB", least=CONFIG_MAPS_LEAST
        )
        yield self._creates(
            "deployments", scale.deployments, "Create Deployments", least=DEPLOYMENTS_LEAST
        )
        yield self._gets()
        yield self._listing("list-whole", "in one answer")
        yield self._listing("list-in-pages", f"{PAGE_SIZE} to a page")
        yield self._rush()
        yield self._pace()

    def _creates(self, what: str, count: int, title: str, *, least: float) -> Section:
        section = self._requests(f"create-{what}", count, title)
        floor = Floor(
            what=title[0].lower() + title[1:],
            least=least,
            unit=" a second",
            rounds=by_round(section.costs[OURS], "rate"),
            judged=self._effort.is_judged,
        )
        return replace(section, limits=[floor])

    def _gets(self) -> Section:
        """Over sockets, and beside them what a test has that needs none."""
        section = self._requests("get", self._scale.gets, "Get one ConfigMap")
        inside = self._in_rounds({IN_PROCESS: _in_process(self._scale.gets)}, self._scale.rounds)
        floor = Floor(
            what="get one ConfigMap in the process",
            least=IN_PROCESS_LEAST,
            unit=" a second",
            rounds=by_round(inside[IN_PROCESS], "rate"),
            judged=self._effort.is_judged,
        )
        return replace(section, costs={**section.costs, **inside}, limits=[floor])

    def _requests(self, task: str, count: int, title: str) -> Section:
        rounds = self._scale.rounds
        turns = {name: _load(task, server, count) for name, server in self._running.items()}
        return Section(
            name=task,
            title=f"{title}, {count:,} times over {CONNECTIONS} connections"
            f" ({rounds_in_words(rounds)})",
            columns=(RATE, SERVER_CPU),
            costs=self._in_rounds(turns, rounds),
        )

    def _listing(self, task: str, how: str) -> Section:
        rounds, count = self._scale.rounds, self._scale.apps
        turns = {
            name: _load(task, server, count, share=1) for name, server in self._running.items()
        }
        costs = beside(self._in_rounds(turns, rounds), REAL, ["wall"])
        limit = Limit(
            what=f"list {how}, of the wall time of {REAL}",
            most=OF_THE_REAL_LIST,
            unit="",
            rounds=by_round(costs[OURS], f"wall{RATIO}"),
            judged=self._effort.is_judged,
        )
        return Section(
            name=task,
            title=f"List {count:,} AppServices, {how} ({rounds_in_words(rounds)})",
            columns=(WALL, WALL_RATIO, WHOLE_CPU),
            costs=costs,
            limits=[limit],
        )

    def _rush(self) -> Section:
        scale = self._scale
        turns = {
            name: _fan_out("rush", server, watchers=scale.watchers, changes=scale.rushed)
            for name, server in self._running.items()
        }
        return Section(
            name="fan-out",
            title=f"Notify {scale.watchers} watchers of {scale.rushed:,} ConfigMaps of 1 kB,"
            f" created as fast as can be; for each event that one of them receives"
            f" ({rounds_in_words(scale.watch_rounds)})",
            columns=(RATE, SERVER_CPU),
            costs=self._in_rounds(turns, scale.watch_rounds, warming_up={}),
        )

    def _pace(self) -> Section:
        scale = self._scale
        turns = {
            name: _fan_out("pace", server, watchers=scale.watchers, changes=scale.paced)
            for name, server in self._running.items()
        }
        return Section(
            name="fan-out-delay",
            title=f"From sending one of {scale.paced} ConfigMaps until each of {scale.watchers}"
            f" watchers has received it ({rounds_in_words(scale.watch_rounds)})",
            columns=[*in_parts("delay", "", "ms")],
            costs=self._in_rounds(turns, scale.watch_rounds, warming_up={}),
        )

    def _in_rounds(
        self, turns: Mapping[str, Turn], rounds: int, warming_up: Mapping[str, Turn] | None = None
    ) -> Mapping[str, Sequence[Cost]]:
        return in_rounds(
            turns, rounds=rounds, progress=self._effort.progress, warming_up=warming_up
        )


def _in_process(count: int) -> Turn:
    def turn() -> Cost:
        # One process is client and server, and does nothing else.
        cost: dict[str, float] = json.loads(_run("in_process", str(count)))
        return cost

    return turn


def _load(task: str, server: Running, count: int, *, share: int | None = None) -> Turn:
    """So many of ``task``; what it costs the server is divided among them, or as ``share`` says."""

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
            with at_most(process, "start all watches", seconds=LOAD_SECONDS):
                process.stdout.readline()
            # All handshakes are done, which is not what is measured.
            cpu_before = server.cpu_seconds()
            process.stdin.write(b"\n")
            process.stdin.flush()
            with at_most(process, "hear of every change", seconds=LOAD_SECONDS):
                said = process.stdout.readline()
            cpu_seconds = server.cpu_seconds() - cpu_before
            cpu_when_ended(process, within_seconds=PARTING_SECONDS)
        _clear(server)
        return {**json.loads(said), "server_cpu": cpu_seconds / (watchers * changes)}

    return turn


def _clear(server: Running) -> None:
    _run("load", "clear", str(server.kubeconfig), "0")


def _run(module: str, *arguments: str) -> bytes:
    return output_of(_command(module, *arguments), within_seconds=LOAD_SECONDS)


def _command(module: str, *arguments: str) -> Sequence[str]:
    return [sys.executable, "-m", f"bench.harness.{module}", *arguments]


# Charts: by the title of each panel, which figure of which section it shows, and times what.
RATES = {
    "ConfigMaps created a second": ("create-configmaps", "rate", 1.0),
    "Deployments created a second": ("create-deployments", "rate", 1.0),
    "gets a second": ("get", "rate", 1.0),
    "events a second": ("fan-out", "rate", 1.0),
}
TIMES = {
    "start to first answer, s": ("start", "wall", 1.0),
    "list of all, s": ("list-whole", "wall", 1.0),
    "list in pages, s": ("list-in-pages", "wall", 1.0),
    "delay of an event, p99, ms": ("fan-out-delay", "delay_p99", 1e3),
}
TAKEN = {
    "server CPU for a ConfigMap, µs": ("create-configmaps", "server_cpu", 1e6),
    "server CPU for a get, µs": ("get", "server_cpu", 1e6),
    "server CPU for an event, µs": ("fan-out", "server_cpu", 1e6),
    "memory, empty, MB": ("memory", "empty", 1.0),
    "memory, full, MB": ("memory", "full", 1.0),
}


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """How much, how soon, and what it takes; of what is there."""
    lists = {
        title: OF_THE_REAL_LIST
        * median(cost["wall"] for cost in sections[TIMES[title][0]].costs[REAL])
        for title in ("list of all, s", "list in pages, s")
        if TIMES[title][0] in sections
    }
    for name, title, shown, limits in (
        (
            "rates",
            "The embedded cluster: how much a second",
            RATES,
            {
                "ConfigMaps created a second": CONFIG_MAPS_LEAST,
                "Deployments created a second": DEPLOYMENTS_LEAST,
            },
        ),
        (
            "times",
            "The embedded cluster: how soon",
            TIMES,
            {"start to first answer, s": STARTS, **lists},
        ),
        ("taken", "The embedded cluster: what it takes", TAKEN, {}),
    ):
        both = {
            panel: {contender: each[contender] for contender in (REAL, OURS)}
            for panel, each in panels(sections, shown).items()
        }
        if both:
            yield Bars(
                name=name,
                title=title,
                panels=both,
                limits={panel: limit for panel, limit in limits.items() if panel in both},
                is_more_better=name == "rates",
            )
