"""Tests of the code in the page about the informer."""

from docs.code.concepts.informer import pods
from steersman import recipes
from steersman.kinds import core_v1
from steersman.observe import ignore
from steersman_cluster.simulation import Cluster


def pod(name: str) -> core_v1.Pod:
    return recipes.pod(name, core_v1.Container(name="main", image="nginx"))


async def test_a_handler_gets_existing_objects_first_and_then_changes(cluster: Cluster) -> None:
    logged: list[str] = []
    await cluster.create(pod("web"))
    await cluster.settle()

    informer = pods(cluster.client, logged.append, namespace=cluster.namespace, observe=ignore)
    async with informer.running():
        await cluster.create(pod("api"))
        await cluster.settle()
        await cluster.delete(core_v1.Pod, "web")
        await cluster.settle()

    assert logged[0] == "web is there; all: ['web']"
    assert logged[1] == "api is there; all: ['api', 'web']"
    assert "api Pending -> Running" in logged
    assert logged[-1] == "web is gone; all: ['api']"
