"""The batch period of the endpoints controller, and the detection of its own writes.

During a batch period, many changes cause only one reconcile. The controller's own writes cause no
reconcile.
"""

from datetime import datetime, timedelta
from typing import Final

from steersman.kinds import Resource
from steersman.names import ObjectKey
from steersman.watch import key_of

# The Pods of a rollout become ready within this time if they start at once. It is too short to be
# noticed, and far below the delay of DNS or a proxy.
BATCH_SECONDS: Final = 0.05

# The entry of a deleted Service expires after this time.
_FORGOTTEN_SECONDS: Final = 60.0


class ServiceBatches:
    """The time at which each changed Service is reconciled: one batch period after its change.

    Further changes of the Service during this period do not extend the period.
    """

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # the earliest first, since all periods are equal

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, uid: str, now: datetime) -> float:
        """Return how many seconds the Service with the uid ``uid`` waits for more changes.

        The result is 0 if the batch period has ended. The next change then begins a new period.
        """
        due = self._due.get(uid)
        if due is None:
            self._forget_old(now)
            self._due[uid] = now + timedelta(seconds=BATCH_SECONDS)
            return BATCH_SECONDS
        if now < due:
            return (due - now).total_seconds()
        del self._due[uid]
        return 0.0

    def _forget_old(self, now: datetime) -> None:
        while self._due:
            uid, due = next(iter(self._due.items()))
            if (now - due).total_seconds() < _FORGOTTEN_SECONDS:
                return
            del self._due[uid]


class SliceVersions:
    """The resource version of each EndpointSlice after the controller's own last write.

    An event with this resource version was caused by that write.
    """

    def __init__(self) -> None:
        self._versions: dict[ObjectKey, str] = {}

    def __len__(self) -> int:
        return len(self._versions)

    def note(self, obj: Resource) -> None:
        """Store the resource version of ``obj``, a slice that this controller has written."""
        self._versions[key_of(obj)] = obj.resource_version

    def forget(self, obj: Resource) -> None:
        """Remove the entry of ``obj``, a slice that was deleted."""
        self._versions.pop(key_of(obj), None)

    def is_foreign(self, _old: Resource | None, new: Resource) -> bool:
        """Return whether another client wrote ``new`` after this controller's last write."""
        return self._versions.get(key_of(new)) != new.resource_version
