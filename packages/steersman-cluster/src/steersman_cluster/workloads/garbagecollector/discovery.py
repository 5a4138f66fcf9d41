"""When to ask anew what the server serves: as soon as a kind is defined, or no longer is."""

import asyncio
from typing import Final

from steersman.kinds import Resource, Unstructured
from steersman.names import ResourceType

#: What kinds are defined by, and what whole groups of kinds come from.
DEFINING: Final = frozenset(
    (
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
    )
)

# A kind is served a moment after its definition is there, and sometimes never. The longest wait is
# that of Kubernetes' own collector, which always asks so often.
FIRST_SECONDS: Final = 0.25
LONGEST_SECONDS: Final = 30.0

# On an APIService that stands for kinds of the API server itself.
_OF_THE_SERVER: Final = "kube-aggregator.kubernetes.io/automanaged"


def defines(resource_type: ResourceType) -> bool:
    """Whether the objects of this kind say which kinds there are."""
    return (resource_type.gvk.group, resource_type.plural) in DEFINING


class Definitions:
    """Knows which kinds should be served, and notices when that changes."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self._served: frozenset[str] = frozenset()
        self._generations: dict[str, int] = {}
        self._foreign: dict[str, None] = {}
        self._waits = 0

    def saw(self, obj: Resource | Unstructured) -> None:
        """A definition is there."""
        name, generation = obj.name, obj.generation
        before = self._generations.get(name)
        self._generations[name] = generation
        if obj.resource_type.plural == "apiservices" and _OF_THE_SERVER not in obj.labels:
            self._foreign[name] = None
        if name not in self._served or before not in (None, generation):
            self._waits = 0
            self.changed.set()

    def went(self, name: str) -> None:
        """A definition is gone."""
        self._foreign.pop(name, None)
        if self._generations.pop(name, None) is not None:
            self._waits = 0
            self.changed.set()

    def are_served(self, names: frozenset[str]) -> None:
        """These are the names of all that is served."""
        self._served = names

    def wait_seconds(self) -> float | None:
        """How long until it is worth asking again although nothing was heard; ``None``: never."""
        if any(name not in self._served for name in self._generations):
            self._waits += 1
            return min(FIRST_SECONDS * 2.0 ** min(self._waits - 1, 16), LONGEST_SECONDS)
        # What another server serves, only that server knows.
        return LONGEST_SECONDS if self._foreign else None
