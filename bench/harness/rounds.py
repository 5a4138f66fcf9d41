"""Turns of the contenders, each in a fresh process, taken in rounds.

One round has one turn of each: whatever else the machine does meanwhile, it does to all of them.
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

from bench.harness.children import (
    PATIENCE_SECONDS,
    ROOT,
    at_most,
    child,
    child_environ,
    cpu_when_ended,
)
from bench.harness.kernel import cpu_in, memory_in

# What one turn cost: "wall" and "cpu" in seconds, "resident" and "peak" in megabytes.
Cost: TypeAlias = Mapping[str, float]

Turn: TypeAlias = Callable[[], Cost]
Progress: TypeAlias = Callable[[str], None]

# What the name of a ratio ends with, unless said.
RATIO = "_ratio"
# And one to the best of several.
BEST_RATIO = "_best_ratio"
# What the name of a figure ends with of which more is better.
RATE = "rate"

# How much of an error is shown below a table.
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
    """The costs of each turn, one for each round, after one that does not count.

    In that first one files come into the page cache, and modules are compiled; lesser turns will
    do for it where they are given, or none.

    A contender that is ``optional`` and fails has no turn any more and no costs, and ``report``
    gets a line; the others go on.
    """
    before = turns if warming_up is None else warming_up
    costs: dict[str, list[Cost]] = {name: [] for name in turns}
    for number in range(rounds + 1):
        # There and back, so that the order of contenders varies.
        for name in [name for name in turns if name in costs][:: 1 if number % 2 else -1]:
            where = f"round {number} of {rounds}" if number else "warming up"
            progress(f"{where}: {name}")
            mine = costs.pop(name)
            with sparing(name, where, optional=optional, report=report):
                if number:
                    mine.append(turns[name]())
                elif name in before:
                    before[name]()
                costs[name] = mine
    return {name: costs[name] for name in turns if name in costs}


@contextmanager
def sparing(
    name: str, where: str, *, optional: Collection[str], report: Callable[[str], None]
) -> Iterator[None]:
    """Leave the block if ``name`` fails in it, and say so, where it is ``optional``."""
    try:
        yield
    except Exception as error:
        if name not in optional:
            raise
        report(f"without {name}, which failed ({where}): {in_short(error)}")


def in_short(error: BaseException) -> str:
    """The first line of what it says, and of that the beginning."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    # Where this machine has its files does not belong into results.
    first = first.replace(f"{ROOT}/", "").replace(str(Path.home()), "~")
    return first if len(first) <= SHORT else f"{first[: SHORT - 1]}…"


def python_with(statement: str) -> Turn:
    """A Python process from its start to its end, with ``statement`` in between."""
    # Nothing but a builtin shows the memory, so that no import of ours hides one of theirs.
    source = f"{statement}\nprint(open('/proc/self/status').read(), end='')"

    def turn() -> Cost:
        output, cost = _run([sys.executable, "-c", source])
        return {**cost, **memory_in(output.decode())}

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


def staying(
    command: Sequence[str],
    kubeconfig: Path,
    expected: Mapping[str, int],
    *,
    held: Mapping[str, int],
    variables: Mapping[str, str],
    counters: Mapping[str, Callable[[], float]],
    later_seconds: float,
) -> Turn:
    """A program that says ``expected`` as one line of JSON, and stays until its input is closed.

    Then, when nothing is measured any more, it says what it holds, as another line. Who does not
    say what is ``expected``, or does not hold what is to be ``held``, has failed.

    ``wall`` and ``cpu`` are up to the first line, and so is what each of ``counters`` has risen by
    since the start. Memory is looked at then, and once more after ``later_seconds``, if there
    are any. ``variables`` are in its environment.
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
            with at_most(process, f"say {json.dumps(expected)}", seconds=PATIENCE_SECONDS):
                line = process.stdout.readline()
            wall_seconds = time.perf_counter() - started_at
            looked_at = Path(f"/proc/{process.pid}")
            cpu_seconds = cpu_in((looked_at / "stat").read_text())
            counted = {name: counter() - before[name] for name, counter in counters.items()}
            memory = dict(memory_in((looked_at / "status").read_text())) if line else {}
            if line and later_seconds:
                time.sleep(later_seconds)
                later = memory_in((looked_at / "status").read_text())
                memory["later_resident"] = later["resident"]
            process.stdin.close()
            with at_most(process, f"say {json.dumps(held)}", seconds=PATIENCE_SECONDS):
                last = process.stdout.readline()
            # It has to end well, too; what that costs does not matter.
            cpu_when_ended(process)
        _check_said(line, expected, command)
        _check_said(last, held, command)
        return {"wall": wall_seconds, "cpu": cpu_seconds, **counted, **memory}

    return turn


def _check_said(line: bytes, expected: Mapping[str, int], command: Sequence[str]) -> None:
    try:
        said = json.loads(line)
    except ValueError:
        said = line.decode(errors="replace").strip() or "nothing"
    if said != expected:
        raise AssertionError(f"expected {expected}, it said {said}: {shlex.join(command)}")


def above(costs: Sequence[Cost], base: Sequence[Cost]) -> Sequence[Cost]:
    """What each turn cost more than the one of ``base`` in the same round."""
    return [
        {name: cost[name] - ground[name] for name in ground}
        for cost, ground in zip(costs, base, strict=True)
    ]


def compared(
    costs: Sequence[Cost], base: Sequence[Cost], figures: Iterable[str], *, suffix: str = RATIO
) -> Sequence[Cost]:
    """The same costs, with each of ``figures`` also as a ratio to ``base`` in the same round.

    A ratio is called like its figure, with ``suffix``. There is none in a round that only one of
    the two had, none of a figure that only one of them has, and none to nothing.
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


def beside(
    costs: Mapping[str, Sequence[Cost]], base: str, figures: Iterable[str], *, suffix: str = RATIO
) -> Mapping[str, Sequence[Cost]]:
    """The costs of all, ``compared`` with those of ``base``; as they were, if it has none."""
    wanted, ground = list(figures), costs.get(base, ())
    return {name: compared(each, ground, wanted, suffix=suffix) for name, each in costs.items()}


def best_of(
    costs: Mapping[str, Sequence[Cost]],
    names: Iterable[str],
    figures: Iterable[str],
    *,
    best: Callable[[Iterable[float]], float] = min,
) -> Sequence[Cost]:
    """The best of each of ``figures`` that any of ``names`` has in a round, for each round."""
    wanted = list(figures)
    rounds = zip(*(costs[name] for name in names), strict=True)
    return [{figure: best(cost[figure] for cost in each) for figure in wanted} for each in rounds]


def _run(command: Sequence[str]) -> tuple[bytes, Cost]:
    started_at = time.perf_counter()
    with child(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with at_most(process, "say what it has to say", seconds=PATIENCE_SECONDS):
            output = process.stdout.read()
        cpu_seconds = cpu_when_ended(process)
    return output, {"wall": time.perf_counter() - started_at, "cpu": cpu_seconds}
