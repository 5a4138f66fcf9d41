"""How long an AppService that was written waits until an operator begins to reconcile it.

The operator writes down each beginning, by the clock that all processes of a machine share.
"""

import asyncio
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from bench.converging import SETTLE_SECONDS, SYNC_SECONDS, cluster
from bench.load import Destination, connection
from bench.operators import Command, operating
from bench.rounds import ROOT, Cost, Turn, child_environ, cpu_in
from bench.world import HOME, add_apps, app_name, app_service
from steersman.kinds import Codec
from steersman.testing import ControlPlane

# For each reconcile: when it began, and at which generation it found the object.
Starts: TypeAlias = Mapping[str, Sequence[tuple[float, int]]]

# How far the queue is worked off before something new comes, and how often that happens.
UNDER_WAY = 500
NEW_OBJECTS = 5
BETWEEN_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write of an AppService, as who wrote it saw it."""

    name: str
    generation: int
    sent_at: float
    answered_at: float

    def delays(self, starts: Starts) -> tuple[float, float]:
        """From sending and from the answer to the first reconcile that knows of it."""
        began_at = next(at for at, generation in starts[self.name] if generation >= self.generation)
        # The server tells its watchers and its client at once; who hears first is chance.
        return began_at - self.sent_at, max(began_at - self.answered_at, 0.0)


def starts_in(file: Path) -> Starts:
    """What an operator wrote down, in order of time."""
    starts: dict[str, list[tuple[float, int]]] = defaultdict(list)
    # The last line may not be whole yet.
    for line in file.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            at, name, generation = line.split()
            starts[name].append((float(at), int(generation)))
    return {name: sorted(each) for name, each in starts.items()}


def changing(command: Command, *, count: int, rate: float, seconds: float, sleep_ms: int) -> Turn:
    """Changes at a steady rate to AppServices, whose reconcile only sleeps.

    A server that shares two cores with all others has enough to do with the changes: if each led
    to more writes, there would be nothing to see but how long it takes for those.
    """

    def turn() -> Cost:
        with TemporaryDirectory() as directory, cluster(controllers=False) as plane:
            file = Path(directory) / "starts"
            flags = ["--starts", str(file), "--sleep-ms", str(sleep_ms)]
            with operating([*command, *flags], kubeconfig=plane.kubeconfig) as operator:
                operator.quiet(seconds=SYNC_SECONDS)
                asyncio.run(add_apps(plane.kubeconfig, range(count)))
                operator.quiet(seconds=SETTLE_SECONDS)
                before_seconds, server_before_seconds = operator.cpu_seconds(), _cpu_of(plane)
                arguments = [plane.kubeconfig, count, rate, seconds]
                said = subprocess.run(
                    [sys.executable, "-m", "bench.changing", *map(str, arguments)],
                    cwd=ROOT,
                    env=child_environ(),
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                ).stdout
                operator.quiet(seconds=SETTLE_SECONDS)
                cpu_seconds = operator.cpu_seconds() - before_seconds
                server_seconds = _cpu_of(plane) - server_before_seconds
            writes = [_write(line) for line in said.splitlines()]
            took = max(each.sent_at for each in writes) - min(each.sent_at for each in writes)
            return {
                **_delays(writes, starts_in(file)),
                "rate": len(writes) / took,
                "cpu": cpu_seconds,
                "server_cpu": server_seconds,
            }

    return turn


def _cpu_of(plane: ControlPlane) -> float:
    return cpu_in(Path(f"/proc/{plane.api_server.pid}/stat").read_text())


def _write(line: str) -> Write:
    name, generation, sent_at, answered_at = line.split()
    return Write(
        name=name,
        generation=int(generation),
        sent_at=float(sent_at),
        answered_at=float(answered_at),
    )


def _delays(writes: Sequence[Write], starts: Starts) -> Cost:
    from_sending, from_answer = zip(*(each.delays(starts) for each in writes), strict=True)
    answers = [each.answered_at - each.sent_at for each in writes]
    spans = {"sent": from_sending, "answered": from_answer, "answer": answers}
    return {
        f"{name}_{title}": share(span, part)
        for name, span in spans.items()
        for title, part in {"p50": 0.5, "p99": 0.99, "max": 1.0}.items()
    }


def share(values: Sequence[float], part: float) -> float:
    """The value that this part of all does not exceed."""
    return sorted(values)[ceil(len(values) * part) - 1]


def queueing(
    command: Command, kubeconfig: Path, *, count: int, sleep_ms: int, numbers: Iterator[int]
) -> Turn:
    """New AppServices while ``count`` that were there from the start are still queued.

    ``queued`` is how many of those still were when the last new one had its turn; ``numbers`` are
    for the new ones' names.
    """

    def turn() -> Cost:
        with TemporaryDirectory() as directory:
            file = Path(directory) / "starts"
            flags = ["--starts", str(file), "--sleep-ms", str(sleep_ms)]
            with operating([*command, *flags], kubeconfig=kubeconfig) as operator:
                operator.wait_until(
                    f"{UNDER_WAY} of {count} AppServices reconciled",
                    lambda: file.exists() and len(starts_in(file)) >= UNDER_WAY,
                    poll_seconds=0.2,
                )
                writes = []
                for _ in range(NEW_OBJECTS):
                    writes.append(asyncio.run(_create(kubeconfig, next(numbers))))
                    time.sleep(BETWEEN_SECONDS)
                operator.wait_until(
                    "the new AppServices reconciled",
                    lambda: {each.name for each in writes} <= starts_in(file).keys(),
                    poll_seconds=0.2,
                )
                starts = starts_in(file)
            delays = [each.delays(starts)[0] for each in writes]
            last_at = max(starts[each.name][0][0] for each in writes)
            done = sum(each[0][0] < last_at for each in starts.values())
            return {"median": share(delays, 0.5), "max": max(delays), "queued": count - done}

    return turn


async def _create(kubeconfig: Path, number: int) -> Write:
    to = Destination.of(kubeconfig)
    request = to.request("POST", HOME, Codec().encode(app_service(number)))
    async with connection(to) as mine:
        sent_at = time.monotonic()
        await mine.ask(request)
        answered_at = time.monotonic()
    return Write(name=app_name(number), generation=1, sent_at=sent_at, answered_at=answered_at)
