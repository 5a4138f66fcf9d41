"""The Python classes with which the resource quota controller watches counted objects."""

from typing import Any, Final

from steersman.cache import Caches
from steersman.client import Client, Discovery
from steersman.kinds import Unstructured, core_v1, metadata_only
from steersman.names import GroupResource
from steersman_cluster.workloads.quotas.evaluators import CLAIMS, PODS, SERVICES

# Usage depends on the content of these, and of all others only on their existence.
_WHOLE: Final[dict[GroupResource, type[Any]]] = {
    PODS: core_v1.Pod,
    SERVICES: core_v1.Service,
    CLAIMS: core_v1.PersistentVolumeClaim,
}
_NEEDED: Final = frozenset(("create", "delete", "list", "watch"))


class CountedKinds:
    """A finder for the Python class of a kind, with as few discovery requests as possible."""

    def __init__(self, client: Client, caches: Caches) -> None:
        self._client = client
        self._caches = caches
        self._discovery: Discovery | None = None

    async def find(self, resource: GroupResource) -> type[Any] | None:
        """Return the class with which to watch ``resource``.

        Return ``None`` if the API server does not serve this kind.
        """
        if resource in _WHOLE:
            return _WHOLE[resource]
        found = self._found(resource)
        if found is None:
            self._discovery = await self._client.discover()
            found = self._found(resource)
        return found

    def forget(self) -> None:
        """Drop the cached discovery result, so that the next lookup repeats discovery."""
        self._discovery = None

    def _found(self, resource: GroupResource) -> type[Any] | None:
        for each in self._discovery.resources if self._discovery is not None else ():
            there = each.resource_type
            if (there.gvk.group, there.plural) == (resource.group, resource.resource):
                is_counted = there.namespaced and _NEEDED.issubset(each.verbs)
                return self._shared(there.gvk) or metadata_only(there) if is_counted else None
        return None

    def _shared(self, gvk: object) -> type[Any] | None:
        """Return the class of an informer in this process that caches all objects of the kind."""
        for each in self._caches.informers:
            if (
                each.kind.resource_type.gvk == gvk
                and not each.scope.namespaces
                and not each.scope.is_limited
                and not issubclass(each.kind, Unstructured)
            ):
                return each.kind
        return None
