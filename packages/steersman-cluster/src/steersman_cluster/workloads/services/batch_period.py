"""The batch period: many changes cause one reconcile,
and the controller's own writes cause none.
"""

from datetime import datetime, timedelta
from typing import Final

from steersman.cache import key_of
from steersman.kinds import Resource
from steersman.names import ObjectKey

# The Pods of a rollout become ready within this time if they start at once. It is too short to be
# noticed, and far below the delay of DNS or a proxy.
BATCH_SECONDS: Final = 0.05

# The entry of a deleted Service expires after this time.
_FORGOTTEN_SECONDS: Final = 60.0


class ServiceBatches:
    """The time at which each changed Service is due: one batch period after its first change."""

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # the earliest first, since all periods are equal

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, uid: str, now: datetime) -> float:
        """Return how long to wait for more changes; 0 if the batch period has ended.

        After a result of 0, the next change begins a new period.
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


class OwnWrites:
    """The resource version of each slice after the controller's last write.

    An event with this resource version was caused by that write.
    """

    def __init__(self) -> None:
        self._versions: dict[ObjectKey, str] = {}

    def __len__(self) -> int:
        return len(self._versions)

    def note(self, obj: Resource) -> None:
        """Store the resource version of a slice that this controller has written."""
        self._versions[key_of(obj)] = obj.resource_version

    def forget(self, obj: Resource) -> None:
        """Remove the entry of a deleted slice."""
        self._versions.pop(key_of(obj), None)

    def is_foreign(self, _old: Resource | None, new: Resource) -> bool:
        """Return whether another client has written the slice since the controller's last write."""
        return self._versions.get(key_of(new)) != new.resource_version
