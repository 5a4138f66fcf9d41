"""StatefulSets and claims have the same result wherever their controllers crash."""

from steersman_cluster.simulation import (
    Cluster,
    Scenario,
    survives_concurrent_writes,
    survives_crashes,
    survives_late_caches,
)
from steersman_cluster.workloads import WorkloadSettings, statefulsets, volumes
from steersman_cluster.workloads.volumes.provisioner import standard_class
from tests.cluster.workloads.stateful import StatefulSet, claim, retention, stateful_set

SETTINGS = WorkloadSettings()


async def made_and_deleted(cluster: Cluster) -> None:
    await cluster.create(standard_class())
    policy = retention(when_deleted="Delete", when_scaled="Delete")
    await cluster.apply(
        stateful_set(1, claims=(claim(),), persistent_volume_claim_retention_policy=policy)
    )
    await cluster.settle()
    await cluster.delete(StatefulSet, "web")
    await cluster.settle()


SCENARIO = Scenario(
    operator=lambda: (*statefulsets.controllers(SETTINGS), *volumes.controllers(SETTINGS)),
    steps=made_and_deleted,
    workloads=WorkloadSettings(parts=("garbagecollector", "nodes", "scheduler")),
)


async def test_a_stateful_set_survives_the_crash_of_its_controllers_at_every_call() -> None:
    await survives_crashes(SCENARIO)


async def test_a_stateful_set_survives_what_users_write_while_its_controllers_are_down() -> None:
    await survives_concurrent_writes(SCENARIO)


async def test_a_stateful_set_survives_caches_that_are_late() -> None:
    await survives_late_caches(SCENARIO)
