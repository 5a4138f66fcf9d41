"""The informers that are compared, each as a process that fills its cache from the same server.

All do the same: every AppService is kept, and has been handed to a handler, before one says so.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from bench.harness.contenders import (
    ASYNCIO,
    KOPF,
    KOPF_INDEX,
    KR8S,
    LIGHTKUBE,
    OFFICIAL,
    OURS,
    OURS_UVLOOP,
    THEIRS,
    THEIRS_STRIPPED,
)
from bench.harness.converging import CONTROLLER_FLAGS, CONTROLLERS
from bench.harness.go_programs import GoProgram
from bench.harness.onlookers import server_cpu_seconds
from bench.harness.rounds import Cost, Turn, staying
from bench.harness.world import fill
from steersman.clock import SystemClock
from steersman.testing import ControlPlane, find_binaries, running_control_plane

PEER = GoProgram(
    name="informer",
    family="peers",
    sources=Path(__file__).parents[1] / "peers" / "controller_runtime",
    package="./informer",
)

# A server that takes less of one core than this is done with what came before,
REST_SHARE = 0.1
# or is waited for no longer.
REST_SECONDS = 30.0

# What to start, when there are so many objects.
Start: TypeAlias = Callable[[int], Sequence[str]]


def programs(names: Sequence[str]) -> Mapping[str, Start]:
    """How each of these is started; what has to be built is built."""
    known: Mapping[str, Start] = {
        THEIRS: lambda _: [str(PEER.path)],
        THEIRS_STRIPPED: lambda _: [str(PEER.path), "-strip-managed-fields"],
        OURS: lambda _: _python("steersman"),
        OURS_UVLOOP: lambda _: _python("steersman", "--uvloop"),
        OFFICIAL: lambda _: _python("kubernetes"),
        ASYNCIO: lambda _: _python("kubernetes_asyncio"),
        LIGHTKUBE: lambda _: _python("lightkube"),
        # Of these, nothing is heard when the last has come.
        KR8S: lambda count: _python("kr8s", str(count)),
        KOPF: lambda count: _python("kopf", str(count)),
        KOPF_INDEX: lambda count: _python("kopf", str(count), "--index"),
    }
    PEER.build()
    return {name: known[name] for name in names}


def _python(name: str, *arguments: str) -> Sequence[str]:
    return [sys.executable, "-m", f"bench.peers.{name}_informer", *arguments]


@contextmanager
def filled_cluster(*, apps: int) -> Iterator[ControlPlane]:
    """A control plane with so many AppServices, and with kube-controller-manager running."""
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        asyncio.run(fill(plane.kubeconfig, apps=apps))
        with plane.running_controllers(*CONTROLLERS, flags=CONTROLLER_FLAGS):
            yield plane


def syncing(start: Start, plane: ControlPlane, *, count: int, later_seconds: float = 0.0) -> Turn:
    """From the start of a process to ``count`` objects in its cache, and through its handler.

    ``server_cpu`` is what kube-apiserver used meanwhile. Memory is looked at once more after
    ``later_seconds``, if there are any.
    """
    expected = {"objects": count}
    turn = staying(start(count), plane.kubeconfig, expected, later_seconds=later_seconds)

    def with_server() -> Cost:
        rest(plane)
        before_seconds = server_cpu_seconds(plane)
        cost = turn()
        return {**cost, "server_cpu": server_cpu_seconds(plane) - before_seconds}

    return with_server


def rest(plane: ControlPlane) -> None:
    """Wait until the server has nothing left to do of what came before."""
    began_at = at = time.monotonic()
    before_seconds = server_cpu_seconds(plane)
    while at - began_at < REST_SECONDS:
        time.sleep(1.0)
        since_at, at = at, time.monotonic()
        cpu_seconds = server_cpu_seconds(plane)
        if cpu_seconds - before_seconds < REST_SHARE * (at - since_at):
            return
        before_seconds = cpu_seconds
