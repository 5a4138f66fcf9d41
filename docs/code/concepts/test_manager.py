"""Tests of the code in the page about the manager."""

import pytest

import steersman as sm
from docs.code.concepts.manager import manager
from docs.code.concepts.reconcile import Greeting, Spec
from steersman.kinds import coordination_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Operator


async def replica(cluster: Cluster, name: str) -> Operator:
    return await cluster.run_operator(
        *manager.controllers,
        runnables=manager.runnables,
        name=name,
        settings=sm.ManagerSettings(
            lease_namespace="default", health_address="", metrics_address=""
        ),
    )


async def holder(cluster: Cluster) -> str:
    lease = await cluster.get(coordination_v1.Lease, "greeting.hello.example.com")
    return (lease.spec.holder_identity or "") if lease.spec is not None else ""


@pytest.mark.embedded_only
async def test_when_the_leader_is_killed_another_replica_takes_over(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    first = await replica(cluster, "first")
    await cluster.settle()
    leader = await holder(cluster)
    await replica(cluster, "second")
    await cluster.settle()
    before = await holder(cluster)

    await first.kill()
    await cluster.apply(Greeting(metadata=meta_v1.ObjectMeta(name="late"), spec=Spec(name="Ada")))
    await cluster.advance(seconds=30)
    await cluster.settle()

    assert before == leader
    assert await holder(cluster) not in ("", leader)
    assert await cluster.find(core_v1.ConfigMap, "late") is not None
    assert await cluster.find(core_v1.ConfigMap, "greeter") is not None


@pytest.mark.embedded_only
async def test_a_stopped_replica_releases_its_lease(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    first = await replica(cluster, "first")
    await cluster.settle()

    await first.stop()

    assert await holder(cluster) == ""
