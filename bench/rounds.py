"""Turns of the contenders, each in a fresh process, taken in rounds.

One round has one turn of each: whatever else the machine does meanwhile, it does to all of them.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from bench.contend import memory_in

ROOT = Path(__file__).parents[1]

# What one turn cost: "wall" and "cpu" in seconds, "resident" and "peak" in megabytes.
Cost: TypeAlias = Mapping[str, float]

Turn: TypeAlias = Callable[[], Cost]
Progress: TypeAlias = Callable[[str], None]


def in_rounds(
    turns: Mapping[str, Turn], *, rounds: int, progress: Progress
) -> Mapping[str, Sequence[Cost]]:
    """The costs of each turn, one for each round, after one that does not count.

    In that first one files come into the page cache, and modules are compiled.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in turns}
    for number in range(rounds + 1):
        # There and back, so that nobody always comes after the same one.
        for name in list(turns)[:: 1 if number % 2 else -1]:
            progress(f"round {number} of {rounds}: {name}" if number else f"warming up: {name}")
            cost = turns[name]()
            if number:
                costs[name].append(cost)
    return costs


def python_with(statement: str) -> Turn:
    """A Python process from its start to its end, with ``statement`` in between."""
    # Nothing but a builtin shows the memory, so that no import of ours hides one of theirs.
    source = f"{statement}\nprint(open('/proc/self/status').read(), end='')"

    def turn() -> Cost:
        output, cost = _run([sys.executable, "-c", source])
        return {**cost, **memory_in(output)}

    return turn


def contending(contender: str, task: str, kubeconfig: Path, count: int) -> Turn:
    """A turn of ``bench.contenders.CONTENDER``; ``process_cpu`` is what all of its process took."""
    command = [sys.executable, "-m", "bench.contend", contender, task, str(kubeconfig), str(count)]

    def turn() -> Cost:
        output, cost = _run(command)
        return {**json.loads(output), "process_cpu": cost["cpu"]}

    return turn


def above(costs: Sequence[Cost], base: Sequence[Cost]) -> Sequence[Cost]:
    """What each turn cost more than the one of ``base`` in the same round."""
    return [
        {name: cost[name] - ground[name] for name in ground}
        for cost, ground in zip(costs, base, strict=True)
    ]


def _run(command: Sequence[str]) -> tuple[str, Cost]:
    started_at = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        # The usage of this child alone; getrusage would add up all there ever were.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_seconds = time.perf_counter() - started_at
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output, {"wall": wall_seconds, "cpu": usage.ru_utime + usage.ru_stime}
