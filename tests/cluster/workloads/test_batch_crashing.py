"""The controllers of Jobs and CronJobs, crashed at each of their calls."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from steersman.client import MergePatch
from steersman_cluster.simulation import Built, Scenario, World, survives_crashes
from steersman_cluster.workloads import WorkloadSettings, cronjobs, jobs
from tests.cluster.workloads.batch import Job, cron_job, job

Story: TypeAlias = Callable[[World], Awaitable[None]]

EVERYWHERE = WorkloadSettings()
NODES = WorkloadSettings(parts=("nodes", "scheduler"))
# Nobody runs the Pods.
NOBODY = WorkloadSettings(parts=())


async def succeeding(world: World) -> None:
    await world.create(job(parallelism=2, completions=2))
    await world.settle()


async def failing(world: World) -> None:
    await world.create(job(backoff_limit=0, runs={"exit-code": "1"}))
    await world.settle()


async def indexed(world: World) -> None:
    await world.create(job(parallelism=2, completions=2, completion_mode="Indexed"))
    await world.settle()


async def suspended(world: World) -> None:
    await world.create(job())
    await world.settle()
    await world.patch(Job, "work", MergePatch({"spec": {"suspend": True}}))
    await world.settle()


@pytest.mark.parametrize(
    ("story", "beside"),
    [(succeeding, NODES), (failing, NODES), (indexed, NODES), (suspended, NOBODY)],
)
async def test_a_job_comes_to_the_same_wherever_its_controller_crashes(
    story: Story, beside: WorkloadSettings
) -> None:
    def build() -> Built:
        return jobs.controllers(EVERYWHERE)

    await survives_crashes(Scenario(operator=build, story=story, workloads=beside))


async def test_a_cron_job_comes_to_the_same_wherever_its_controller_crashes() -> None:
    async def story(world: World) -> None:
        await world.create(cron_job("*/10 * * * *"))
        await world.advance(700.0)
        await world.settle()

    def build() -> Built:
        return cronjobs.controllers(EVERYWHERE)

    await survives_crashes(
        Scenario(
            operator=build,
            story=story,
            workloads=WorkloadSettings(parts=("jobs", "nodes", "scheduler")),
        )
    )
