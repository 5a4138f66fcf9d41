"""Rounds of turns: each turn of a contender runs in a new process.

A round has one turn of each contender, so that other load of the machine affects all of them.
"""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import TypeAlias

from bench.harness.child_processes import (
    ROOT,
    TIMEOUT_SECONDS,
    child,
    child_environ,
    cpu_at_exit,
    deadline,
)
from bench.harness.procfs import cpu_in, memory_in

# The figures of one turn: "wall" and "cpu" in seconds, "resident" and "peak" in megabytes.
Cost: TypeAlias = Mapping[str, float]

Turn: TypeAlias = Callable[[], Cost]
Progress: TypeAlias = Callable[[str], None]

# The default suffix of ratios.
RATIO = "_ratio"
# The suffix of ratios to the best of several contenders.
BEST_RATIO = "_best_ratio"
# The suffix of figures for which more is better.
RATE = "rate"

# The maximum length of an error below a table.
SHORT = 160


def in_rounds(
    turns: Mapping[str, Turn],
    *,
    rounds: int,
    progress: Progress,
    warming_up: Mapping[str, Turn] | None = None,
    optional: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> Mapping[str, Sequence[Cost]]:
    """The costs of each contender, one for each round, after an uncounted warm-up.

    The warm-up fills the page cache and compiles modules. ``warming_up`` has smaller turns for it;
    an empty mapping skips it.

    An ``optional`` contender that fails is omitted, and ``report`` is called with a line. The other
    contenders continue.
    """
    before = turns if warming_up is None else warming_up
    costs: dict[str, list[Cost]] = {name: [] for name in turns}
    for number in range(rounds + 1):
        # Every other round has the reverse order.
        for name in [name for name in turns if name in costs][:: 1 if number % 2 else -1]:
            where = f"round {number} of {rounds}" if number else "warming up"
            progress(f"{where}: {name}")
            mine = costs.pop(name)
            with skipping_failures(name, where, optional=optional, report=report):
                if number:
                    mine.append(turns[name]())
                elif name in before:
                    before[name]()
                costs[name] = mine
    return {name: costs[name] for name in turns if name in costs}


@contextmanager
def skipping_failures(
    name: str, where: str, *, optional: Collection[str], report: Callable[[str], None]
) -> Iterator[None]:
    """Suppress and report an error in the block if ``name`` is ``optional``."""
    try:
        yield
    except Exception as error:
        if name not in optional:
            raise
        report(f"without {name}, which failed ({where}): {first_line(error)}")


def first_line(error: BaseException) -> str:
    """The first line of an error, shortened."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    # Results contain no paths of this machine.
    first = first.replace(f"{ROOT}/", "").replace(str(Path.home()), "~")
    return first if len(first) <= SHORT else f"{first[: SHORT - 1]}…"


def python_with(statement: str) -> Turn:
    """A turn: a Python process that executes ``statement``."""
    # Only builtins read the memory, because an import would be part of the measurement.
    source = f"{statement}\nprint(open('/proc/self/status').read(), end='')"

    def turn() -> Cost:
        output, cost = _run([sys.executable, "-c", source])
        return {**cost, **memory_in(output.decode())}

    return turn


def client_turn(contender: str, task: str, kubeconfig: Path, count: int) -> Turn:
    """A turn of ``bench.peers.clients.CONTENDER``; ``process_cpu`` is for the whole process."""
    command = [
        sys.executable,
        "-m",
        "bench.harness.client_task",
        contender,
        task,
        str(kubeconfig),
        str(count),
    ]

    def turn() -> Cost:
        output, cost = _run(command)
        return {**json.loads(output), "process_cpu": cost["cpu"]}

    return turn


def informer_turn(
    command: Sequence[str],
    kubeconfig: Path,
    expected: Mapping[str, int],
    *,
    held: Mapping[str, int],
    variables: Mapping[str, str],
    counters: Mapping[str, Callable[[], float]],
    later_seconds: float,
) -> Turn:
    """A turn of a program that reports its sync and runs until its standard input is closed.

    The program prints ``expected`` as a line of JSON when it has synced. After its input is closed,
    it prints ``held``, the summary of its cache. The turn fails if a line differs.

    ``wall``, ``cpu`` and the increase of each of ``counters`` end at the first line. Memory is read
    at the first line, and again after ``later_seconds`` unless that is zero. ``variables`` are
    added to the environment.
    """

    def turn() -> Cost:
        environ = child_environ(KUBECONFIG=str(kubeconfig), **variables)
        before = {name: counter() for name, counter in counters.items()}
        started_at = time.perf_counter()
        with child(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, environ=environ
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with deadline(process, f"print {json.dumps(expected)}", seconds=TIMEOUT_SECONDS):
                line = process.stdout.readline()
            wall_seconds = time.perf_counter() - started_at
            proc = Path(f"/proc/{process.pid}")
            cpu_seconds = cpu_in((proc / "stat").read_text())
            counted = {name: counter() - before[name] for name, counter in counters.items()}
            memory = dict(memory_in((proc / "status").read_text())) if line else {}
            if line and later_seconds:
                time.sleep(later_seconds)
                later = memory_in((proc / "status").read_text())
                memory["later_resident"] = later["resident"]
            process.stdin.close()
            with deadline(process, f"print {json.dumps(held)}", seconds=TIMEOUT_SECONDS):
                last = process.stdout.readline()
            # The program must exit with status 0; this part is not measured.
            cpu_at_exit(process)
        _check_output(line, expected, command)
        _check_output(last, held, command)
        return {"wall": wall_seconds, "cpu": cpu_seconds, **counted, **memory}

    return turn


def _check_output(line: bytes, expected: Mapping[str, int], command: Sequence[str]) -> None:
    try:
        said = json.loads(line)
    except ValueError:
        said = line.decode(errors="replace").strip() or "nothing"
    if said != expected:
        raise AssertionError(f"expected {expected}, got {said}: {shlex.join(command)}")


def minus(costs: Sequence[Cost], base: Sequence[Cost]) -> Sequence[Cost]:
    """The costs of each turn minus those of ``base`` in the same round."""
    return [
        {name: cost[name] - ground[name] for name in ground}
        for cost, ground in zip(costs, base, strict=True)
    ]


def with_ratios(
    costs: Sequence[Cost], base: Sequence[Cost], figures: Iterable[str], *, suffix: str = RATIO
) -> Sequence[Cost]:
    """The costs, with ratios of ``figures`` to ``base`` in the same round.

    The name of a ratio is that of its figure with ``suffix``. A ratio is omitted if one of the two
    lacks the round or the figure, or if the value of ``base`` is zero.
    """
    wanted = list(figures)
    return [
        {
            **cost,
            **{
                f"{figure}{suffix}": cost[figure] / ground[figure]
                for figure in wanted
                if figure in cost and ground.get(figure)
            },
        }
        for cost, ground in zip(costs, chain(base, repeat({})), strict=False)
    ]


def all_with_ratios(
    costs: Mapping[str, Sequence[Cost]], base: str, figures: Iterable[str], *, suffix: str = RATIO
) -> Mapping[str, Sequence[Cost]]:
    """The costs of all contenders, with ratios to the contender ``base`` if it has costs."""
    wanted, ground = list(figures), costs.get(base, ())
    return {name: with_ratios(each, ground, wanted, suffix=suffix) for name, each in costs.items()}


def best_of(
    costs: Mapping[str, Sequence[Cost]],
    names: Iterable[str],
    figures: Iterable[str],
    *,
    best: Callable[[Iterable[float]], float] = min,
) -> Sequence[Cost]:
    """For each round, the best value of each figure among ``names``."""
    wanted = list(figures)
    rounds = zip(*(costs[name] for name in names), strict=True)
    return [{figure: best(cost[figure] for cost in each) for figure in wanted} for each in rounds]


def _run(command: Sequence[str]) -> tuple[bytes, Cost]:
    started_at = time.perf_counter()
    with child(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with deadline(process, "print its output", seconds=TIMEOUT_SECONDS):
            output = process.stdout.read()
        cpu_seconds = cpu_at_exit(process)
    return output, {"wall": time.perf_counter() - started_at, "cpu": cpu_seconds}
