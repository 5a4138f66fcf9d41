"""Two replicas of an operator, of which one acts: what happens when that one is gone, or stops.

Each turn has a control plane of its own. Changes arrive all the time, so that there is always
something to write; and when they have ended, what each AppService has is compared with what it asks
for, all but Pods, which no controller creates here.
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

from bench.harness.converging import API_SERVER_FLAGS, SETTLE_SECONDS, SYNC_SECONDS, confirm
from bench.harness.onlookers import writing
from bench.harness.operators import Command, Operator, operating
from bench.harness.rounds import Cost, Turn
from bench.harness.world import add_apps, serve, serve_apps_with_status
from bench.harness.writers import (
    Written,
    account,
    audit_flags,
    audit_log,
    between_others,
    first_by,
    writes_at,
)
from bench.peers.clients.steersman_client import connected
from steersman.clock import SystemClock
from steersman.kinds import Unstructured
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane

FIRST, SECOND = "replica-1", "replica-2"

APPS = 50
CHANGES_A_SECOND = 5.0

# For so long both are there, and changes arrive, before something happens.
BEFORE_SECONDS = 3.0
# For so long the second one has been acting when the first comes back,
AFTER_SECONDS = 3.0
# and for so long is looked at what that one does: longer than a leader tries to renew its lease
# before it gives up. kopf has no lease, and may go on for longer.
AWAKE_SECONDS = 13.0

POLL_SECONDS = 0.1

# Longer than any lease, and than kopf's keep-alive.
PATIENCE_SECONDS = 150.0

Peering = Unstructured.of("kopf.dev/v1", "ClusterKopfPeering", namespaced=False)
PEERING = "appservices"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicated:
    """How the first and the second replica are started, and what they need beforehand."""

    first: Command
    second: Command
    needs_peering: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Both replicas on a control plane, the first of them acting."""

    first: Operator
    second: Operator
    log: Path

    def writes(self) -> Sequence[Written]:
        """Who has written so far."""
        return writes_at(self.log)

    def taken(self, prefix: str) -> Mapping[str, float]:
        """What the second replica has used since its start, and what it holds."""
        taken = {"cpu": self.second.cpu_seconds(), **self.second.memory()}
        return {f"{prefix}_{figure}": each for figure, each in taken.items()}

    def taken_over(self, *, since: float) -> float:
        """When the second replica first wrote after that moment; waits for it."""
        self.second.wait_until(
            "a write by the replica that stood by",
            lambda: first_by(SECOND, self.writes(), since=since) is not None,
            poll_seconds=POLL_SECONDS,
            within_seconds=PATIENCE_SECONDS,
        )
        found = first_by(SECOND, self.writes(), since=since)
        assert found is not None
        return found


def failing_over(replicated: Replicated) -> Turn:
    """The one that acts is killed; elsewhere, at the same time, it is stopped and wakes up later.

    Side by side, because there is hardly anything to do but to wait. ``late`` are writes of the
    first after the second has taken over; ``killed_between`` and ``between`` are its writes at any
    time between two of the second's, so that one by the second before its time shows as well.
    """

    def turn() -> Cost:
        with ThreadPoolExecutor(max_workers=2) as pool:
            killed, paused = pool.submit(_killed, replicated), pool.submit(_paused, replicated)
            return {**killed.result(), **paused.result()}

    return turn


def _killed(replicated: Replicated) -> Mapping[str, float]:
    with _stage(replicated) as stage:
        killed_seconds = time.time()
        stage.first.process.kill()
        taken_seconds = stage.taken_over(since=killed_seconds)
        time.sleep(AFTER_SECONDS)
        return {
            "killed": taken_seconds - killed_seconds,
            **stage.taken("killed"),
            "killed_between": between_others(FIRST, SECOND, stage.writes()),
        }


def _paused(replicated: Replicated) -> Mapping[str, float]:
    with _stage(replicated) as stage:
        paused_seconds = time.time()
        os.kill(stage.first.process.pid, signal.SIGSTOP)
        taken_seconds = stage.taken_over(since=paused_seconds)
        time.sleep(AFTER_SECONDS)
        woken_seconds = time.time()
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
            "late_seconds": max((each.unix_seconds - woken_seconds for each in late), default=0.0),
            "between": between_others(FIRST, SECOND, writes),
        }


@contextmanager
def _stage(replicated: Replicated) -> Iterator[Stage]:
    with TemporaryDirectory() as name, _audited(Path(name)) as plane:
        if replicated.needs_peering:
            asyncio.run(_serve_peering(plane.kubeconfig))
        with operating(replicated.first, kubeconfig=account(plane, FIRST)) as first:
            asyncio.run(add_apps(plane.kubeconfig, range(APPS)))
            log = audit_log(Path(name))
            first.wait_until(
                "a write by the replica that is alone",
                lambda: first_by(FIRST, writes_at(log), since=0.0) is not None,
                poll_seconds=POLL_SECONDS,
                within_seconds=PATIENCE_SECONDS,
            )
            first.quiet(seconds=SETTLE_SECONDS)
            with operating(replicated.second, kubeconfig=account(plane, SECOND)) as second:
                second.quiet(seconds=SYNC_SECONDS)
                flags = [f"--count={APPS}", f"--rate={CHANGES_A_SECOND}"]
                flags.append(f"--seconds={2 * PATIENCE_SECONDS}")
                into = Path(name) / "changes"
                with writing("change", plane.kubeconfig, *flags, into=into):
                    time.sleep(BEFORE_SECONDS)
                    yield Stage(first=first, second=second, log=log)
                # Whichever of them acts now, the second is there until the end.
                confirm(plane, second, APPS, within_seconds=PATIENCE_SECONDS)


@contextmanager
def _audited(directory: Path) -> Iterator[RealControlPlane]:
    with running_real_control_plane(
        find_binaries(environ=os.environ),
        clock=SystemClock(),
        api_server_flags={**API_SERVER_FLAGS, **audit_flags(directory)},
    ) as plane:
        asyncio.run(serve_apps_with_status(plane.kubeconfig))
        yield plane


async def _serve_peering(kubeconfig: Path) -> None:
    """What replicas of kopf's tell each other by, as its documentation says."""
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
        await serve(client, crd, Peering)
        await client.create(Peering(peering))
