"""Results of test runs: from pytest's report, to a table, and to ``docs/versions/pythons.json``."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from tools.pythons.interpreters import Interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The tests of one run; ``skipped`` has a number for each reason."""

    passed: int
    failed: int
    skipped: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the tests on one Python; ``counts`` is None if pytest wrote no report."""

    interpreter: Interpreter
    counts: Counts | None
    status: int
    cpu_seconds: float
    seconds: float


def counts_in(report: str) -> Counts:
    """Count the tests in a report in JUnit's format."""
    passed = failed = 0
    skipped: Counter[str] = Counter()
    for case in ET.fromstring(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif (skip := case.find("skipped")) is not None:
            skipped[" ".join(skip.get("message", "").split())] += 1
        else:
            passed += 1
    return Counts(passed=passed, failed=failed, skipped=dict(sorted(skipped.items())))


def table(runs: Sequence[Run], missing: Mapping[str, str]) -> str:
    """One line for each Python, and the reasons of skipped tests and missing interpreters."""
    head = ("Python", "passed", "failed", "skipped", "CPU seconds", "seconds")
    rows = [head, *(_row(run) for run in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    for run in runs:
        if run.counts is None:
            lines.append(
                f"{run.interpreter.version}: the tests did not start; see the output above"
            )
            continue
        for reason, number in run.counts.skipped.items():
            lines.append(f"{run.interpreter.version}: skipped {number}: {reason}")
    lines += [f"{minor}: missing: {reason}" for minor, reason in missing.items()]
    return "".join(f"{line}\n" for line in lines)


def _row(run: Run) -> tuple[str, ...]:
    times = (f"{run.cpu_seconds:.0f}", f"{run.seconds:.0f}")
    if run.counts is None:
        return run.interpreter.version, "-", "-", "-", *times
    skipped = sum(run.counts.skipped.values())
    numbers = (run.counts.passed, run.counts.failed, skipped)
    return run.interpreter.version, *map(str, numbers), *times


def updated(recorded: str, runs: Iterable[Run], *, committed: str) -> str:
    """The record of the last run on each Python, with these runs in place of older ones.

    ``committed`` is the date of the tested commit. The record contains no times of a clock, so two
    runs of the same commit give the same text.
    """
    entries: dict[str, Any] = json.loads(recorded) if recorded else {}
    for run in runs:
        if run.counts is not None:
            entries[run.interpreter.minor] = {
                "version": run.interpreter.version,
                "implementation": run.interpreter.implementation,
                "committed": committed,
                "passed": run.counts.passed,
                "failed": run.counts.failed,
                "skipped": dict(run.counts.skipped),
            }
    ordered = dict(sorted(entries.items(), key=lambda each: int(each[0].partition(".")[2])))
    return json.dumps(ordered, indent=2) + "\n"
