"""Tests of the code in the page about the work queue."""

import asyncio
from itertools import pairwise

import pytest

from docs.code.concepts.work_queue import work
from steersman.names import ObjectKey
from steersman.observe import ignore
from steersman.workqueue import LOW_PRIORITY, WorkQueue, default_limiter
from steersman_cluster.simulation import Cluster

pytestmark = pytest.mark.embedded_only  # needs virtual time

WEB, API, DB = (ObjectKey("default", name) for name in ("web", "api", "db"))


@pytest.fixture
async def queue(cluster: Cluster) -> WorkQueue[ObjectKey]:
    """An empty queue with the clock of the cluster."""
    clock, rng = cluster.clock, cluster.client.rng
    limiter = default_limiter(clock=clock, rng=rng)
    return WorkQueue("docs", limiter=limiter, clock=clock, observe=ignore)


async def test_a_key_added_during_its_reconcile_is_given_out_again(
    cluster: Cluster, queue: WorkQueue[ObjectKey]
) -> None:
    reconciled: list[ObjectKey] = []
    at_once = most_at_once = 0

    async def reconcile(key: ObjectKey) -> None:
        nonlocal at_once, most_at_once
        reconciled.append(key)
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        await cluster.clock.sleep(10)
        at_once -= 1

    async with asyncio.TaskGroup() as workers:
        for _ in range(3):
            workers.create_task(work(queue, reconcile))
        for second in range(5):  # five changes during the first reconcile
            queue.add(WEB)
            await cluster.clock.sleep(second)
        await queue.drain(finish_waiting=True)

    assert reconciled == [WEB, WEB]
    assert most_at_once == 1


async def test_a_failing_key_is_retried_with_a_growing_backoff(
    cluster: Cluster, queue: WorkQueue[ObjectKey]
) -> None:
    tried_at: list[float] = []

    async def reconcile(key: ObjectKey) -> None:
        tried_at.append(cluster.clock.monotonic())
        if len(tried_at) < 12:
            raise RuntimeError("not yet")

    async with asyncio.TaskGroup() as workers:
        workers.create_task(work(queue, reconcile))
        queue.add(WEB)
        await cluster.clock.sleep(60)
        queue.shut_down()

    waits = [later - earlier for earlier, later in pairwise(tried_at)]
    assert len(tried_at) == 12
    assert waits[0] == pytest.approx(0.005, rel=0.15)
    assert waits[-1] == pytest.approx(0.005 * 2**10, rel=0.15)
    assert queue.num_requeues(WEB) == 0


async def test_new_changes_come_before_initial_objects(
    queue: WorkQueue[ObjectKey],
) -> None:
    queue.add(DB, priority=LOW_PRIORITY)
    queue.add(API, priority=LOW_PRIORITY)
    queue.add(WEB)
    queue.add(WEB)

    given = [await queue.get() for _ in range(3)]

    assert given == [WEB, DB, API]
    assert queue.num_waiting == 0
