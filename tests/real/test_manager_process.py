"""An operator as a process: its signals, its exit status, and what it leaves.

The operator is ``tests/real/lone_operator.py``.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steersman.client import Client
from steersman.clock import SystemClock
from steersman.kinds import coordination_v1, core_v1, meta_v1
from steersman.manager.manager import LAST_SECONDS
from steersman_cluster.testing import RealControlPlane
from tests.real.lone_operator import RUNNING

ROOT = Path(__file__).parents[2]
CLOCK = SystemClock()

START_SECONDS = 60.0

# A process that does not wait for it has ended long before.
GRACE_SECONDS = 60.0

# Longer than any machine stutters: a lease is given back within the last of these, or not at all.
RHYTHM = {"lease-seconds": 60, "renew-seconds": 40, "retry-seconds": 20}

# What a machine under load may add to any time that is measured here.
SLACK_SECONDS = 20.0


class Lone:
    """The operator's process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._said: list[str] = []

    async def said(self, words: str) -> None:
        """Wait until it has said this."""
        assert self._process.stdout is not None
        async with CLOCK.timeout(START_SECONDS):
            async for line in self._process.stdout:
                self._said.append(line.decode())
                if words in self._said[-1]:
                    return
        raise AssertionError("".join(self._said))

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def ended(self, *, within_seconds: float) -> tuple[int | None, str]:
        """Its exit status, and all that it has said, once it has ended."""
        try:
            async with CLOCK.timeout(within_seconds):
                rest, _ = await self._process.communicate()
        except TimeoutError:
            raise AssertionError("it goes on:\n" + "".join(self._said)) from None
        return self._process.returncode, "".join(self._said) + rest.decode()


@asynccontextmanager
async def lone(
    manner: str, plane: RealControlPlane, namespace: str, **settings: float
) -> AsyncIterator[Lone]:
    """The operator, until the block ends or it does."""
    flags = {
        "kubeconfig": plane.kubeconfig,
        "namespaces": namespace,
        "lease-namespace": namespace,
        "health-address": "",
        "metrics-address": "",
        "preflight": "off",
        **RHYTHM,
        **{name.replace("_", "-"): each for name, each in settings.items()},
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.real.lone_operator",
        manner,
        *(f"--{name}={value}" for name, value in flags.items()),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Lone(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
async def target(client: Client, namespace: str) -> str:
    """The namespace of something to work on."""
    meta = meta_v1.ObjectMeta(name="target", namespace=namespace, labels={"for": "lone-operator"})
    await client.create(core_v1.ConfigMap(metadata=meta))
    return namespace


async def holder(client: Client, namespace: str) -> str | None:
    (lease,) = [each async for each in client.iterate(coordination_v1.Lease, namespace=namespace)]
    return lease.spec.holder_identity if lease.spec else None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_an_operator_gracefully_and_releases_its_lease(
    client: Client, control_plane: RealControlPlane, target: str, number: signal.Signals
) -> None:
    async with lone("obedient", control_plane, target, grace_seconds=GRACE_SECONDS) as operator:
        await operator.said(RUNNING)
        assert await holder(client, target)

        operator.signal(number)
        status, said = await operator.ended(within_seconds=SLACK_SECONDS)

    assert status == 0, said
    assert not await holder(client, target)
    assert "root logger: 30 []" in said, "and unchanged"


@pytest.mark.parametrize("manner", ["endless", "hanging"])
async def test_a_reconcile_beyond_the_grace_period_is_abandoned_and_the_lease_is_released(
    client: Client, control_plane: RealControlPlane, target: str, manner: str
) -> None:
    async with lone(manner, control_plane, target, grace_seconds=0.5) as operator:
        await operator.said(RUNNING)
        operator.signal(signal.SIGTERM)
        status, said = await operator.ended(within_seconds=0.5 + SLACK_SECONDS)

    assert status == 0, said
    assert "work in hand did not stop within 500 ms" in said
    assert not await holder(client, target)


@pytest.mark.parametrize("manner", ["endless", "deaf"])
async def test_a_second_signal_ends_an_operator_immediately(
    control_plane: RealControlPlane, target: str, manner: str
) -> None:
    async with lone(manner, control_plane, target, grace_seconds=GRACE_SECONDS) as operator:
        await operator.said(RUNNING)
        operator.signal(signal.SIGINT)
        # The kernel may merge two signals of the same kind.
        await operator.said("received SIGINT")
        operator.signal(signal.SIGINT)
        status, said = await operator.ended(within_seconds=SLACK_SECONDS)

    assert status == 128 + signal.SIGINT, said


async def test_a_second_signal_stops_an_operator_with_a_blocked_event_loop(
    control_plane: RealControlPlane, target: str
) -> None:
    async with lone("blocking", control_plane, target, grace_seconds=GRACE_SECONDS) as operator:
        await operator.said(RUNNING)
        # It cannot confirm the first; two of different kinds are never made one.
        operator.signal(signal.SIGINT)
        operator.signal(signal.SIGTERM)
        status, said = await operator.ended(within_seconds=SLACK_SECONDS)

    # The one that it received last.
    assert status in {128 + signal.SIGINT, 128 + signal.SIGTERM}, said


@pytest.mark.parametrize("manner", ["deaf", "waiting"])
async def test_a_task_that_ignores_its_cancellation_is_ended_by_force(
    control_plane: RealControlPlane, target: str, manner: str
) -> None:
    async with lone(manner, control_plane, target, grace_seconds=0.5) as operator:
        await operator.said(RUNNING)
        operator.signal(signal.SIGTERM)
        status, said = await operator.ended(within_seconds=LAST_SECONDS + SLACK_SECONDS)

    assert status == 1, said
    assert "s after the request to stop, a task still runs" in said


async def test_an_invalid_setting_is_a_usage_error(
    control_plane: RealControlPlane, namespace: str
) -> None:
    async with lone("obedient", control_plane, namespace, lease_seconds=3) as operator:
        status, said = await operator.ended(within_seconds=START_SECONDS)

    assert status == 2
    assert said.count("\n") == 1, "one line, and no trace"
