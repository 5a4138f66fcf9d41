"""Turns of the contenders, each in a fresh process, taken in rounds.

One round has one turn of each: whatever else the machine does meanwhile, it does to all of them.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from bench.harness.contend import memory_in
from steersman.testing.programs import cache_directory

ROOT = Path(__file__).parents[2]

# What one turn cost: "wall" and "cpu" in seconds, "resident" and "peak" in megabytes.
Cost: TypeAlias = Mapping[str, float]

Turn: TypeAlias = Callable[[], Cost]
Progress: TypeAlias = Callable[[str], None]


def in_rounds(
    turns: Mapping[str, Turn],
    *,
    rounds: int,
    progress: Progress,
    warming_up: Mapping[str, Turn] | None = None,
) -> Mapping[str, Sequence[Cost]]:
    """The costs of each turn, one for each round, after one that does not count.

    In that first one files come into the page cache, and modules are compiled; lesser turns will
    do for it where they are given, or none.
    """
    before = turns if warming_up is None else warming_up
    costs: dict[str, list[Cost]] = {name: [] for name in turns}
    for number in range(rounds + 1):
        # There and back, so that nobody always comes after the same one.
        for name in list(turns)[:: 1 if number % 2 else -1]:
            progress(f"round {number} of {rounds}: {name}" if number else f"warming up: {name}")
            if number:
                costs[name].append(turns[name]())
            elif name in before:
                before[name]()
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
    """A turn of ``bench.peers.clients.CONTENDER``; ``process_cpu`` is of all its process."""
    command = [
        sys.executable,
        "-m",
        "bench.harness.contend",
        contender,
        task,
        str(kubeconfig),
        str(count),
    ]

    def turn() -> Cost:
        output, cost = _run(command)
        return {**json.loads(output), "process_cpu": cost["cpu"]}

    return turn


def staying(command: Sequence[str], kubeconfig: Path, expected: Mapping[str, int]) -> Turn:
    """A program that says ``expected`` as one line of JSON, and stays until its input is closed.

    ``wall`` and ``cpu`` are up to that line, and memory is looked at then; ``life_cpu`` is of its
    whole life, the end included.
    """

    def turn() -> Cost:
        started_at = time.perf_counter()
        with _child(command, KUBECONFIG=str(kubeconfig)) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            line = process.stdout.readline()
            wall_seconds = time.perf_counter() - started_at
            looked_at = Path(f"/proc/{process.pid}")
            cpu_seconds = cpu_in((looked_at / "stat").read_text())
            memory = memory_in((looked_at / "status").read_text()) if line else {}
            process.stdin.close()
            life_seconds = _ended(process)
        if (said := json.loads(line)) != expected:
            raise AssertionError(f"{expected} is so, {command[0]} said {said}")
        return {"wall": wall_seconds, "cpu": cpu_seconds, "life_cpu": life_seconds, **memory}

    return turn


def cpu_in(stat: str) -> float:
    """User and system time so far, by ``/proc/PID/stat``."""
    # The name of the program, in parentheses, may have anything in it.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def above(costs: Sequence[Cost], base: Sequence[Cost]) -> Sequence[Cost]:
    """What each turn cost more than the one of ``base`` in the same round."""
    return [
        {name: cost[name] - ground[name] for name in ground}
        for cost, ground in zip(costs, base, strict=True)
    ]


def compared(costs: Sequence[Cost], base: Sequence[Cost], figures: Iterable[str]) -> Sequence[Cost]:
    """The same costs, with each of ``figures`` also as a ratio to ``base`` in the same round."""
    return [
        {**cost, **{f"{figure}_ratio": cost[figure] / ground[figure] for figure in figures}}
        for cost, ground in zip(costs, base, strict=True)
    ]


def _run(command: Sequence[str]) -> tuple[str, Cost]:
    started_at = time.perf_counter()
    with _child(command) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        cpu_seconds = _ended(process)
    return output, {"wall": time.perf_counter() - started_at, "cpu": cpu_seconds}


def child_environ(**variables: str) -> Mapping[str, str]:
    """What a contender's process finds in its environment."""
    # Whoever says that Python shall write no bytecode would have each turn compile everything, as
    # no program does that is in use; and bytecode needs no place among the sources.
    environ = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environ["PYTHONPYCACHEPREFIX"] = str(cache_directory(os.environ) / "bytecode")
    return {**environ, **variables}


def _child(command: Sequence[str], **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=child_environ(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ended(process: subprocess.Popen[str]) -> float:
    """The CPU seconds of a child, all its life long; ``CalledProcessError`` if it failed."""
    # The usage of this child alone; getrusage would add up all there ever were.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return usage.ru_utime + usage.ru_stime
