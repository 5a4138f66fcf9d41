"""How long history is kept: long enough for a client that reconnects, and not forever."""

from steersman.clock import Clock
from steersman_cluster.apiserver.storage import RevisionLog

# As kube-apiserver has etcd do it: every five minutes, what was history five minutes before.
KEPT_SECONDS = 300.0

# All of it is in memory. A guess: some hundred megabytes, and a minute of the fastest writing.
MOST_WRITES = 50_000


class Compactor:
    """Compacts a log as time passes and it grows; it checks at each request."""

    def __init__(self, log: RevisionLog, *, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._old_revision = log.compacted
        self._full_revision = log.compacted + MOST_WRITES
        self._next_at = clock.monotonic() + KEPT_SECONDS

    def compact(self) -> None:
        """Forget what is old enough, and the older half of what is too much."""
        revision = self._log.revision
        if revision > self._full_revision:
            self._full_revision = revision + MOST_WRITES // 2
            self._log.compact(revision - MOST_WRITES // 2)
        now = self._clock.monotonic()
        if now < self._next_at:
            return
        old, self._old_revision = self._old_revision, revision
        self._next_at = now + KEPT_SECONDS
        self._log.compact(old)

    def forget(self) -> None:
        """Forget all of it now: a watch from an earlier revision has to list again."""
        self._log.compact(self._log.revision)
