"""Tests of the code in the page about the work queue: the settings of a controller."""

from docs.code.concepts.queue_settings import controller
from docs.code.concepts.reconcile import Greeting, Spec
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import Cluster


async def test_queue_settings_do_not_change_the_result(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    await cluster.run_operator(controller)
    metadata = meta_v1.ObjectMeta(name="gold", labels={"tier": "gold"})

    await cluster.apply(Greeting(metadata=metadata, spec=Spec(name="Ada")))
    await cluster.settle()

    assert await cluster.find(core_v1.ConfigMap, "gold") is not None
