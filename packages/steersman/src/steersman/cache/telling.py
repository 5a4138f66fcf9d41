"""What an informer tells its observer: one line here for each thing worth knowing."""

from steersman.names import ObjectKey, ObjectRef, ResourceType
from steersman.observe import (
    CacheEnded,
    CacheLookedAfter,
    CacheStale,
    CacheSynced,
    IndexFailed,
    Observer,
)


class Teller:
    """Knows which cache it is about, and whom to tell."""

    def __init__(self, observe: Observer, *, resource_type: ResourceType, scope: str) -> None:
        self._observe = observe
        self._kind = resource_type.gvk.kind
        self._resource = resource_type.plural
        self._scope = scope

    def synced(self, objects: int) -> None:
        """It is whole."""
        self._observe(CacheSynced(resource=self._resource, scope=self._scope, objects=objects))

    def looked_after(self, *, objects: int, refused: int, untold: int, lost_seconds: float) -> None:
        """How it stands."""
        self._observe(
            CacheLookedAfter(
                resource=self._resource,
                scope=self._scope,
                objects=objects,
                refused=refused,
                untold=untold,
                lost_seconds=lost_seconds,
            )
        )

    def stale(self, lost_seconds: float, error: Exception | None) -> None:
        """It has been unable to follow for too long."""
        self._observe(
            CacheStale(
                resource=self._resource, scope=self._scope, lost_seconds=lost_seconds, error=error
            )
        )

    def ended(self) -> None:
        """It is no longer kept up to date."""
        self._observe(CacheEnded(resource=self._resource, scope=self._scope))

    def index_failed(self, index: str, key: ObjectKey, error: Exception) -> None:
        """An index function raised."""
        ref = ObjectRef(self._kind, key.namespace, key.name)
        self._observe(IndexFailed(resource=self._resource, ref=ref, index=index, error=error))
