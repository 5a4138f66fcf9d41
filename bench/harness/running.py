"""Measures, one after another: each is shown as it goes, and kept when it is done."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CalledProcessError
from typing import Protocol, TypeAlias

from bench.harness.charts import Picture
from bench.harness.effort import Effort
from bench.harness.machine import load_average, machine, versions
from bench.harness.pages import NOTE, write_pages
from bench.harness.report import Section
from bench.harness.results import Result, illustrate, keep, kept
from steersman.errors import SteersmanError


class Measure(Protocol):
    """One kind of work: what it is, the doing of it, and pictures of what was found."""

    TITLE: str

    def sections(self, effort: Effort) -> Iterator[Section]: ...

    def pictures(self, sections: Mapping[str, Section]) -> Iterator[Picture]: ...


# A measure by its name; one that cannot be had must not be in the way of others.
Load: TypeAlias = Callable[[str], Measure]


class Shelf:
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
        # First of all, so that no chart that cannot be drawn takes the figures with it.
        keep(self._directory, result)
        self._illustrate(result)
        self._write_pages()

    def redraw(self, names: Sequence[str]) -> None:
        """Charts and pages again, from what is there."""
        for result in kept(self._directory, names):
            self._illustrate(result)
        self._write_pages()

    def _illustrate(self, result: Result) -> None:
        by_name = {section.name: section for section in result.sections}
        illustrate(self._directory, result, list(self._load(result.measure).pictures(by_name)))

    def _write_pages(self) -> None:
        results = list(kept(self._directory, self._order))
        write_pages(self._directory, results, summary_in=self._summary_in)


def run(names: Sequence[str], *, load: Load, effort: Effort, shelf: Shelf | None) -> bool:
    """Whether all of them came to their end with every promise kept; each has its turn."""
    for facts in (machine(), versions()):
        print(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    print(NOTE, flush=True)
    outcomes = [_is_well(name, load=load, effort=effort, shelf=shelf) for name in names]
    return all(outcomes)


def _is_well(name: str, *, load: Load, effort: Effort, shelf: Shelf | None) -> bool:
    try:
        result = measured(name, load(name), effort)
        if shelf is not None:
            shelf.put(result)
    except (CalledProcessError, SteersmanError, SystemExit) as error:
        effort.progress("")
        print(f"error: {name} broke off: {error}", file=sys.stderr)
        return False
    except Exception:  # noqa: BLE001 - the others shall have their turn
        effort.progress("")
        traceback.print_exc()
        print(f"error: {name} broke off", file=sys.stderr)
        return False
    return result.is_held


def measured(name: str, measure: Measure, effort: Effort) -> Result:
    """Do all of its work, and show each table when it is there."""
    began_time, began_at = datetime.now(UTC), time.perf_counter()
    print(f"\n{name}: {measure.TITLE}", flush=True)
    sections: list[Section] = []
    for section in measure.sections(effort):
        if any(section.name == other.name for other in sections):
            raise ValueError(f"two sections of {name} are called {section.name}")
        sections.append(section)
        effort.progress("")
        print("", *section.lines(), sep="\n", flush=True)
    took_seconds = time.perf_counter() - began_at
    # Whoever else uses these cores empties their caches, and not for all contenders alike.
    load = load_average()
    print(f"\n{name} took {took_seconds / 60:.1f} min; load average {load:.1f}", flush=True)
    return Result(
        measure=name,
        title=measure.TITLE,
        machine=machine(),
        versions=versions(),
        effort={
            "is_full": effort.is_full,
            "rounds": effort.rounds,
            "began_time": began_time.isoformat(timespec="seconds"),
            "took_seconds": round(took_seconds),
            "load_average": round(load, 1),
        },
        sections=sections,
        charts={},
    )
