"""The decision when to repeat discovery: if a CustomResourceDefinition or APIService changes."""

import asyncio
from typing import Final

from steersman.kinds import Resource, Unstructured
from steersman.names import ResourceType

#: The kinds whose objects define kinds, or groups of kinds.
DEFINING: Final = frozenset(
    (
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
    )
)

# A kind is served a moment after its definition exists, and sometimes never. The longest wait is
# the period of kube-controller-manager's garbage collector.
FIRST_SECONDS: Final = 0.25
MAX_SECONDS: Final = 30.0

# On APIServices for groups of the API server itself.
_OF_THE_SERVER: Final = "kube-aggregator.kubernetes.io/automanaged"


def defines(resource_type: ResourceType) -> bool:
    """Return whether the kind is CustomResourceDefinition or APIService.

    Objects of these two kinds define further kinds.
    """
    return (resource_type.gvk.group, resource_type.plural) in DEFINING


class Definitions:
    """A record of the CustomResourceDefinitions and APIServices of the cluster.

    The event ``changed`` is set when discovery has to be repeated.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self._served: frozenset[str] = frozenset()
        self._generations: dict[str, int] = {}
        self._foreign: dict[str, None] = {}
        self._waits = 0

    def update(self, obj: Resource | Unstructured) -> None:
        """Add or update ``obj``, a CustomResourceDefinition or an APIService."""
        name, generation = obj.name, obj.generation
        before = self._generations.get(name)
        self._generations[name] = generation
        if obj.resource_type.plural == "apiservices" and _OF_THE_SERVER not in obj.labels:
            self._foreign[name] = None
        if name not in self._served or before not in (None, generation):
            self._waits = 0
            self.changed.set()

    def remove(self, name: str) -> None:
        """Remove the CustomResourceDefinition or APIService with the name ``name``."""
        self._foreign.pop(name, None)
        if self._generations.pop(name, None) is not None:
            self._waits = 0
            self.changed.set()

    def set_served(self, names: frozenset[str]) -> None:
        """Store which CustomResourceDefinitions and APIServices define kinds that are served.

        ``names`` contains the names of these objects.
        """
        self._served = names

    def wait_seconds(self) -> float | None:
        """Return the delay after which discovery is repeated even if no object has changed.

        Return ``None`` if discovery has to be repeated only after a change.
        """
        if any(name not in self._served for name in self._generations):
            self._waits += 1
            return min(FIRST_SECONDS * 2.0 ** min(self._waits - 1, 16), MAX_SECONDS)
        # An aggregated server changes its kinds without an event.
        return MAX_SECONDS if self._foreign else None
