"""The Deployment and ReplicaSet controllers reach the same state wherever they crash."""

from steersman.client import MergePatch
from steersman.kinds import apps_v1
from steersman_cluster.simulation import (
    Cluster,
    Scenario,
    survives_concurrent_writes,
    survives_crashes,
    survives_late_caches,
)
from steersman_cluster.workloads import WorkloadSettings, workloads
from tests.cluster.workloads.replicated import PARTS
from tests.real.deployment_scenarios import WEB, deployment

NEW = {"spec": {"template": {"spec": {"containers": [{"name": WEB, "image": "web:2"}]}}}}


async def rollout(cluster: Cluster) -> None:
    await cluster.create(deployment(replicas=1))
    await cluster.settle()
    await cluster.patch(apps_v1.Deployment, WEB, MergePatch(NEW))
    await cluster.settle()


SCENARIO = Scenario(
    operator=lambda: workloads(WorkloadSettings(parts=PARTS, nodes=0)).controllers,
    steps=rollout,
    workloads=WorkloadSettings(parts=("nodes", "scheduler"), nodes=1),
)


async def test_a_rollout_survives_a_crash_of_its_controllers_at_every_call() -> None:
    await survives_crashes(SCENARIO)


async def test_a_rollout_survives_writes_of_users_while_its_controllers_are_down() -> None:
    await survives_concurrent_writes(SCENARIO)


async def test_a_rollout_survives_late_events() -> None:
    await survives_late_caches(SCENARIO)
