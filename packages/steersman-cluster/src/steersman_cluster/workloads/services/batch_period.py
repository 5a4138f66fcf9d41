"""The batch period: one reconcile for many changes, and none for the controller's own writes."""

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


class Batches:
    """When each changed Service is due: the batch period after the first change."""

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # the earliest first, since all periods are equal

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, uid: str, now: datetime) -> float:
        """How long to wait for more changes; 0 if the period is over, and the next one begins."""
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
    """The last written version of each slice, to recognize the event of an own write."""

    def __init__(self) -> None:
        self._versions: dict[ObjectKey, str] = {}

    def __len__(self) -> int:
        return len(self._versions)

    def note(self, obj: Resource) -> None:
        """Store the version of an own write."""
        self._versions[key_of(obj)] = obj.resource_version

    def forget(self, obj: Resource) -> None:
        """Remove a deleted slice."""
        self._versions.pop(key_of(obj), None)

    def is_foreign(self, _old: Resource | None, new: Resource) -> bool:
        """Whether the last write of the slice is not the controller's own."""
        return self._versions.get(key_of(new)) != new.resource_version
