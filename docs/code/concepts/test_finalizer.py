"""Tests of the code in the page about finalizers."""

from docs.code.concepts.finalizer import Bucket, Spec, Store, controller
from steersman.kinds import meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes


def bucket() -> Bucket:
    return Bucket(metadata=meta_v1.ObjectMeta(name="logs"), spec=Spec(size_gb=5))


async def test_an_object_deleted_without_an_operator_is_finalized_later(cluster: Cluster) -> None:
    store = Store()
    await cluster.install(Bucket)
    operator = await cluster.run_operator(controller(store))
    await cluster.apply(bucket())
    await cluster.settle()
    await operator.stop()

    await cluster.delete(Bucket, "logs")
    await cluster.settle()
    waiting = await cluster.get(Bucket, "logs")
    kept = [*store.buckets.values()]
    await cluster.run_operator(controller(store))
    await cluster.settle()

    assert waiting.deletion_time is not None
    assert waiting.metadata.finalizers == ("store.example.com/bucket",)
    assert kept == [5]
    assert await cluster.find(Bucket, "logs") is None
    assert store.buckets == {}


async def life_of_a_bucket(cluster: Cluster) -> None:
    await cluster.apply(bucket())
    await cluster.settle()
    await cluster.delete(Bucket, "logs")
    await cluster.settle()


async def test_no_bucket_remains_wherever_the_operator_crashes() -> None:
    await survives_crashes(
        Scenario(
            operator=lambda store: [controller(store)],
            outside=Store,
            kinds=[Bucket],
            steps=life_of_a_bucket,
        )
    )
