"""The process of an operator: its signals, its exit status and its lease.

The operator is ``tests/real/operator_process.py``.
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
from tests.real.operator_process import RUNNING

ROOT = Path(__file__).parents[2]
CLOCK = SystemClock()

START_SECONDS = 60.0

# Longer than SLACK_SECONDS, so a process that ends earlier did not wait for it.
GRACE_SECONDS = 60.0

# Longer than SLACK_SECONDS, so the lease cannot expire during a test: the operator releases it.
LEASE_SETTINGS = {"lease-seconds": 60, "renew-seconds": 40, "retry-seconds": 20}

# The delay that a loaded machine may add to any measured time.
SLACK_SECONDS = 20.0


class OperatorProcess:
    """The operator's process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._output: list[str] = []

    async def wait_for_output(self, text: str) -> None:
        """Wait until a line of its output contains ``text``."""
        assert self._process.stdout is not None
        async with CLOCK.timeout(START_SECONDS):
            async for line in self._process.stdout:
                self._output.append(line.decode())
                if text in self._output[-1]:
                    return
        raise AssertionError("".join(self._output))

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def wait(self, *, within_seconds: float) -> tuple[int | None, str]:
        """Wait until it exits; returns its exit status and output."""
        try:
            async with CLOCK.timeout(within_seconds):
                rest, _ = await self._process.communicate()
        except TimeoutError:
            raise AssertionError("still running:\n" + "".join(self._output)) from None
        return self._process.returncode, "".join(self._output) + rest.decode()


@asynccontextmanager
async def operator_process(
    behavior: str, plane: RealControlPlane, namespace: str, **settings: float
) -> AsyncIterator[OperatorProcess]:
    """Run the operator until the block ends."""
    flags = {
        "kubeconfig": plane.kubeconfig,
        "namespaces": namespace,
        "lease-namespace": namespace,
        "health-address": "",
        "metrics-address": "",
        "preflight": "off",
        **LEASE_SETTINGS,
        **{name.replace("_", "-"): each for name, each in settings.items()},
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.real.operator_process",
        behavior,
        *(f"--{name}={value}" for name, value in flags.items()),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield OperatorProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
async def target(client: Client, namespace: str) -> str:
    """The namespace of a ConfigMap that the operator reconciles."""
    meta = meta_v1.ObjectMeta(
        name="target", namespace=namespace, labels={"for": "operator-process"}
    )
    await client.create(core_v1.ConfigMap(metadata=meta))
    return namespace


async def holder(client: Client, namespace: str) -> str | None:
    (lease,) = [each async for each in client.iterate(coordination_v1.Lease, namespace=namespace)]
    return lease.spec.holder_identity if lease.spec else None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_an_operator_gracefully_and_releases_its_lease(
    client: Client, control_plane: RealControlPlane, target: str, number: signal.Signals
) -> None:
    async with operator_process(
        "stops_at_once", control_plane, target, grace_seconds=GRACE_SECONDS
    ) as operator:
        await operator.wait_for_output(RUNNING)
        assert await holder(client, target)

        operator.signal(number)
        status, output = await operator.wait(within_seconds=SLACK_SECONDS)

    assert status == 0, output
    assert not await holder(client, target)
    assert "root logger: 30 []" in output, "unchanged"


@pytest.mark.parametrize("behavior", ["runs_until_cancelled", "blocks_thread"])
async def test_a_reconcile_beyond_the_grace_period_is_abandoned_and_the_lease_is_released(
    client: Client, control_plane: RealControlPlane, target: str, behavior: str
) -> None:
    async with operator_process(behavior, control_plane, target, grace_seconds=0.5) as operator:
        await operator.wait_for_output(RUNNING)
        operator.signal(signal.SIGTERM)
        status, output = await operator.wait(within_seconds=0.5 + SLACK_SECONDS)

    assert status == 0, output
    assert "work in hand did not stop within 500 ms" in output
    assert not await holder(client, target)


@pytest.mark.parametrize("behavior", ["runs_until_cancelled", "ignores_cancellation"])
async def test_a_second_signal_ends_an_operator_immediately(
    control_plane: RealControlPlane, target: str, behavior: str
) -> None:
    async with operator_process(
        behavior, control_plane, target, grace_seconds=GRACE_SECONDS
    ) as operator:
        await operator.wait_for_output(RUNNING)
        operator.signal(signal.SIGINT)
        # The kernel may merge two signals of the same kind.
        await operator.wait_for_output("received SIGINT")
        operator.signal(signal.SIGINT)
        status, output = await operator.wait(within_seconds=SLACK_SECONDS)

    assert status == 128 + signal.SIGINT, output


async def test_a_second_signal_stops_an_operator_with_a_blocked_event_loop(
    control_plane: RealControlPlane, target: str
) -> None:
    async with operator_process(
        "blocks_event_loop", control_plane, target, grace_seconds=GRACE_SECONDS
    ) as operator:
        await operator.wait_for_output(RUNNING)
        # It cannot report the first signal. The kernel does not merge two of different kinds.
        operator.signal(signal.SIGINT)
        operator.signal(signal.SIGTERM)
        status, output = await operator.wait(within_seconds=SLACK_SECONDS)

    # Either signal may arrive last.
    assert status in {128 + signal.SIGINT, 128 + signal.SIGTERM}, output


@pytest.mark.parametrize("behavior", ["ignores_cancellation", "leaves_thread"])
async def test_a_task_that_ignores_its_cancellation_is_ended_by_force(
    control_plane: RealControlPlane, target: str, behavior: str
) -> None:
    async with operator_process(behavior, control_plane, target, grace_seconds=0.5) as operator:
        await operator.wait_for_output(RUNNING)
        operator.signal(signal.SIGTERM)
        status, output = await operator.wait(within_seconds=LAST_SECONDS + SLACK_SECONDS)

    assert status == 1, output
    assert "s after the request to stop, a task still runs" in output


async def test_an_invalid_setting_is_a_usage_error(
    control_plane: RealControlPlane, namespace: str
) -> None:
    async with operator_process(
        "stops_at_once", control_plane, namespace, lease_seconds=3
    ) as operator:
        status, output = await operator.wait(within_seconds=START_SECONDS)

    assert status == 2
    assert output.count("\n") == 1, "one line, and no traceback"
