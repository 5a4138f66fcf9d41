"""``python -m tests.real.failover.external_writes``: a former leader's writes outside the cluster.

Each of two replicas reaches the real API server through its own proxy, and writes to a store
outside the cluster. The leader is paused (SIGSTOP, SIGCONT), or its proxy is cut off, until the
other replica has written. The program counts what the former leader does after that write:
reconciles that it starts, and writes. PYTHONPATH selects the version of steersman under test.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from steersman.clock import SystemClock
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ignore
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox, tail
from tests.real.clients import connected
from tests.real.failover.rounds import NAMESPACE, ROOT, SHORT_LEASE, USERS, LeaseTimings
from tests.real.failover.store import Store, running_store
from tests.real.relay import Relay, relay_to

Fault = Literal["stopped", "cut off"]

TARGETS = 30

# Both replicas run for this long after the fault: the old leader has then noticed its loss.
AFTER_SECONDS = 1.5

MAX_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LateActions:
    """The actions of a former leader after the new leader's first write."""

    fault: Fault
    old: str
    begun: int
    wrote: int
    failover_seconds: float


class FailoverSetup:
    """Both replicas, their proxies to the server, and the store."""

    def __init__(
        self, plane: RealControlPlane, store: Store, sandbox: Sandbox, timings: LeaseTimings
    ) -> None:
        self.plane = plane
        self.store = store
        self.clock = SystemClock()
        self.relays: dict[str, Relay] = {}
        self._sandbox = sandbox
        self._timings = timings
        self._replicas: dict[str, subprocess.Popen[bytes]] = {}

    async def fail_over(self, fault: Fault, *, rng: Random) -> LateActions:
        """Cause one failover."""
        old = await self._leader()
        # At a random moment of its work.
        await self.clock.sleep(rng.uniform(0.0, 0.5))
        began_at = self.clock.monotonic()
        if fault == "stopped":
            self._replicas[old].send_signal(signal.SIGSTOP)
            try:
                first = await self._write_of_another(old)
                await self.clock.sleep(rng.uniform(0.1, 0.5))
            finally:
                self._replicas[old].send_signal(signal.SIGCONT)
        else:
            with self.relays[old].refusing():
                first = await self._write_of_another(old)
                await self.clock.sleep(rng.uniform(0.1, 0.5))
        await self.clock.sleep(AFTER_SECONDS)
        late = [each for each in self.store.entries if each.by == old and each.at > first]
        return LateActions(
            fault=fault,
            old=old,
            begun=sum(each.what == "begun" for each in late),
            wrote=sum(each.what == "wrote" for each in late),
            failover_seconds=first - began_at,
        )

    async def _leader(self) -> str:
        async with self.clock.timeout(MAX_SECONDS):
            while not self.store.last_writer():
                self.store.received.clear()
                await self.store.received.wait()
        return self.store.last_writer()

    async def _write_of_another(self, old: str) -> float:
        try:
            async with self.clock.timeout(MAX_SECONDS):
                return (await self.store.written_by(other_than=old)).at
        except TimeoutError:
            logs = [f"{name}:\n{tail(self._log_of(name), lines=30)}" for name in USERS]
            raise AssertionError(
                f"no replica but {old} has written\n{chr(10).join(logs)}"
            ) from None

    def _log_of(self, name: str) -> Path:
        return self._sandbox.directory / f"{name}.log"

    def start(self, name: str) -> None:
        """Start one of the replicas."""
        text = self.plane.kubeconfig.read_text()
        kubeconfig = self._sandbox.directory / f"{name}.kubeconfig"
        kubeconfig.write_text(text.replace(self.plane.url, self.relays[name].url))
        flags = {
            "kubeconfig": kubeconfig,
            "context": USERS[name],
            "namespaces": NAMESPACE,
            "lease-namespace": NAMESPACE,
            "lease-seconds": self._timings.lease_seconds,
            "renew-seconds": self._timings.renew_seconds,
            "retry-seconds": self._timings.retry_seconds,
            "health-address": "",
            "metrics-address": "",
            "preflight": "off",
        }
        arguments = [f"--{flag}={value}" for flag, value in flags.items()]
        path = [each for each in (os.environ.get("PYTHONPATH"), str(ROOT)) if each]
        self._replicas[name] = self._sandbox.start(
            [
                *(sys.executable, "-m", "tests.real.failover.external_operator"),
                *(name, str(self.store.port), *arguments),
            ],
            log=self._log_of(name),
            environ={"HOME": str(self._sandbox.directory), "PYTHONPATH": os.pathsep.join(path)},
        )


@asynccontextmanager
async def failover_setup(*, timings: LeaseTimings = SHORT_LEASE) -> AsyncIterator[FailoverSetup]:
    """A control plane, a store, and two replicas, each with its own proxy."""
    async with AsyncExitStack() as stack:
        binaries = find_binaries(environ=os.environ)
        plane = stack.enter_context(running_real_control_plane(binaries, clock=SystemClock()))
        store = await stack.enter_async_context(running_store())
        sandbox = stack.enter_context(open_sandbox(prefix="replicas-"))
        setup = FailoverSetup(plane, store, sandbox, timings)
        client = await stack.enter_async_context(connected(plane, observe=ignore))
        await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=NAMESPACE)))
        for number in range(TARGETS):
            meta = meta_v1.ObjectMeta(name=f"target-{number}", namespace=NAMESPACE)
            await client.create(core_v1.ConfigMap(metadata=meta))
        for name in USERS:
            setup.relays[name] = await stack.enter_async_context(relay_to(plane.url))
            setup.start(name)
        yield setup


async def run_rounds(
    faults: list[Fault], *, seed: int, timings: LeaseTimings = SHORT_LEASE
) -> list[LateActions]:
    """Cause one failover for each of these faults."""
    rng = Random(seed)
    async with failover_setup(timings=timings) as setup:
        return [await setup.fail_over(fault, rng=rng) for fault in faults]


def main() -> int:
    """Run the rounds, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    faults: list[Fault] = ["stopped", "cut off"]
    found = asyncio.run(run_rounds(faults * given.rounds, seed=given.seed))
    for fault in faults:
        these = [each for each in found if each.fault == fault]
        begun, wrote = [each.begun for each in these], [each.wrote for each in these]
        sys.stdout.write(
            f"{fault}, {len(these)} rounds: late reconciles {sum(begun)} (most {max(begun)}),"
            f" late writes {sum(wrote)} (most {max(wrote)})\n"
        )
    return 1 if any(each.begun or each.wrote for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
