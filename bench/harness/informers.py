"""The informers of the contenders, each in a process that fills its cache from the same server.

Each informer stores every AppService and passes it to a handler before it reports. At its end it
prints a summary of its cache, which is compared with the expected one.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import msgspec

from bench.harness.contenders import (
    ASYNCIO,
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_ALIKE,
    CONTROLLER_RUNTIME_LISTING,
    CONTROLLER_RUNTIME_STRIPPED,
    KOPF,
    KOPF_INDEX,
    KR8S,
    LIGHTKUBE,
    OFFICIAL,
    STEERSMAN,
    STEERSMAN_UVLOOP,
)
from bench.harness.convergence import CONTROLLER_FLAGS, CONTROLLERS
from bench.harness.fixtures import create_others, expected_cache, fill
from bench.harness.go_programs import GoProgram
from bench.harness.helper_processes import server_cpu_seconds
from bench.harness.rounds import Cost, Turn, informer_turn
from bench.harness.task import APPS
from steersman.clock import SystemClock
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane

PEER = GoProgram(
    name="informer",
    family="peers",
    sources=Path(__file__).parents[1] / "peers" / "controller_runtime",
    package="./informer",
)

# The server is idle if it uses less of one core than this.
IDLE_SHARE = 0.1
# The maximum time to wait for the server.
MAX_IDLE_WAIT_SECONDS = 30.0
# For this path, a Go server first collects its garbage. kube-apiserver serves it by default.
COLLECT_PATH = "/debug/pprof/heap?gc=1"

# An idle Go process collects its garbage only every two minutes. Therefore the programs collect it
# this long after their report, when the memory was read once.
COLLECT_SECONDS = 0.5
# The memory is read again this long after the collection, plus one second for each number of
# objects. Go returns memory in a fraction of this time.
GIVE_BACK_SECONDS = 1.0
GIVE_BACK_OBJECTS = 25_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The command for a number of objects, and its environment variables."""

    command: Callable[[int], Sequence[str]]
    variables: Mapping[str, str] = field(default_factory=dict)


def programs(names: Sequence[str]) -> Mapping[str, Start]:
    """How to start each contender; Go programs are built."""
    known = {
        CONTROLLER_RUNTIME: _go(),
        CONTROLLER_RUNTIME_STRIPPED: _go("-strip-managed-fields"),
        # This feature is on by default, and streams the initial list through the watch.
        CONTROLLER_RUNTIME_LISTING: _go(KUBE_FEATURE_WatchListClient="false"),
        CONTROLLER_RUNTIME_ALIKE: _go(
            "-strip-managed-fields", KUBE_FEATURE_WatchListClient="false"
        ),
        STEERSMAN: Start(command=lambda _: _python("steersman")),
        STEERSMAN_UVLOOP: Start(command=lambda _: _python("steersman", "--uvloop")),
        OFFICIAL: Start(command=lambda _: _python("kubernetes")),
        ASYNCIO: Start(command=lambda _: _python("kubernetes_asyncio")),
        LIGHTKUBE: Start(command=lambda _: _python("lightkube")),
        # These have no signal for the end of the initial list.
        KR8S: Start(command=lambda count: _python("kr8s", str(count))),
        KOPF: Start(command=lambda count: _python("kopf", str(count))),
        KOPF_INDEX: Start(command=lambda count: _python("kopf", str(count), "--index")),
    }
    PEER.build()
    return {name: known[name] for name in names}


def _go(*arguments: str, **variables: str) -> Start:
    return Start(
        command=lambda _: [
            *(str(PEER.path), f"-collect-after={COLLECT_SECONDS:g}s"),
            *arguments,
        ],
        variables=variables,
    )


def _python(name: str, *arguments: str) -> Sequence[str]:
    return [sys.executable, "-m", f"bench.peers.{name}_informer", *arguments]


@contextmanager
def filled_cluster(
    *, apps: int, others: int = 0, is_distinct: bool = False
) -> Iterator[RealControlPlane]:
    """A control plane with AppServices, other objects, and kube-controller-manager."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        asyncio.run(fill(plane.kubeconfig, apps=apps, is_distinct=is_distinct))
        if others:
            asyncio.run(create_others(plane.kubeconfig, others))
        with plane.running_controllers(*CONTROLLERS, flags=CONTROLLER_FLAGS):
            yield plane


def sync_turn(start: Start, plane: RealControlPlane, *, count: int) -> Turn:
    """A turn: from the start of a process until ``count`` objects are cached and handled.

    ``server_cpu`` is the CPU of kube-apiserver in this time. ``resident`` is the memory at the
    report, and ``later_resident`` the memory after a garbage collection. The turn fails if the
    cache differs from the first ``count`` AppServices.
    """
    turn = informer_turn(
        start.command(count),
        plane.kubeconfig,
        {"objects": count},
        held=expected_cache(count),
        variables=start.variables,
        counters={"server_cpu": lambda: server_cpu_seconds(plane)},
        later_seconds=second_reading_seconds(count),
    )

    return _after_garbage_collection(plane, turn)


def list_turn(plane: RealControlPlane, *, count: int) -> Turn:
    """A turn: one list request for ``count`` objects, up to the last byte of the response.

    This is the minimum time of a list over an open connection. The response is not compressed, and
    is decoded afterwards to count the objects.
    """

    def turn() -> Cost:
        with plane.caller() as api:
            api.call("GET", "/readyz")
            before_seconds = server_cpu_seconds(plane)
            started_at = time.perf_counter()
            response = api.call("GET", APPS)
            wall_seconds = time.perf_counter() - started_at
            cpu_seconds = server_cpu_seconds(plane) - before_seconds
        if response.status != HTTPStatus.OK:
            raise AssertionError(f"GET {APPS}: status {response.status}")
        found = len(msgspec.json.decode(response.body, type=_Listed).items)
        if found != count:
            raise AssertionError(f"expected {count} objects, the response has {found}: GET {APPS}")
        return {"wall": wall_seconds, "server_cpu": cpu_seconds}

    return _after_garbage_collection(plane, turn)


class _Listed(msgspec.Struct):
    items: list[msgspec.Raw]


def second_reading_seconds(count: int) -> float:
    """The time between the report and the second reading of the memory."""
    return COLLECT_SECONDS + GIVE_BACK_SECONDS + count / GIVE_BACK_OBJECTS


def _after_garbage_collection(plane: RealControlPlane, turn: Turn) -> Turn:
    """The same turn, after the server has collected its garbage and is idle.

    kube-apiserver collects when it has allocated as much as it holds, and a collection is more work
    than a list. Without this, a collection would fall into an arbitrary turn. With it, it falls
    only into turns that allocate that much.
    """

    def collected() -> Cost:
        with plane.caller() as api:
            response = api.call("GET", COLLECT_PATH)
        if response.status != HTTPStatus.OK:
            raise AssertionError(f"GET {COLLECT_PATH}: status {response.status}")
        _wait_until_idle(plane)
        return turn()

    return collected


def _wait_until_idle(plane: RealControlPlane) -> None:
    """Wait until the server is idle."""
    began_at = at = time.monotonic()
    before_seconds = server_cpu_seconds(plane)
    while at - began_at < MAX_IDLE_WAIT_SECONDS:
        time.sleep(1.0)
        since_at, at = at, time.monotonic()
        cpu_seconds = server_cpu_seconds(plane)
        if cpu_seconds - before_seconds < IDLE_SHARE * (at - since_at):
            return
        before_seconds = cpu_seconds
