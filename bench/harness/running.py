"""Measures, one after another: each is shown and kept as it goes, one table after another."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from subprocess import SubprocessError
from typing import Protocol, TypeAlias

from bench.harness.charts import Picture, svg
from bench.harness.children import ROOT, Hung, guarded_group
from bench.harness.effort import Effort
from bench.harness.machine import load_average, machine, versions
from bench.harness.pages import NOTE, write_pages
from bench.harness.provenance import source, throughout
from bench.harness.report import Section
from bench.harness.results import Result, drop, illustrate, keep, kept
from bench.harness.rounds import Progress
from steersman.errors import SteersmanError


class Measure(Protocol):
    """One kind of work: what it is, the doing of it, and pictures of what was found."""

    TITLE: str

    def sections(self, effort: Effort) -> Iterator[Section]: ...

    def pictures(self, sections: Mapping[str, Section]) -> Iterator[Picture]: ...


# A measure by its name; one that cannot be had must not be in the way of others.
Load: TypeAlias = Callable[[str], Measure]


class ResultStore:
    """Where results are kept, with their charts and pages.

    ``order`` is that of the measures; ``summary_in`` is a page that has a place for a summary.
    """

    def __init__(
        self, directory: Path, *, load: Load, order: Sequence[str], summary_in: Path | None
    ) -> None:
        self._directory = directory
        self._load = load
        self._order = order
        self._summary_in = summary_in

    def put(self, result: Result) -> None:
        """In the place of an older one."""
        older = next(iter(kept(self._directory, [result.measure])), result)
        # First of all, so that no chart that cannot be drawn takes the figures with it.
        keep(self._directory, result)
        try:
            self._illustrate(replace(result, charts=older.charts))
        finally:
            self._write_pages()

    def drop(self, name: str) -> None:
        """What an earlier run found: it is not what this one would have found."""
        drop(self._directory, name)
        self._write_pages()

    def redraw(self, names: Sequence[str]) -> None:
        """Charts and pages again, from what is there."""
        for result in kept(self._directory, names):
            self._illustrate(result)
        self._write_pages()

    def _illustrate(self, result: Result) -> None:
        illustrate(self._directory, result, list(_pictures(self._load(result.measure), result)))

    def _write_pages(self) -> None:
        results = list(kept(self._directory, self._order))
        write_pages(self._directory, results, summary_in=self._summary_in)


def _pictures(measure: Measure, result: Result) -> Iterator[Picture]:
    """All of them; of a result that is not whole, those before the first that lacks something."""
    by_name = {section.name: section for section in result.sections}
    try:
        for picture in measure.pictures(by_name):
            if not picture.is_empty:
                svg(picture)
                yield picture
    except Exception:
        # Nothing that goes wrong with a drawing shall end the measuring.
        if result.is_whole:
            raise


class Remembered:
    """Progress that is passed on, and can be asked for again."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.last = "the beginning"

    def __call__(self, text: str) -> None:
        """Remember it, if it says something."""
        self.last = text or self.last
        self._progress(text)


def run(names: Sequence[str], *, load: Load, effort: Effort, store: ResultStore | None) -> bool:
    """Whether all of them came to their end with every promise kept; each has its turn."""
    for facts in (machine(), source(ROOT), versions()):
        print(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    print(NOTE, flush=True)
    # Now, so that the first contender does not wait for it.
    guarded_group()
    outcomes = [_is_well(name, load=load, effort=effort, store=store) for name in names]
    return all(outcomes)


def _is_well(name: str, *, load: Load, effort: Effort, store: ResultStore | None) -> bool:
    progress = Remembered(effort.progress)
    effort = replace(effort, progress=progress)
    result: Result | None = None
    try:
        for result in measured(name, load(name), effort):
            if store is not None:
                store.put(result)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the others shall have their turn
        effort.progress("")
        if isinstance(error, SubprocessError | SteersmanError | Hung | SystemExit):
            print(error, file=sys.stderr)
        else:
            traceback.print_exception(error)
        print(f"error: {name} broke off at {progress.last!r}", file=sys.stderr)
        if result is None and store is not None:
            store.drop(name)
        return False
    return result is not None and result.is_held


def measured(name: str, measure: Measure, effort: Effort) -> Iterator[Result]:
    """Do all of its work, and show each table when it is there; what is found so far, each time."""
    began_time, began_at = datetime.now(UTC), time.perf_counter()
    began_with = source(ROOT)
    sections: list[Section] = []

    def found(*, is_whole: bool) -> Result:
        return Result(
            measure=name,
            title=measure.TITLE,
            machine=machine(),
            source=throughout(began_with, source(ROOT)),
            versions=versions(),
            effort={
                "is_full": effort.is_full,
                "rounds": effort.rounds,
                "began_time": began_time.isoformat(timespec="seconds"),
                "took_seconds": round(time.perf_counter() - began_at),
                # Other users of these cores empty their caches, and not for all alike.
                "load_average": round(load_average(), 1),
            },
            sections=list(sections),
            charts={},
            is_whole=is_whole,
        )

    print(f"\n{name}: {measure.TITLE}", flush=True)
    for section in measure.sections(effort):
        if any(section.name == other.name for other in sections):
            raise ValueError(f"two sections of {name} are called {section.name}")
        sections.append(section if effort.is_judged else _not_judged(section))
        effort.progress("")
        print("", *sections[-1].lines(), sep="\n", flush=True)
        yield found(is_whole=False)
    whole = found(is_whole=True)
    minutes, load = whole.effort["took_seconds"] / 60, whole.effort["load_average"]
    print(f"\n{name} took {minutes:.1f} min; load average {load:.1f}", flush=True)
    yield whole


def _not_judged(section: Section) -> Section:
    return replace(section, limits=[replace(limit, judged=False) for limit in section.limits])
