"""The controllers of Jobs and CronJobs crash at each of their requests."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from steersman.client import MergePatch
from steersman_cluster.simulation import Built, Cluster, Scenario, survives_crashes
from steersman_cluster.workloads import WorkloadSettings, cronjobs, jobs
from tests.cluster.workloads.batch import Job, cron_job, job

Steps: TypeAlias = Callable[[Cluster], Awaitable[None]]

EVERYWHERE = WorkloadSettings()
NODES = WorkloadSettings(parts=("nodes", "scheduler"))
# No kubelet runs the Pods.
NO_PARTS = WorkloadSettings(parts=())


async def succeeding(cluster: Cluster) -> None:
    await cluster.create(job(parallelism=2, completions=2))
    await cluster.settle()


async def failing(cluster: Cluster) -> None:
    await cluster.create(job(backoff_limit=0, runs={"exit-code": "1"}))
    await cluster.settle()


async def indexed(cluster: Cluster) -> None:
    await cluster.create(job(parallelism=2, completions=2, completion_mode="Indexed"))
    await cluster.settle()


async def suspended(cluster: Cluster) -> None:
    await cluster.create(job())
    await cluster.settle()
    await cluster.patch(Job, "work", MergePatch({"spec": {"suspend": True}}))
    await cluster.settle()


@pytest.mark.parametrize(
    ("steps", "beside"),
    [(succeeding, NODES), (failing, NODES), (indexed, NODES), (suspended, NO_PARTS)],
)
async def test_a_job_has_the_same_result_wherever_its_controller_crashes(
    steps: Steps, beside: WorkloadSettings
) -> None:
    def build() -> Built:
        return jobs.controllers(EVERYWHERE)

    await survives_crashes(Scenario(operator=build, steps=steps, workloads=beside))


async def test_a_cron_job_has_the_same_result_wherever_its_controller_crashes() -> None:
    async def steps(cluster: Cluster) -> None:
        await cluster.create(cron_job("*/10 * * * *"))
        await cluster.advance(700.0)
        await cluster.settle()

    def build() -> Built:
        return cronjobs.controllers(EVERYWHERE)

    await survives_crashes(
        Scenario(
            operator=build,
            steps=steps,
            workloads=WorkloadSettings(parts=("jobs", "nodes", "scheduler")),
        )
    )
