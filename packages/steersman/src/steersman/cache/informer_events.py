"""The observations that an informer reports."""

from steersman.names import ObjectKey, ObjectRef, ResourceType
from steersman.observe import (
    CacheChecked,
    CacheEnded,
    CacheStale,
    CacheSynced,
    IndexFailed,
    Observer,
)


class InformerEvents:
    """Reports the observations of one cache to an observer."""

    def __init__(self, observe: Observer, *, resource_type: ResourceType, scope: str) -> None:
        self._observe = observe
        self._kind = resource_type.gvk.kind
        self._resource = resource_type.plural
        self._scope = scope

    def synced(self, objects: int) -> None:
        """Report that the cache has synced, with ``objects`` objects."""
        self._observe(CacheSynced(resource=self._resource, scope=self._scope, objects=objects))

    def checked(
        self,
        *,
        objects: int,
        decode_failures: int,
        pending_notifications: int,
        failing_seconds: float,
    ) -> None:
        """Report the given sizes of the cache, at its periodic check."""
        self._observe(
            CacheChecked(
                resource=self._resource,
                scope=self._scope,
                objects=objects,
                decode_failures=decode_failures,
                pending_notifications=pending_notifications,
                failing_seconds=failing_seconds,
            )
        )

    def stale(self, failing_seconds: float, error: Exception | None) -> None:
        """Report that the lists or watches of the cache have failed for too long."""
        self._observe(
            CacheStale(
                resource=self._resource,
                scope=self._scope,
                failing_seconds=failing_seconds,
                error=error,
            )
        )

    def ended(self) -> None:
        """Report that the cache is no longer updated."""
        self._observe(CacheEnded(resource=self._resource, scope=self._scope))

    def index_failed(self, index: str, key: ObjectKey, error: Exception) -> None:
        """Report that an index function raised an exception."""
        ref = ObjectRef(self._kind, key.namespace, key.name)
        self._observe(IndexFailed(resource=self._resource, ref=ref, index=index, error=error))
