"""The revision log: every write gets the next number, and knows what it replaced."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

#: The revision of a log to which nothing has been written.
FIRST_REVISION: Final = 1


class Key(NamedTuple):
    """Where an object stands: its resource, and ``namespace/name`` or ``name`` there.

    One string, so that everything comes in the order in which etcd would have it.
    """

    resource: str
    place: str


class Entry:
    """One write: what stands under a key from this revision on; ``None`` where it was deleted.

    ``value`` is shared and never changed. ``rendered`` and ``converted`` are room for
    encoders to keep what they made of it, as it is and in another version,
    ``metadata_end`` for where in the first of them the metadata ends, and ``message`` for its form
    in protobuf. ``is_unpruned`` where kube-apiserver would have stored fields that it never shows.
    """

    __slots__ = (
        "converted",
        "is_unpruned",
        "key",
        "message",
        "metadata_end",
        "previous",
        "rendered",
        "revision",
        "value",
    )

    def __init__(
        self, revision: int, key: Key, value: dict[str, Any] | None, previous: "Entry | None"
    ) -> None:
        self.revision = revision
        self.key = key
        self.value = value
        self.previous = previous
        self.rendered: bytes | None = None
        self.metadata_end: int | None = None
        self.is_unpruned = False
        self.converted: tuple[object, bytes] | None = None  # by mark of the version, and what
        self.message: tuple[object, bytes] | None = None  # the same

    def as_of(self, revision: int) -> "Entry | None":
        """The entry that stood here at ``revision``, if one did."""
        entry: Entry | None = self
        while entry is not None and entry.revision > revision:
            entry = entry.previous
        return entry

    def alone(self) -> "Entry":
        """The same without what it replaced."""
        if self.previous is None:
            return self
        alone = Entry(self.revision, self.key, self.value, None)
        alone.rendered, alone.metadata_end = self.rendered, self.metadata_end
        alone.message, alone.is_unpruned = self.message, self.is_unpruned
        return alone

    def __repr__(self) -> str:
        what = "deleted" if self.value is None else "written"
        return f"<Entry {self.revision}: {self.key.resource} {self.key.place} {what}>"


class RevisionConflict(Exception):
    """The key has been written since; ``current`` is what stands there now."""

    def __init__(self, key: Key, current: Entry | None) -> None:
        super().__init__(f"{key.resource} {key.place} has been written since")
        self.key = key
        self.current = current


class Compacted(Exception):
    """History up to ``compacted`` is gone."""

    def __init__(self, wanted: int, compacted: int) -> None:
        super().__init__(f"revision {wanted} is gone; history begins after {compacted}")
        self.wanted = wanted
        self.compacted = compacted


class WriteFailed(Exception):
    """The write could not be made to last, and was not made."""


class Journal(Protocol):
    """What outlives the process."""

    def load(self) -> tuple[int, int, Iterable[tuple[int, Key, dict[str, Any] | None]]]:
        """The last revision, the compacted one, and what was recorded, in order."""
        ...

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        """Make it last; ``WriteFailed`` if it cannot be done."""
        ...

    def compact(self, revision: int) -> None:
        """Forget what was replaced at or before ``revision``; ``WriteFailed`` if it cannot be."""
        ...


class RevisionLog:
    """Every write since the last compaction, and what stands under each key."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.revision = FIRST_REVISION
        self.compacted = 0
        self._journal = journal
        self._resource_logs: dict[str, ResourceLog] = {}
        if journal is not None:
            self.revision, self.compacted, recorded = journal.load()
            for revision, key, value in recorded:
                self.resource_log(key.resource).put(Entry(revision, key, value, self.latest(key)))

    def forked(self) -> "RevisionLog":
        """A log in memory that begins with what stands here now, and goes its own way."""
        fork = RevisionLog()
        fork.revision = fork.compacted = self.revision
        for resource, resource_log in self._resource_logs.items():
            fork._resource_logs[resource] = resource_log.forked(forgotten=self.revision)
        return fork

    def resource_log(self, resource: str) -> "ResourceLog":
        """Everything of one resource."""
        if resource not in self._resource_logs:
            self._resource_logs[resource] = ResourceLog(forgotten=self.compacted)
        return self._resource_logs[resource]

    def latest(self, key: Key) -> Entry | None:
        """What was last written under the key, a deletion included."""
        return self.resource_log(key.resource).entries.get(key.place)

    def standing(self) -> Iterator[Entry]:
        """All that stands now, resource by resource, in order."""
        for resource in sorted(self._resource_logs):
            resource_log = self._resource_logs[resource]
            for place in resource_log.places:
                entry = resource_log.entries[place]
                if entry.value is not None:
                    yield entry

    def append(self, key: Key, value: dict[str, Any] | None, *, expected: int) -> Entry:
        """Write; ``expected`` is the revision that the caller read there, 0 for nothing."""
        resource_log = self.resource_log(key.resource)
        current = resource_log.entries.get(key.place)
        standing = 0 if current is None or current.value is None else current.revision
        if standing != expected:
            raise RevisionConflict(key, current)
        revision = self.revision + 1
        if self._journal is not None:
            self._journal.record(revision, key, value)
        entry = Entry(revision, key, value, current)
        resource_log.put(entry)
        self.revision = revision
        return entry

    def since(self, revision: int, resource: str, *, until: int) -> list[Entry]:
        """What was written to a resource after ``revision``, and not after ``until``."""
        resource_log = self.resource_log(resource)
        # Not the last compaction: who has followed a quiet resource all along has missed nothing.
        if revision < resource_log.forgotten:
            raise Compacted(revision, self.compacted)
        return (
            resource_log.between(revision, until) if revision < resource_log.last_revision else []
        )

    def compact(self, revision: int) -> None:
        """Forget what was replaced or deleted at or before ``revision``."""
        revision = min(revision, self.revision)
        if revision <= self.compacted:
            return
        if self._journal is not None:
            self._journal.compact(revision)
        for resource_log in self._resource_logs.values():
            resource_log.compact(revision)
        self.compacted = revision


