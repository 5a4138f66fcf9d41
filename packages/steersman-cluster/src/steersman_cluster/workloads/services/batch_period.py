"""One look for many changes, and none for those that we made ourselves."""

from datetime import datetime, timedelta
from typing import Final

from steersman.cache import key_of
from steersman.kinds import Resource
from steersman.names import ObjectKey

# The Pods of one rollout get ready within so long of each other where they start at once. Short
# enough that a person does not notice, and far below what DNS or a proxy takes to follow.
BATCH_SECONDS: Final = 0.05

# After so long nobody has come back for a batch: its Service is gone.
_FORGOTTEN_SECONDS: Final = 60.0


class Batches:
    """When each Service that has news is due: so long after the first, whatever comes then."""

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # the earliest first, since all wait equally long

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, uid: str, now: datetime) -> float:
        """How long to wait yet for more; 0 if it is time, and the next batch begins."""
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
    """Which version of each slice we wrote last, so that its echo wakes nobody."""

    def __init__(self) -> None:
        self._versions: dict[ObjectKey, str] = {}

    def __len__(self) -> int:
        return len(self._versions)

    def note(self, obj: Resource) -> None:
        """This is how it is by our will."""
        self._versions[key_of(obj)] = obj.resource_version

    def forget(self, obj: Resource) -> None:
        """It is gone, or will be."""
        self._versions.pop(key_of(obj), None)

    def is_foreign(self, _old: Resource | None, new: Resource) -> bool:
        """Whether somebody else has written it since."""
        return self._versions.get(key_of(new)) != new.resource_version
