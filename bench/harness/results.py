"""What a measure found, as files: JSON for programs, SVG and Markdown for people.

The JSON has everything; charts and pages are made from it alone, at any later time.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.harness.charts import Picture, svg
from bench.harness.report import Column, Floor, Limit, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything there is to know about one run of one measure.

    ``source`` is the commit, and whether there were changes; ``effort`` says when it was, how much
    was done and how long it took; ``charts`` are the titles of its pictures, by file. One that is
    not whole is of a run that broke off, or is not done yet.
    """

    measure: str
    title: str
    machine: Mapping[str, str]
    source: Mapping[str, str]
    versions: Mapping[str, str]
    effort: Mapping[str, Any]
    sections: Sequence[Section]
    charts: Mapping[str, str]
    is_whole: bool = True

    @property
    def limits(self) -> Sequence[Limit | Floor]:
        """What was promised of it."""
        return [limit for section in self.sections for limit in section.limits]

    @property
    def is_held(self) -> bool:
        """Whether it is whole, and no promise was broken."""
        return self.is_whole and all(limit.is_held for limit in self.limits)


def as_json(result: Result) -> str:
    """All of it, for ``from_json``."""
    return json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> Result:
    """What ``as_json`` was given."""
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


def keep(directory: Path, result: Result) -> None:
    """Put a result in the place of an older one of the same measure."""
    directory.mkdir(parents=True, exist_ok=True)
    put(directory / f"{result.measure}.json", as_json(result))


def drop(directory: Path, measure: str) -> None:
    """Remove a result and its charts, if there is one."""
    for result in kept(directory, [measure]):
        for name in (*result.charts, f"{measure}.json"):
            (directory / name).unlink(missing_ok=True)


def kept(directory: Path, measures: Iterable[str]) -> Iterator[Result]:
    """The results of those of ``measures`` that have been done, in that order."""
    for measure in measures:
        path = directory / f"{measure}.json"
        if path.exists():
            yield from_json(path.read_text())


def illustrate(directory: Path, result: Result, pictures: Sequence[Picture]) -> Result:
    """Draw the charts of a result, in the place of those it had; it, with their titles."""
    files = {f"{result.measure}-{picture.name}.svg": picture for picture in pictures}
    if len(files) < len(pictures):
        raise ValueError(f"two pictures of {result.measure} have the same name")
    directory.mkdir(parents=True, exist_ok=True)
    for name, picture in files.items():
        put(directory / name, svg(picture))
    for old in set(result.charts) - set(files):
        (directory / old).unlink(missing_ok=True)
    illustrated = replace(result, charts={name: picture.title for name, picture in files.items()})
    keep(directory, illustrated)
    return illustrated


def put(path: Path, text: str) -> None:
    """Replace a file atomically: a reader gets the old text or the new one."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
