"""Compaction of the revision log: history is deleted once clients have had time to use it.

A client whose watch was interrupted needs the history in order to continue the watch.
"""

from steersman.clock import Clock
from steersman_cluster.apiserver.storage import RevisionLog

# kube-apiserver's interval: every five minutes it compacts etcd to the revision of the last run.
KEPT_SECONDS = 300.0

# The history is in memory. A guess: a few hundred megabytes, and a minute of the fastest writes.
MAX_WRITES = 50_000


class Compactor:
    """Compacts a revision log by age and by size.

    The server calls ``compact`` at each request.
    """

    def __init__(self, log: RevisionLog, *, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._old_revision = log.compacted
        self._full_revision = log.compacted + MAX_WRITES
        self._next_at = clock.monotonic() + KEPT_SECONDS

    def compact(self) -> None:
        """Delete history that is old enough; if the history is too long, delete its older half."""
        revision = self._log.revision
        if revision > self._full_revision:
            self._full_revision = revision + MAX_WRITES // 2
            self._log.compact(revision - MAX_WRITES // 2)
        now = self._clock.monotonic()
        if now < self._next_at:
            return
        old, self._old_revision = self._old_revision, revision
        self._next_at = now + KEPT_SECONDS
        self._log.compact(old)

    def compact_all(self) -> None:
        """Delete all history now, so that watches from an earlier revision expire.

        Their clients list the objects again.
        """
        self._log.compact(self._log.revision)
