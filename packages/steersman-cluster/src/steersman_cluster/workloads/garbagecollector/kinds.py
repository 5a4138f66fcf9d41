"""The kinds whose objects can be owners and dependents. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from steersman.client import Discovery
from steersman.kinds import MetadataOnly, metadata_only
from steersman.names import ResourceType

# Events have no owners, and expire.
IGNORED: Final = frozenset((("", "events"), ("events.k8s.io", "events")))

_NEEDED: Final = frozenset(("delete", "list", "watch"))


# Group, version and plural. Quicker to look up than a ResourceType, and there are many lookups.
KindKey: TypeAlias = tuple[str, str, str]


def kind_key(resource_type: ResourceType) -> KindKey:
    """Return the group, version and plural name of a kind, as a key for dictionaries."""
    return resource_type.gvk.group, resource_type.gvk.version, resource_type.plural


def deletable_kinds(discovery: Discovery) -> Iterator[ResourceType]:
    """Yield each kind in ``discovery`` that supports delete, list and watch.

    A kind that is served in several versions is yielded once, in its preferred version.
    """
    seen = set(IGNORED)
    for each in discovery.resources:
        found = each.resource_type
        resource = found.gvk.group, found.plural
        if resource not in seen and _NEEDED.issubset(each.verbs):
            seen.add(resource)
            yield found


def is_rarely_changed(resource_type: ResourceType) -> bool:
    """Return whether objects of the kind are rarely created, changed or deleted.

    This is assumed of all built-in cluster-scoped kinds except CustomResourceDefinition.
    """
    group = resource_type.gvk.group
    is_own = "." not in group or group.endswith(".k8s.io")
    return is_own and not resource_type.namespaced and group != "apiextensions.k8s.io"


class ServedKinds:
    """The kinds that the API server serves, by API version and kind."""

    def __init__(self, discovery: Discovery) -> None:
        self._places: Mapping[tuple[str, str], ResourceType] = {
            (each.resource_type.gvk.api_version, each.resource_type.gvk.kind): each.resource_type
            for each in discovery.resources
        }
        kinds = self._places.values()
        #: The names of CustomResourceDefinitions and APIServices that are served.
        self.names = frozenset(
            [f"{each.plural}.{each.gvk.group}" for each in kinds]
            + [f"{each.gvk.version}.{each.gvk.group}" for each in kinds]
        )

    def find(self, api_version: str, kind: str) -> type[MetadataOnly] | None:
        """Return the metadata class for the kind ``kind`` in the API version ``api_version``.

        Return ``None`` if the API server does not serve this kind.
        """
        found = self._places.get((api_version, kind))
        return None if found is None else metadata_only(found)
