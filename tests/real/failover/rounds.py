"""Two replicas of an operator, whose leader is paused and resumed again and again."""

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
from tests.real.failover.audit_log import POLICY, Round, Written, accepted

ROOT = Path(__file__).parents[3]
NAMESPACE = "ticking"
TARGETS = tuple(f"target-{number}" for number in range(6))

# Each is a user of its own, so that the server knows them apart.
USERS = {"replica-one": ADMIN, "replica-two": CERTIFICATE}

# How often we look who writes, and for how long at most.
LOOK_SECONDS = 0.05
MAX_SECONDS = 60.0

# So long both run after the old leader was woken: more than it takes it to see that it is none.
AWAKE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How long a lease lasts."""

    lease_seconds: int
    renew_seconds: float
    retry_seconds: float


QUICK = Rhythm(lease_seconds=3, renew_seconds=2.0, retry_seconds=0.3)


class Stage:
    """The server, its audit log, and both replicas."""

    def __init__(self, plane: RealControlPlane, log: Path, inside: Sandbox, rhythm: Rhythm) -> None:
        self.plane = plane
        self.clock = SystemClock()
        self._log = log
        self._inside = inside
        self._rhythm = rhythm
        self._replicas: dict[str, subprocess.Popen[bytes]] = {}

    async def set_up(self, client: Client) -> None:
        """Something to write to, and both who want to."""
        await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=NAMESPACE)))
        for name in TARGETS:
            meta = meta_v1.ObjectMeta(name=name, namespace=NAMESPACE)
            await client.create(core_v1.ConfigMap(metadata=meta))
        for name in USERS:
            self._start(name)

    async def play(self, client: Client, *, rng: Random) -> Round:
        """Pause the leader until the other has written, and wake it."""
        old = await self.writer(client)
        (new,) = USERS.keys() - {old}
        # At no particular moment of whatever it does.
        await self.clock.sleep(rng.uniform(0.0, 0.5))
        stopped_time = self.clock.now()
        self._replicas[old].send_signal(signal.SIGSTOP)
        try:
            await self.writer(client, other_than=old)
            await self.clock.sleep(rng.uniform(0.1, 0.5))
        finally:
            woken_time = self.clock.now()
            self._replicas[old].send_signal(signal.SIGCONT)
        await self.clock.sleep(AWAKE_SECONDS)
        return Round(
            old=old,
            new=new,
            stopped_time=stopped_time,
            woken_time=woken_time,
            ended_time=self.clock.now(),
        )

    async def writer(self, client: Client, *, other_than: str = "") -> str:
        """Who has written last, once it is another replica than this one."""
        began_at = self.clock.monotonic()
        while self.clock.monotonic() - began_at < MAX_SECONDS:
            found = await client.get(core_v1.ConfigMap, TARGETS[0], namespace=NAMESPACE)
            by = (found.data or {}).get("by", other_than)
            if by != other_than:
                return by
            for name, process in self._replicas.items():
                assert process.poll() is None, f"{name} has ended:\n{self.said_by(name)}"
            await self.clock.sleep(LOOK_SECONDS)
        said = "\n".join(f"{name}:\n{self.said_by(name)}" for name in USERS)
        raise AssertionError(f"no replica but {other_than or 'none'} has written\n{said}")

    def accepted(self) -> list[Written]:
        """What the server's audit log says was written, and only a leader may write."""
        # The last line may not be whole yet.
        lines = self._log.read_bytes().split(b"\n")[:-1]
        return [each for each in accepted(lines) if each.agent in USERS]

    def said_by(self, name: str) -> str:
        """The end of what a replica had to say."""
        return tail(self._log_of(name), lines=30)

    def times_said(self, words: str) -> int:
        """How often both replicas have said this."""
        return sum(self._log_of(name).read_text().count(words) for name in USERS)

    def _log_of(self, name: str) -> Path:
        return self._inside.directory / f"{name}.log"

    def _start(self, name: str) -> None:
        flags = {
            "kubeconfig": self.plane.kubeconfig,
            "context": USERS[name],
            "namespaces": NAMESPACE,
            "lease-namespace": NAMESPACE,
            "lease-seconds": self._rhythm.lease_seconds,
            "renew-seconds": self._rhythm.renew_seconds,
            "retry-seconds": self._rhythm.retry_seconds,
            "health-address": "",
            "metrics-address": "",
            "user-agent": name,
            "preflight": "off",
        }
        arguments = [f"--{flag}={value}" for flag, value in flags.items()]
        self._replicas[name] = self._inside.start(
            [sys.executable, "-m", "tests.real.failover.operator", name, *arguments],
            log=self._log_of(name),
            environ={"HOME": str(self._inside.directory), "PYTHONPATH": str(ROOT)},
        )


@contextmanager
def staged(directory: Path, *, rhythm: Rhythm = QUICK) -> Iterator[Stage]:
    """A control plane with an audit log, and room for two replicas."""
    policy, log = directory / "policy.json", directory / "audit.log"
    policy.write_text(json.dumps(POLICY))
    # A log that starts again in the middle would hide something.
    flags = {"audit-policy-file": policy, "audit-log-path": log, "audit-log-maxsize": 10_000}
    with (
        running_real_control_plane(
            find_binaries(environ=os.environ), clock=SystemClock(), api_server_flags=flags
        ) as plane,
        open_sandbox(prefix="replicas-") as inside,
    ):
        yield Stage(plane, log, inside, rhythm)


@asynccontextmanager
async def ready(stage: Stage) -> AsyncIterator[Client]:
    """Both replicas run, and one of them writes."""
    async with connected(stage.plane, observe=ignore) as client:
        await stage.set_up(client)
        await stage.writer(client)
        yield client
