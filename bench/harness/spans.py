"""From a write to what it leads to: who wrote when, who noted what when, and how long was between.

All by the monotonic clock, which the processes of a machine share.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TypeAlias

# By an object's name: when something about it was noted, and a number that only grows. That is the
# generation at which a reconcile found it, or how many replicas its Deployment should have.
Notes: TypeAlias = Mapping[str, Sequence[tuple[float, int]]]

PARTS = {"p50": 0.5, "p99": 0.99, "max": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write of an AppService, as who wrote it saw it.

    One that was ``due`` may be sent later, if those before it are not answered yet: a wait that
    counts from then on sees what a backlog takes, too.
    """

    name: str
    generation: int
    size: int
    due_at: float
    sent_at: float
    last_response_at: float

    @classmethod
    def of(cls, line: str) -> "Write":
        """What ``line`` says of one."""
        name, generation, size, due_at, sent_at, last_response_at = line.split()
        return cls(
            name=name,
            generation=int(generation),
            size=int(size),
            due_at=float(due_at),
            sent_at=float(sent_at),
            last_response_at=float(last_response_at),
        )

    def line(self) -> str:
        """The line from which ``of`` makes the same."""
        times = f"{self.due_at} {self.sent_at} {self.last_response_at}"
        return f"{self.name} {self.generation} {self.size} {times}"


def whole_lines(file: Path) -> Sequence[str]:
    """The lines so far; the last one may not be whole yet. None, if there is no file yet."""
    if not file.exists():
        return ()
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


def line_count(file: Path) -> int:
    """How many whole lines there are; cheap, for readers while writers run."""
    return file.read_bytes().count(b"\n") if file.exists() else 0


def notes_in(*files: Path) -> Notes:
    """What was written down there, in order of time."""
    notes: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for line in (line for file in files for line in whole_lines(file)):
        at, name, number = line.split()
        notes[name].append((float(at), int(number)))
    return {name: sorted(each) for name, each in notes.items()}


def writes_in(file: Path) -> Sequence[Write]:
    """The writes that were answered so far."""
    return [Write.of(line) for line in whole_lines(file)]


def reached_at(notes: Notes, name: str, number: int) -> float | None:
    """When ``name`` was first noted with this number or a higher one; ``None`` if it was not."""
    return next((at for at, each in notes.get(name, ()) if each >= number), None)


def started(writes: Iterable[Write], starts: Notes) -> Sequence[float | None]:
    """For each write, when the first reconcile that knows of it began."""
    return [reached_at(starts, each.name, each.generation) for each in writes]


def followed(writes: Iterable[Write], deployments: Notes) -> Sequence[float | None]:
    """For each write, when its Deployment was first seen with the size that it asks for."""
    return [reached_at(deployments, each.name, each.size) for each in writes]


def between(since: Iterable[float], until: Iterable[float | None]) -> Sequence[float]:
    """How long each took; ``AssertionError`` if something never came."""
    pairs = list(zip(since, until, strict=True))
    if missing := sum(end is None for _, end in pairs):
        raise AssertionError(f"{missing} of {len(pairs)} writes led to nothing")
    # The server tells its watchers and its client at once; who hears first is chance.
    return [max(end - begin, 0.0) for begin, end in pairs if end is not None]


def shares(name: str, spans: Sequence[float]) -> Mapping[str, float]:
    """Half, nearly all and all of them were no longer than this; figures by ``name``."""
    return {f"{name}_{title}": share(spans, part) for title, part in PARTS.items()}


def share(values: Sequence[float], part: float) -> float:
    """The value that this part of all does not exceed."""
    return sorted(values)[ceil(len(values) * part) - 1]
