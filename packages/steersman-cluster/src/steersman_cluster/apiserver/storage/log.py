"""The revision log: each write has its own revision, and refers to the entry it replaces."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

#: The revision of a log to which nothing has been written.
FIRST_REVISION: Final = 1


class Key(NamedTuple):
    """The key of an object: its resource, and in ``place`` its ``namespace/name`` or ``name``.

    ``place`` is one string, so that keys sort as in etcd.
    """

    resource: str
    place: str


class Entry:
    """One write: the value of a key from ``revision`` on; ``value`` is None for a deletion.

    ``value`` is shared and never mutated. Encoders cache their results in other attributes:
    ``rendered`` is the object as JSON, ``metadata_end`` the end of the metadata in ``rendered``,
    ``converted`` the object in another API version, and ``message`` the object as protobuf.
    ``is_unpruned`` is true if kube-apiserver would have stored unknown fields of the object,
    although kube-apiserver never serves them.
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
        self.converted: tuple[object, bytes] | None = None  # a version's mark, and the JSON
        self.message: tuple[object, bytes] | None = None  # a version's mark, and the protobuf

    def as_of(self, revision: int) -> "Entry | None":
        """Return the entry of the same key that was current at ``revision``, or None."""
        entry: Entry | None = self
        while entry is not None and entry.revision > revision:
            entry = entry.previous
        return entry

    def alone(self) -> "Entry":
        """Return a copy of the entry without ``previous``, the entry that it replaced."""
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
    """The key was written after the caller read it; ``current`` is its current entry."""

    def __init__(self, key: Key, current: Entry | None) -> None:
        super().__init__(f"{key.resource} {key.place} has been written since")
        self.key = key
        self.current = current


class Compacted(Exception):
    """The history up to revision ``compacted`` was deleted, but ``wanted`` requires it.

    The response to a watch from ``wanted`` is the error 410.
    """

    def __init__(self, wanted: int, compacted: int) -> None:
        super().__init__(f"revision {wanted} is gone; history begins after {compacted}")
        self.wanted = wanted
        self.compacted = compacted


class WriteFailed(Exception):
    """A write could not be persisted, and was not applied."""


class Journal(Protocol):
    """A protocol for a journal, which persists writes across restarts."""

    def load(self) -> tuple[int, int, Iterable[tuple[int, Key, dict[str, Any] | None]]]:
        """Return the last revision, the last compacted revision, and the recorded writes.

        The writes are sorted by revision.
        """
        ...

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        """Persist the write of ``value`` to ``key`` at ``revision``.

        Raises ``WriteFailed`` if that is not possible.
        """
        ...

    def compact(self, revision: int) -> None:
        """Delete entries that were replaced at or before ``revision``.

        Raises ``WriteFailed`` if that is not possible.
        """
        ...


class RevisionLog:
    """All writes since the last compaction, and the last entry of each key."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.revision = FIRST_REVISION
        self.compacted = 0
        self._journal = journal
        self._resource_logs: dict[str, ResourceLog] = {}
        if journal is not None:
            self.revision, self.compacted, recorded = journal.load()
            for revision, key, value in recorded:
                self.resource_log(key.resource).put(Entry(revision, key, value, self.latest(key)))

    def fork(self) -> "RevisionLog":
        """Return an independent log in memory that starts with the current objects of this log."""
        fork = RevisionLog()
        fork.revision = fork.compacted = self.revision
        for resource, resource_log in self._resource_logs.items():
            fork._resource_logs[resource] = resource_log.fork(forgotten=self.revision)
        return fork

    def resource_log(self, resource: str) -> "ResourceLog":
        """Return the log of the resource ``resource``."""
        if resource not in self._resource_logs:
            self._resource_logs[resource] = ResourceLog(forgotten=self.compacted)
        return self._resource_logs[resource]

    def latest(self, key: Key) -> Entry | None:
        """Return the last entry of ``key``, which can be a deletion; None if there is no entry."""
        return self.resource_log(key.resource).entries.get(key.place)

    def current_entries(self) -> Iterator[Entry]:
        """Yield the last entry of each existing object, sorted by resource and key."""
        for resource in sorted(self._resource_logs):
            resource_log = self._resource_logs[resource]
            for place in resource_log.places:
                entry = resource_log.entries[place]
                if entry.value is not None:
                    yield entry

    def append(self, key: Key, value: dict[str, Any] | None, *, expected: int) -> Entry:
        """Append a write of ``value`` to ``key``, and return its entry.

        ``expected`` is the revision of the object that the caller read, or 0 if the object did not
        exist. Raises ``RevisionConflict`` if the object was written since.
        """
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
        """Return the writes to ``resource`` after ``revision``, up to and including ``until``.

        Raises ``Compacted`` if some of these writes were deleted by compaction.
        """
        resource_log = self.resource_log(resource)
        # Compared with this resource's lost history, not with the last compaction: the watch of a
        # resource without changes has missed nothing.
        if revision < resource_log.forgotten:
            raise Compacted(revision, self.compacted)
        return (
            resource_log.between(revision, until) if revision < resource_log.last_revision else []
        )

    def compact(self, revision: int) -> None:
        """Delete entries that were replaced at or before ``revision``, and deletions up to it."""
        revision = min(revision, self.revision)
        if revision <= self.compacted:
            return
        if self._journal is not None:
            self._journal.compact(revision)
        for resource_log in self._resource_logs.values():
            resource_log.compact(revision)
        self.compacted = revision


class ResourceLog:
    """The log of one resource.

    ``entries`` contains the last entry of each object, by its place: ``namespace/name`` or
    ``name``. ``places`` are the sorted places.
    """

    __slots__ = ("_history", "_revisions", "entries", "forgotten", "last_revision", "places")

    def __init__(self, *, forgotten: int) -> None:
        self.forgotten = forgotten  # the revision up to which the history is incomplete
        self.last_revision = 0
        self.entries: dict[str, Entry] = {}
        self.places: list[str] = []  # sorted; includes deleted objects until the next compaction
        self._history: list[Entry] = []
        self._revisions: list[int] = []

    def fork(self, *, forgotten: int) -> "ResourceLog":
        """Return a copy with the existing objects, without their history.

        ``forgotten`` is the revision up to which the copy contains no history.
        """
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
        """Append ``entry``, which has a higher revision than all entries so far."""
        place = entry.key.place
        if place not in self.entries:
            insort(self.places, place)
        self.entries[place] = entry
        self._history.append(entry)
        self._revisions.append(entry.revision)
        self.last_revision = entry.revision

    def between(self, after: int, until: int) -> list[Entry]:
        """Return the entries after revision ``after``, up to and including revision ``until``."""
        revisions = self._revisions
        return self._history[bisect_right(revisions, after) : bisect_right(revisions, until)]

    def compact(self, revision: int) -> None:
        """Delete the entries up to ``revision``, except the last entry of each existing object."""
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
