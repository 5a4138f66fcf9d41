"""Results as files: JSON with all figures, from which charts and pages can be drawn again."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.harness.charts import Chart, svg
from bench.harness.report import Column, Floor, Limit, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one run of one measure.

    ``source`` is the commit, and whether there were other changes. ``run`` has the time, the size
    and the duration of the run. ``charts`` maps files to titles. A result is not whole if the run
    failed or still runs.
    """

    measure: str
    title: str
    machine: Mapping[str, str]
    source: Mapping[str, str]
    versions: Mapping[str, str]
    run: Mapping[str, Any]
    sections: Sequence[Section]
    charts: Mapping[str, str]
    is_whole: bool = True

    @property
    def limits(self) -> Sequence[Limit | Floor]:
        """The limits of all sections."""
        return [limit for section in self.sections for limit in section.limits]

    @property
    def passes(self) -> bool:
        """Whether the result is whole and meets all limits."""
        return self.is_whole and all(limit.passes for limit in self.limits)


def as_json(result: Result) -> str:
    """The result as JSON."""
    return json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> Result:
    """The result from its JSON."""
    fields = json.loads(text)
    fields["sections"] = [_section(**each) for each in fields["sections"]]
    return Result(**fields)


def _section(
    *, columns: Sequence[Any], limits: Sequence[Any], notes: Sequence[str] = (), **fields: Any
) -> Section:
    return Section(
        notes=tuple(notes),
        columns=[Column(**each) for each in columns],
        limits=[Limit(**each) if "most" in each else Floor(**each) for each in limits],
        **fields,
    )


def write_result(directory: Path, result: Result) -> None:
    """Store a result, in place of an older one of the same measure."""
    directory.mkdir(parents=True, exist_ok=True)
    write_atomically(directory / f"{result.measure}.json", as_json(result))


def drop(directory: Path, measure: str) -> None:
    """Delete a result and its charts, if it exists."""
    for result in stored(directory, [measure]):
        for name in (*result.charts, f"{measure}.json"):
            (directory / name).unlink(missing_ok=True)


def stored(directory: Path, measures: Iterable[str]) -> Iterator[Result]:
    """The stored results of ``measures``, in their order."""
    for measure in measures:
        path = directory / f"{measure}.json"
        if path.exists():
            yield from_json(path.read_text())


def draw_charts(directory: Path, result: Result, charts: Sequence[Chart]) -> Result:
    """Draw the charts of a result in place of the earlier ones; return the updated result."""
    files = {f"{result.measure}-{chart.name}.svg": chart for chart in charts}
    if len(files) < len(charts):
        raise ValueError(f"two charts of {result.measure} have the same name")
    directory.mkdir(parents=True, exist_ok=True)
    for name, chart in files.items():
        write_atomically(directory / name, svg(chart))
    for old in set(result.charts) - set(files):
        (directory / old).unlink(missing_ok=True)
    illustrated = replace(result, charts={name: chart.title for name, chart in files.items()})
    write_result(directory, illustrated)
    return illustrated


def write_atomically(path: Path, text: str) -> None:
    """Replace a file atomically: a reader gets the old text or the new one."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
