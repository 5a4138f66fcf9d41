"""A finalizer: deletes a bucket in an external store before its object is removed."""

import steersman as sm


class Spec(sm.Part):
    """The desired state."""

    size_gb: int = 1


class Bucket(sm.CustomResource[Spec, sm.Part], group="store.example.com", version="v1"):
    """A bucket in an external store."""


class Store:
    """The store. Its API is idempotent."""

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
        return sm.Done()  # steersman removes the finalizer

    return sm.Controller(Bucket, reconcile=reconcile, finalize=finalize)
