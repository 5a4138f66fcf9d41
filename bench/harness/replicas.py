"""Two replicas of an operator with leader election: the leader is killed or paused.

Each turn has its own control plane. AppServices change during the whole turn, so that a leader
always has something to write. At the end, the children and the status of each AppService are
checked; there are no Pods.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.audit_log import (
    AuditedWrite,
    audit_flags,
    audit_log,
    first_write,
    interleaved_writes,
    replica_account,
    writes_in_log,
)
from bench.harness.convergence import API_SERVER_FLAGS, SETTLE_SECONDS, SYNC_SECONDS, check_state
from bench.harness.fixtures import create_apps, install_app_crd, install_crd
from bench.harness.helper_processes import running_writer
from bench.harness.operators import Command, Operator, running_operator
from bench.harness.rounds import Cost, Turn
from bench.peers.clients.steersman_client import connected
from steersman.clock import SystemClock
from steersman.kinds import Unstructured
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane

FIRST, SECOND = "replica-1", "replica-2"

APPS = 50
CHANGES_A_SECOND = 5.0

# The time with both replicas and changes, before the leader is killed or paused.
BEFORE_SECONDS = 3.0
# The time between the takeover and the end of the pause,
AFTER_SECONDS = 3.0
# and the time in which the writes of the former leader are counted: longer than a leader tries to
# renew its lease. kopf has no lease, and can write for longer.
AWAKE_SECONDS = 13.0

POLL_SECONDS = 0.1

# Longer than any lease, and than the keep-alive of kopf.
PATIENCE_SECONDS = 150.0

Peering = Unstructured.of("kopf.dev/v1", "ClusterKopfPeering", namespaced=False)
PEERING = "appservices"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaCommands:
    """The commands of both replicas, and whether they need a peering object."""

    first: Command
    second: Command
    needs_peering: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningReplicas:
    """Both replicas on a control plane; the first one is the leader."""

    first: Operator
    second: Operator
    log: Path

    def writes(self) -> Sequence[AuditedWrite]:
        """The writes so far."""
        return writes_in_log(self.log)

    def taken(self, prefix: str) -> Mapping[str, float]:
        """The CPU and the memory of the second replica."""
        taken = {"cpu": self.second.cpu_seconds(), **self.second.memory()}
        return {f"{prefix}_{figure}": each for figure, each in taken.items()}

    def wait_for_takeover(self, *, since: float) -> float:
        """Wait for the first write of the second replica after ``since``, and return its time."""
        self.second.wait_until(
            "a write by the standby replica",
            lambda: first_write(SECOND, self.writes(), since=since) is not None,
            poll_seconds=POLL_SECONDS,
            within_seconds=PATIENCE_SECONDS,
        )
        found = first_write(SECOND, self.writes(), since=since)
        assert found is not None
        return found


def failover_turn(replicated: ReplicaCommands) -> Turn:
    """A turn: on one cluster the leader is killed, and on another it is paused and resumed.

    Both run in parallel, because both mostly wait. ``late`` counts writes of the former leader
    after the first write of the new one. ``killed_between`` and ``between`` count writes of the
    first replica between two writes of the second, which also detects a second replica that writes
    too early.
    """

    def turn() -> Cost:
        with ThreadPoolExecutor(max_workers=2) as pool:
            killed, paused = pool.submit(_killed, replicated), pool.submit(_paused, replicated)
            return {**killed.result(), **paused.result()}

    return turn


def _killed(replicated: ReplicaCommands) -> Mapping[str, float]:
    with _running_replicas(replicated) as stage:
        killed_seconds = time.time()
        stage.first.process.kill()
        taken_seconds = stage.wait_for_takeover(since=killed_seconds)
        time.sleep(AFTER_SECONDS)
        return {
            "killed": taken_seconds - killed_seconds,
            **stage.taken("killed"),
            "killed_between": interleaved_writes(FIRST, SECOND, stage.writes()),
        }


def _paused(replicated: ReplicaCommands) -> Mapping[str, float]:
    with _running_replicas(replicated) as stage:
        paused_seconds = time.time()
        os.kill(stage.first.process.pid, signal.SIGSTOP)
        taken_seconds = stage.wait_for_takeover(since=paused_seconds)
        time.sleep(AFTER_SECONDS)
        resumed_seconds = time.time()
        os.kill(stage.first.process.pid, signal.SIGCONT)
        time.sleep(AWAKE_SECONDS)
        writes = stage.writes()
        late = [
            each for each in writes if each.writer == FIRST and each.unix_seconds > taken_seconds
        ]
        return {
            "paused": taken_seconds - paused_seconds,
            **stage.taken("paused"),
            "late": len(late),
            "late_done": sum(each.was_done for each in late),
            "late_seconds": max(
                (each.unix_seconds - resumed_seconds for each in late), default=0.0
            ),
            "between": interleaved_writes(FIRST, SECOND, writes),
        }


@contextmanager
def _running_replicas(replicated: ReplicaCommands) -> Iterator[RunningReplicas]:
    with TemporaryDirectory() as name, _audited(Path(name)) as plane:
        if replicated.needs_peering:
            asyncio.run(_serve_peering(plane.kubeconfig))
        with running_operator(replicated.first, kubeconfig=replica_account(plane, FIRST)) as first:
            asyncio.run(create_apps(plane.kubeconfig, range(APPS)))
            log = audit_log(Path(name))
            first.wait_until(
                "a write by the first replica",
                lambda: first_write(FIRST, writes_in_log(log), since=0.0) is not None,
                poll_seconds=POLL_SECONDS,
                within_seconds=PATIENCE_SECONDS,
            )
            first.wait_until_idle(seconds=SETTLE_SECONDS)
            with running_operator(
                replicated.second, kubeconfig=replica_account(plane, SECOND)
            ) as second:
                second.wait_until_idle(seconds=SYNC_SECONDS)
                flags = [f"--count={APPS}", f"--rate={CHANGES_A_SECOND}"]
                flags.append(f"--seconds={2 * PATIENCE_SECONDS}")
                into = Path(name) / "changes"
                with running_writer("change", plane.kubeconfig, *flags, into=into):
                    time.sleep(BEFORE_SECONDS)
                    yield RunningReplicas(first=first, second=second, log=log)
                # The second replica runs until the end, whether it is the leader or not.
                check_state(plane, second, APPS, within_seconds=PATIENCE_SECONDS)


@contextmanager
def _audited(directory: Path) -> Iterator[RealControlPlane]:
    with running_real_control_plane(
        find_binaries(environ=os.environ),
        clock=SystemClock(),
        api_server_flags={**API_SERVER_FLAGS, **audit_flags(directory)},
    ) as plane:
        asyncio.run(install_app_crd(plane.kubeconfig))
        yield plane


async def _serve_peering(kubeconfig: Path) -> None:
    """Install the peering kind of kopf, and create a peering object, as its documentation shows."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusterkopfpeerings.kopf.dev"},
        "spec": {
            "group": "kopf.dev",
            "scope": "Cluster",
            "names": {
                "kind": "ClusterKopfPeering",
                "plural": "clusterkopfpeerings",
                "singular": "clusterkopfpeering",
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "properties": {"status": anything}}
                    },
                }
            ],
        },
    }
    peering = {
        "apiVersion": "kopf.dev/v1",
        "kind": "ClusterKopfPeering",
        "metadata": {"name": PEERING},
    }
    async with connected(kubeconfig) as client:
        await install_crd(client, crd, Peering)
        await client.create(Peering(peering))
