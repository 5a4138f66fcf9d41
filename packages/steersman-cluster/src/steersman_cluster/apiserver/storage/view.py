"""A view of the revision log, up to a revision.

A view is only a position in the log. Several views at different positions represent several API
servers, some of which lag behind the others.
"""

from bisect import bisect_left, bisect_right
from itertools import islice

import msgspec

from steersman_cluster.apiserver.storage.log import Compacted, Entry, Key, RevisionLog


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list: sorted entries, the number of remaining entries, and the revision.

    The remaining entries follow the page.
    """

    entries: list[Entry]
    remaining: int
    revision: int


class View:
    """A reader of the revision log, up to ``revision``, which only increases."""

    def __init__(self, log: RevisionLog) -> None:
        self._log = log
        self.revision = log.revision

    def advance(self, revision: int) -> None:
        """Advance the view to ``revision``, but not beyond the end of the log."""
        self.revision = max(self.revision, min(revision, self._log.revision))

    def check(self, revision: int) -> None:
        """Raise ``Compacted`` if ``revision`` is before the last compaction."""
        if revision < self._log.compacted:
            raise Compacted(revision, self._log.compacted)

    def get(self, key: Key) -> Entry | None:
        """Return the entry of ``key`` at the view's revision; None if the object does not exist."""
        entry = self._log.latest(key)
        if entry is not None and entry.revision > self.revision:
            entry = entry.as_of(self.revision)
        return entry if entry is not None and entry.value is not None else None

    def page(
        self,
        resource: str,
        *,
        prefix: str = "",
        after: str = "",
        limit: int | None = None,
        revision: int | None = None,
    ) -> Page:
        """Return the entries whose place starts with ``prefix`` and is after ``after``, sorted.

        A place is an object's ``namespace/name`` or ``name``. The page has at most ``limit``
        entries, and shows the objects at ``revision``, by default the revision of the view.
        """
        at = self.revision if revision is None else revision
        self.check(at)
        resource_log = self._log.resource_log(resource)
        places, entries = resource_log.places, resource_log.entries
        start = bisect_right(places, after) if after else bisect_left(places, prefix)
        # The prefix with its last character incremented sorts after all places with the prefix.
        end = bisect_left(places, prefix[:-1] + chr(ord(prefix[-1]) + 1)) if prefix else len(places)
        found: list[Entry] = []
        for place in islice(places, start, end):
            entry = entries[place]
            if entry.revision > at:
                earlier = entry.as_of(at)
                if earlier is None:
                    continue
                entry = earlier
            if entry.value is not None:
                found.append(entry)
        if limit is None or len(found) <= limit:
            return Page(entries=found, remaining=0, revision=at)
        return Page(entries=found[:limit], remaining=len(found) - limit, revision=at)

    def since(self, revision: int, resource: str) -> list[Entry]:
        """Return the entries of ``resource`` after ``revision``, up to the view's revision."""
        return self._log.since(revision, resource, until=self.revision)
