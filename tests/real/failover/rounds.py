"""Two replicas of an operator, whose leader is repeatedly paused and resumed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from steersman.client import Client
from steersman.clock import SystemClock
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ignore
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.testing.control_plane.credentials import ADMIN, CERTIFICATE
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox, tail
from tests.real.clients import connected
from tests.real.failover.audit_log import POLICY, AuditedWrite, Round, leader_writes

ROOT = Path(__file__).parents[3]
NAMESPACE = "ticking"
TARGETS = tuple(f"target-{number}" for number in range(6))

# Each replica has its own user, which the audit log names.
USERS = {"replica-one": ADMIN, "replica-two": CERTIFICATE}

# The interval and timeout of polls for a write.
POLL_SECONDS = 0.05
MAX_SECONDS = 60.0

# Both run this long after SIGCONT: the old leader has then noticed its loss.
AFTER_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimings:
    """The duration of a lease, and the intervals of its renewal."""

    lease_seconds: int
    renew_seconds: float
    retry_seconds: float


SHORT_LEASE = LeaseTimings(lease_seconds=3, renew_seconds=2.0, retry_seconds=0.3)


class ReplicaPair:
    """The server, its audit log, and both replicas."""

    def __init__(
        self, plane: RealControlPlane, log: Path, sandbox: Sandbox, timings: LeaseTimings
    ) -> None:
        self.plane = plane
        self.clock = SystemClock()
        self._log = log
        self._sandbox = sandbox
        self._timings = timings
        self._replicas: dict[str, subprocess.Popen[bytes]] = {}

    async def set_up(self, client: Client) -> None:
        """Create the ConfigMaps, and start both replicas."""
        await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=NAMESPACE)))
        for name in TARGETS:
            meta = meta_v1.ObjectMeta(name=name, namespace=NAMESPACE)
            await client.create(core_v1.ConfigMap(metadata=meta))
        for name in USERS:
            self._start(name)

    async def fail_over(self, client: Client, *, rng: Random) -> Round:
        """Pause the leader until the other replica has written, and resume it."""
        old = await self.last_writer(client)
        (new,) = USERS.keys() - {old}
        # At a random moment of its work.
        await self.clock.sleep(rng.uniform(0.0, 0.5))
        stopped_time = self.clock.now()
        self._replicas[old].send_signal(signal.SIGSTOP)
        try:
            await self.last_writer(client, other_than=old)
            await self.clock.sleep(rng.uniform(0.1, 0.5))
        finally:
            resumed_time = self.clock.now()
            self._replicas[old].send_signal(signal.SIGCONT)
        await self.clock.sleep(AFTER_SECONDS)
        return Round(
            old=old,
            new=new,
            stopped_time=stopped_time,
            resumed_time=resumed_time,
            ended_time=self.clock.now(),
        )

    async def last_writer(self, client: Client, *, other_than: str = "") -> str:
        """The replica that wrote last, once it is not ``other_than``."""
        began_at = self.clock.monotonic()
        while self.clock.monotonic() - began_at < MAX_SECONDS:
            found = await client.get(core_v1.ConfigMap, TARGETS[0], namespace=NAMESPACE)
            by = (found.data or {}).get("by", other_than)
            if by != other_than:
                return by
            for name, process in self._replicas.items():
                assert process.poll() is None, f"{name} has ended:\n{self.log_tail(name)}"
            await self.clock.sleep(POLL_SECONDS)
        logs = "\n".join(f"{name}:\n{self.log_tail(name)}" for name in USERS)
        raise AssertionError(f"no replica but {other_than or 'none'} has written\n{logs}")

    def accepted_writes(self) -> list[AuditedWrite]:
        """The replicas' writes in kube-apiserver's audit log that only a leader may make."""
        # The last line may be incomplete.
        lines = self._log.read_bytes().split(b"\n")[:-1]
        return [each for each in leader_writes(lines) if each.agent in USERS]

    def log_tail(self, name: str) -> str:
        """The last lines of a replica's log."""
        return tail(self._log_of(name), lines=30)

    def count_in_logs(self, text: str) -> int:
        """The number of times that this text is in both logs."""
        return sum(self._log_of(name).read_text().count(text) for name in USERS)

    def _log_of(self, name: str) -> Path:
        return self._sandbox.directory / f"{name}.log"

    def _start(self, name: str) -> None:
        flags = {
            "kubeconfig": self.plane.kubeconfig,
            "context": USERS[name],
            "namespaces": NAMESPACE,
            "lease-namespace": NAMESPACE,
            "lease-seconds": self._timings.lease_seconds,
            "renew-seconds": self._timings.renew_seconds,
            "retry-seconds": self._timings.retry_seconds,
            "health-address": "",
            "metrics-address": "",
            "user-agent": name,
            "preflight": "off",
        }
        arguments = [f"--{flag}={value}" for flag, value in flags.items()]
        self._replicas[name] = self._sandbox.start(
            [sys.executable, "-m", "tests.real.failover.operator", name, *arguments],
            log=self._log_of(name),
            environ={"HOME": str(self._sandbox.directory), "PYTHONPATH": str(ROOT)},
        )


@contextmanager
def replica_pair(directory: Path, *, timings: LeaseTimings = SHORT_LEASE) -> Iterator[ReplicaPair]:
    """A control plane with an audit log, and a sandbox for two replicas."""
    policy, log = directory / "policy.json", directory / "audit.log"
    policy.write_text(json.dumps(POLICY))
    # kube-apiserver must not rotate the log: the test reads one file.
    flags = {"audit-policy-file": policy, "audit-log-path": log, "audit-log-maxsize": 10_000}
    with (
        running_real_control_plane(
            find_binaries(environ=os.environ), clock=SystemClock(), api_server_flags=flags
        ) as plane,
        open_sandbox(prefix="replicas-") as sandbox,
    ):
        yield ReplicaPair(plane, log, sandbox, timings)


@asynccontextmanager
async def running_replicas(pair: ReplicaPair) -> AsyncIterator[Client]:
    """Start both replicas, and enter the block after the first write."""
    async with connected(pair.plane, observe=ignore) as client:
        await pair.set_up(client)
        await pair.last_writer(client)
        yield client
