"""How long history is kept: long enough for whoever was away, and not forever."""

from steersman.apiserver.storage import RevisionLog
from steersman.clock import Clock

# As kube-apiserver has etcd do it: every five minutes, what was history five minutes before.
KEPT_SECONDS = 300.0


class History:
    """Compacts a log as time passes, which it does only when somebody asks something."""

    def __init__(self, log: RevisionLog, *, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._old_revision = log.compacted
        self._next_at = clock.monotonic() + KEPT_SECONDS

    def keep_short(self) -> None:
        """Forget what is old enough."""
        now = self._clock.monotonic()
        if now < self._next_at:
            return
        self._log.compact(self._old_revision)
        self._old_revision = self._log.revision
        self._next_at = now + KEPT_SECONDS

    def forget(self) -> None:
        """Forget all of it now: who asks from an earlier revision has to start anew."""
        self._log.compact(self._log.revision)
