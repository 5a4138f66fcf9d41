"""What the page about the work queue says of the settings of a controller."""

from docs.code.concepts.queue_settings import controller
from docs.code.concepts.reconcile import Greeting, Spec
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import Cluster


async def test_a_controller_with_settings_of_its_own_does_the_same_work(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    await cluster.run_operator(controller)
    metadata = meta_v1.ObjectMeta(name="gold", labels={"tier": "gold"})

    await cluster.apply(Greeting(metadata=metadata, spec=Spec(name="Ada")))
    await cluster.settle()

    assert await cluster.find(core_v1.ConfigMap, "gold") is not None
