"""The delays between recorded writes and recorded events.

All times are from the monotonic clock, which the processes of a machine share.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TypeAlias

# The records of each object, by its name: a time, and a number that only increases. The number is
# the generation that a reconcile sees, or the replicas in the spec of a Deployment.
Notes: TypeAlias = Mapping[str, Sequence[tuple[float, int]]]

PERCENTILES = {"p50": 0.5, "p99": 0.99, "max": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write of an AppService, as its writer recorded it.

    A write can be sent after ``due_at``, if earlier ones have no response yet. A delay from
    ``due_at`` therefore includes the backlog.
    """

    name: str
    generation: int
    size: int
    due_at: float
    sent_at: float
    last_response_at: float

    @classmethod
    def of(cls, line: str) -> "Write":
        """Parse a line."""
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
        """The line for ``of``."""
        times = f"{self.due_at} {self.sent_at} {self.last_response_at}"
        return f"{self.name} {self.generation} {self.size} {times}"


def whole_lines(file: Path) -> Sequence[str]:
    """The complete lines of a file, which may not exist yet."""
    if not file.exists():
        return ()
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


def line_count(file: Path) -> int:
    """The number of complete lines; cheaper than ``whole_lines``."""
    return file.read_bytes().count(b"\n") if file.exists() else 0


def notes_in(*files: Path) -> Notes:
    """The records in the files, sorted by time."""
    notes: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for line in (line for file in files for line in whole_lines(file)):
        at, name, number = line.split()
        notes[name].append((float(at), int(number)))
    return {name: sorted(each) for name, each in notes.items()}


def writes_in(file: Path) -> Sequence[Write]:
    """The writes with a response so far."""
    return [Write.of(line) for line in whole_lines(file)]


def reached_at(notes: Notes, name: str, number: int) -> float | None:
    """The time of the first record of ``name`` with at least this number, or ``None``."""
    return next((at for at, each in notes.get(name, ()) if each >= number), None)


def reconcile_times(writes: Iterable[Write], starts: Notes) -> Sequence[float | None]:
    """For each write, the start of the first reconcile that sees it."""
    return [reached_at(starts, each.name, each.generation) for each in writes]


def deployment_times(writes: Iterable[Write], deployments: Notes) -> Sequence[float | None]:
    """For each write, the time at which its Deployment has the size of the write."""
    return [reached_at(deployments, each.name, each.size) for each in writes]


def durations(since: Iterable[float], until: Iterable[float | None]) -> Sequence[float]:
    """The durations; raise ``AssertionError`` if an end is missing."""
    pairs = list(zip(since, until, strict=True))
    if missing := sum(end is None for _, end in pairs):
        raise AssertionError(f"{missing} of {len(pairs)} writes had no effect")
    # An event can arrive before the response to its write.
    return [max(end - begin, 0.0) for begin, end in pairs if end is not None]


def percentiles(name: str, spans: Sequence[float]) -> Mapping[str, float]:
    """The p50, the p99 and the maximum, as figures with the prefix ``name``."""
    return {f"{name}_{title}": percentile(spans, part) for title, part in PERCENTILES.items()}


def percentile(values: Sequence[float], part: float) -> float:
    """The value that the given share of all values does not exceed."""
    return sorted(values)[ceil(len(values) * part) - 1]
