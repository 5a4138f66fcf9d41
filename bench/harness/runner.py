"""Runs measures, and shows and stores each table as soon as it is complete."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from subprocess import SubprocessError
from typing import Protocol, TypeAlias

from bench.harness.charts import Chart, svg
from bench.harness.child_processes import ROOT, ProcessTimeout, child_group
from bench.harness.machine import load_average, machine, versions
from bench.harness.pages import NOTE, write_pages
from bench.harness.provenance import combined, source
from bench.harness.report import Section
from bench.harness.results import Result, draw_charts, drop, stored, write_result
from bench.harness.rounds import Progress
from bench.harness.run_options import RunOptions
from steersman.errors import SteersmanError


class Measure(Protocol):
    """A measure: its title, its tables and its charts."""

    TITLE: str

    def sections(self, options: RunOptions) -> Iterator[Section]: ...

    def charts(self, sections: Mapping[str, Section]) -> Iterator[Chart]: ...


# Imports a measure by its name: if the import fails, the other measures still run.
Load: TypeAlias = Callable[[str], Measure]


class ResultStore:
    """The directory of results, with charts and pages.

    ``order`` is the order of the measures. ``summary_in`` is a page that contains a summary.
    """

    def __init__(
        self, directory: Path, *, load: Load, order: Sequence[str], summary_in: Path | None
    ) -> None:
        self._directory = directory
        self._load = load
        self._order = order
        self._summary_in = summary_in

    def put(self, result: Result) -> None:
        """Store a result in place of an older one, and draw its charts."""
        older = next(iter(stored(self._directory, [result.measure])), result)
        # Before the charts, so that an error in a chart does not lose the figures.
        write_result(self._directory, result)
        try:
            self._illustrate(replace(result, charts=older.charts))
        finally:
            self._write_pages()

    def drop(self, name: str) -> None:
        """Delete the result of an earlier run."""
        drop(self._directory, name)
        self._write_pages()

    def redraw(self, names: Sequence[str]) -> None:
        """Draw charts and pages from the stored results."""
        for result in stored(self._directory, names):
            self._illustrate(result)
        self._write_pages()

    def _illustrate(self, result: Result) -> None:
        draw_charts(self._directory, result, list(_charts(self._load(result.measure), result)))

    def _write_pages(self) -> None:
        results = list(stored(self._directory, self._order))
        write_pages(self._directory, results, summary_in=self._summary_in)


def _charts(measure: Measure, result: Result) -> Iterator[Chart]:
    """The charts of a result; if the result is not whole, those before the first that fails."""
    by_name = {section.name: section for section in result.sections}
    try:
        for chart in measure.charts(by_name):
            if not chart.is_empty:
                svg(chart)
                yield chart
    except Exception:
        # An error in a chart must not end the measure.
        if result.is_whole:
            raise


class ProgressRecorder:
    """Passes progress on, and keeps the last text."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.last = "the start"

    def __call__(self, text: str) -> None:
        """Keep a text that is not empty."""
        self.last = text or self.last
        self._progress(text)


def run(
    names: Sequence[str], *, load: Load, options: RunOptions, store: ResultStore | None
) -> bool:
    """Run all measures; return whether all are complete and meet their limits."""
    for facts in (machine(), source(ROOT), versions()):
        print(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    print(NOTE, flush=True)
    # In advance, so that the first turn does not include the start of the watchdog.
    child_group()
    results = [_run_measure(name, load=load, options=options, store=store) for name in names]
    return all(results)


def _run_measure(name: str, *, load: Load, options: RunOptions, store: ResultStore | None) -> bool:
    progress = ProgressRecorder(options.progress)
    options = replace(options, progress=progress)
    result: Result | None = None
    try:
        for result in results_of(name, load(name), options):
            if store is not None:
                store.put(result)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the other measures still run
        options.progress("")
        if isinstance(error, SubprocessError | SteersmanError | ProcessTimeout | SystemExit):
            print(error, file=sys.stderr)
        else:
            traceback.print_exception(error)
        print(f"error: {name} failed at {progress.last!r}", file=sys.stderr)
        if result is None and store is not None:
            store.drop(name)
        return False
    return result is not None and result.passes


def results_of(name: str, measure: Measure, options: RunOptions) -> Iterator[Result]:
    """Run a measure, print each table, and yield the result so far after each."""
    began_time, began_at = datetime.now(UTC), time.perf_counter()
    began_with = source(ROOT)
    sections: list[Section] = []

    def found(*, is_whole: bool) -> Result:
        return Result(
            measure=name,
            title=measure.TITLE,
            machine=machine(),
            source=combined(began_with, source(ROOT)),
            versions=versions(),
            run={
                "is_full": options.is_full,
                "rounds": options.rounds,
                "began_time": began_time.isoformat(timespec="seconds"),
                "took_seconds": round(time.perf_counter() - began_at),
                # Other programs on these cores affect the contenders differently.
                "load_average": round(load_average(), 1),
            },
            sections=list(sections),
            charts={},
            is_whole=is_whole,
        )

    print(f"\n{name}: {measure.TITLE}", flush=True)
    for section in measure.sections(options):
        if any(section.name == other.name for other in sections):
            raise ValueError(f"two sections of {name} have the name {section.name}")
        sections.append(section if options.is_enforced else _not_enforced(section))
        options.progress("")
        print("", *sections[-1].lines(), sep="\n", flush=True)
        yield found(is_whole=False)
    whole = found(is_whole=True)
    minutes, load = whole.run["took_seconds"] / 60, whole.run["load_average"]
    print(f"\n{name} took {minutes:.1f} min; load average {load:.1f}", flush=True)
    yield whole


def _not_enforced(section: Section) -> Section:
    return replace(section, limits=[replace(limit, enforced=False) for limit in section.limits])
