"""Owners that are known not to be there: nobody has to ask for them again."""

from typing import Final

from steersman_cluster.workloads.garbagecollector.identity import Identity

# As many as Kubernetes remembers. An object with a thousand dependents takes one of them.
REMEMBERED: Final = 500


class AbsentOwners:
    """The last few identities that were found not to exist; a uid never comes back."""

    def __init__(self, *, most: int = REMEMBERED) -> None:
        self._most = most
        self._known: dict[Identity, None] = {}

    def add(self, identity: Identity) -> None:
        """Remember that there is no such object."""
        self._known.pop(identity, None)
        self._known[identity] = None
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]

    def __contains__(self, identity: Identity) -> bool:
        if identity not in self._known:
            return False
        # Those that are asked for stay.
        del self._known[identity]
        self._known[identity] = None
        return True

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<AbsentOwners {len(self._known)} of {self._most}>"
