"""A cache of owners that are known not to exist, as in Kubernetes' garbage collector."""

from typing import Final

from steersman_cluster.workloads.garbagecollector.identity import Identity

# As in Kubernetes. An object with a thousand dependents takes one entry.
CAPACITY: Final = 500


class AbsentOwnerCache:
    """A cache of the owners that were most recently found not to exist.

    The entries never become wrong, because Kubernetes never reuses a uid.
    """

    def __init__(self, *, most: int = CAPACITY) -> None:
        self._most = most
        self._known: dict[Identity, None] = {}

    def add(self, identity: Identity) -> None:
        """Add ``identity``, the identity of an owner that does not exist."""
        self._known.pop(identity, None)
        self._known[identity] = None
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]

    def __contains__(self, identity: Identity) -> bool:
        if identity not in self._known:
            return False
        # A hit makes it the newest entry.
        del self._known[identity]
        self._known[identity] = None
        return True

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<AbsentOwnerCache {len(self._known)} of {self._most}>"
