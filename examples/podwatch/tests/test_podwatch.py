"""The work queue example, tested in one process: ``make test``."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest
import steersman as sm
from steersman.client import Client, MergePatch
from steersman.clock import SystemClock
from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.observe import ignore
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.apiserver import (
    ApiServer,
    InProcessTransport,
    NoWebhookTransport,
    RevisionLog,
)
from steersman_cluster.simulation import SimulatedCluster, simulate

from podwatch.podwatch import watch_pods, work

CLOCK = SystemClock()


def pod(name: str) -> core_v1.Pod:
    """A Pod of one container."""
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name, namespace="default"),
        spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="nginx"),)),
    )


async def printed(capsys: pytest.CaptureFixture[str], number: int) -> list[str]:
    """The next lines of output, sorted."""
    text = ""
    async with CLOCK.timeout(10.0):
        while text.count("\n") < number:
            text += capsys.readouterr().out
            await CLOCK.sleep(0.001)
    return sorted(text.splitlines())


async def test_the_worker_prints_each_change_of_a_pod(capsys: pytest.CaptureFixture[str]) -> None:
    rng = Random(0)
    server = ApiServer(
        log=RevisionLog(),
        tokens={},
        clock=CLOCK,
        rng=rng,
        observe=ignore,
        outbound=NoWebhookTransport(),
    )
    client = Client(InProcessTransport(server), clock=CLOCK, rng=rng, observe=ignore)
    await client.create(pod("first"))

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch_pods(client, observe=ignore))

        assert await printed(capsys, 2) == [
            "Pod default/mypod does not exist anymore",
            "Sync/Add/Update for Pod first",
        ]
        await client.create(pod("second"))
        assert await printed(capsys, 1) == ["Sync/Add/Update for Pod second"]
        label = MergePatch({"metadata": {"labels": {"tier": "front"}}})
        await client.patch(core_v1.Pod, "second", label, namespace="default")
        assert await printed(capsys, 1) == ["Sync/Add/Update for Pod second"]
        await client.delete(core_v1.Pod, "first", namespace="default", grace_seconds=0)
        assert await printed(capsys, 1) == ["Pod default/first does not exist anymore"]
        watching.cancel()


def test_after_ten_kills_the_worker_prints_every_pod(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = Random(10)
    podwatch = sm.Runnable(lambda services: watch_pods(services.client, observe=services.observe))

    async def steps(cluster: SimulatedCluster) -> None:
        for number in range(10):
            running = await cluster.run_operator(runnables=[podwatch])
            await cluster.create(pod(f"web-{number}"))
            await cluster.clock.sleep(rng.random() * 0.02)
            await running.kill()
        capsys.readouterr()
        await cluster.run_operator(runnables=[podwatch])
        await cluster.settle()

    simulate(steps)

    printed_lines = set(capsys.readouterr().out.splitlines())
    there = {f"Sync/Add/Update for Pod web-{number}" for number in range(10)}
    assert printed_lines == {"Pod default/mypod does not exist anymore", *there}


def failing(times: int) -> Callable[[ObjectKey], None]:
    """Business logic that fails this many times and then succeeds."""
    failures = iter(range(times))

    def sync(key: ObjectKey) -> None:
        if next(failures, None) is not None:
            raise RuntimeError("no luck")
        print(f"Sync/Add/Update for Pod {key.name}")

    return sync


@pytest.mark.parametrize(
    ("failures", "last"),
    [
        (5, "Sync/Add/Update for Pod web"),
        (6, "Dropping Pod default/web out of the queue: no luck"),
    ],
)
async def test_a_failing_key_is_retried_five_times_and_then_dropped(
    capsys: pytest.CaptureFixture[str], failures: int, last: str
) -> None:
    limiter = default_limiter(clock=CLOCK, rng=Random(0))
    queue = WorkQueue[ObjectKey]("pods", limiter=limiter, clock=CLOCK, observe=ignore)
    queue.add(ObjectKey("default", "web"))

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(work(queue, failing(failures)))
        lines = await printed(capsys, 6)
        queue.shut_down()

    assert lines == sorted(5 * ["Error syncing Pod default/web: no luck"] + [last])
    assert queue.num_requeues(ObjectKey("default", "web")) == 0