class ResourceLog:
    """One resource: the last entry of each place, the places in order, and the history of both."""

    __slots__ = ("_history", "_revisions", "entries", "forgotten", "last_revision", "places")

    def __init__(self, *, forgotten: int) -> None:
        self.forgotten = forgotten  # the revision up to which the history may have gaps
        self.last_revision = 0
        self.entries: dict[str, Entry] = {}
        self.places: list[str] = []  # sorted; deleted ones stay until they are compacted
        self._history: list[Entry] = []
        self._revisions: list[int] = []

    def forked(self, *, forgotten: int) -> "ResourceLog":
        """The same places with what stands there, without the history that led to it."""
        fork = ResourceLog(forgotten=forgotten)
        fork.last_revision = self.last_revision
        fork.entries = {
            place: self.entries[place].alone()
            for place in self.places
            if self.entries[place].value is not None
        }
        fork.places = list(fork.entries)
        return fork

    def put(self, entry: Entry) -> None:
        """Add the next entry."""
        place = entry.key.place
        if place not in self.entries:
            insort(self.places, place)
        self.entries[place] = entry
        self._history.append(entry)
        self._revisions.append(entry.revision)
        self.last_revision = entry.revision

    def between(self, after: int, until: int) -> list[Entry]:
        """The entries after one revision, and up to another."""
        revisions = self._revisions
        return self._history[bisect_right(revisions, after) : bisect_right(revisions, until)]

    def compact(self, revision: int) -> None:
        """Forget the entries up to ``revision``, except the last of each place."""
        kept = bisect_right(self._revisions, revision)
        if not kept:
            return
        self.forgotten = self._revisions[kept - 1]
        forgotten, self._history = self._history[:kept], self._history[kept:]
        self._revisions = self._revisions[kept:]
        for entry in forgotten:
            entry.previous = None
        gone = [
            place
            for place in {entry.key.place for entry in forgotten}
            if self.entries[place].value is None and self.entries[place].revision <= revision
        ]
        for place in gone:
            del self.entries[place]
        if gone:
            self.places = [place for place in self.places if place in self.entries]
