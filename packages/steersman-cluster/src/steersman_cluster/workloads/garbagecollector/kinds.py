"""Which kinds there are whose objects can be owners and dependents. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from steersman.client import Discovery
from steersman.kinds import MetadataOnly, metadata_only
from steersman.names import ResourceType

# An event outlives what it is about, and ends by itself.
IGNORED: Final = frozenset((("", "events"), ("events.k8s.io", "events")))

_NEEDED: Final = frozenset(("delete", "list", "watch"))


# Group, version and plural. Quicker to look up than a ResourceType, and there are many lookups.
Place: TypeAlias = tuple[str, str, str]


def place_of(resource_type: ResourceType) -> Place:
    """Where the objects of a kind live."""
    return resource_type.gvk.group, resource_type.gvk.version, resource_type.plural


def collectable(discovery: Discovery) -> Iterator[ResourceType]:
    """Each kind that can be deleted, listed and watched, in the version that is preferred."""
    seen = set(IGNORED)
    for each in discovery.resources:
        found = each.resource_type
        resource = found.gvk.group, found.plural
        if resource not in seen and _NEEDED.issubset(each.verbs):
            seen.add(resource)
            yield found


def is_quiet(resource_type: ResourceType) -> bool:
    """Whether it is one of the server's own kinds that live in no namespace.

    Those by which kinds are defined are not: what comes with them is not quiet at all.
    """
    group = resource_type.gvk.group
    is_own = "." not in group or group.endswith(".k8s.io")
    return is_own and not resource_type.namespaced and group != "apiextensions.k8s.io"


class KnownKinds:
    """Where the objects of each kind live, by what references to them say."""

    def __init__(self, discovery: Discovery) -> None:
        self._places: Mapping[tuple[str, str], ResourceType] = {
            (each.resource_type.gvk.api_version, each.resource_type.gvk.kind): each.resource_type
            for each in discovery.resources
        }
        kinds = self._places.values()
        #: As CustomResourceDefinitions and APIServices are named after what they define.
        self.names = frozenset(
            [f"{each.plural}.{each.gvk.group}" for each in kinds]
            + [f"{each.gvk.version}.{each.gvk.group}" for each in kinds]
        )

    def find(self, api_version: str, kind: str) -> type[MetadataOnly] | None:
        """The class for the metadata of this kind's objects; ``None`` if nobody serves it."""
        found = self._places.get((api_version, kind))
        return None if found is None else metadata_only(found)
