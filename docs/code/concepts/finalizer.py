"""A finalizer: what is outside of the cluster is cleaned up before the object goes."""

import steersman as sm


class Spec(sm.Part):
    """The desired state."""

    size_gb: int = 1


class Bucket(sm.CustomResource[Spec, sm.Part], group="store.example.com", version="v1"):
    """A bucket in a store that Kubernetes knows nothing of."""


class Store:
    """The store, with an API that can be asked twice for the same."""

    def __init__(self) -> None:
        self.buckets: dict[str, int] = {}

    async def ensure(self, name: str, size_gb: int) -> None:
        self.buckets[name] = size_gb

    async def remove(self, name: str) -> None:
        self.buckets.pop(name, None)


def controller(store: Store) -> sm.Controller[Bucket]:
    async def reconcile(bucket: Bucket, ctx: sm.Context) -> sm.Outcome:
        await store.ensure(bucket.uid, bucket.spec.size_gb)
        return sm.Done()

    async def finalize(bucket: Bucket, ctx: sm.Context) -> sm.Outcome:
        await store.remove(bucket.uid)
        return sm.Done()  # and only then the object goes

    return sm.Controller(Bucket, reconcile=reconcile, finalize=finalize)
