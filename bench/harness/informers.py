"""The informers that are compared, each as a process that fills its cache from the same server.

All informers do the same: every AppService is kept, and has been handed to a handler, before one
says so. At its end, each tells what its cache holds, and that is compared with what there is.
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
    KOPF,
    KOPF_INDEX,
    KR8S,
    LIGHTKUBE,
    OFFICIAL,
    OURS,
    OURS_UVLOOP,
    THEIRS,
    THEIRS_ALIKE,
    THEIRS_LISTING,
    THEIRS_STRIPPED,
)
from bench.harness.converging import CONTROLLER_FLAGS, CONTROLLERS
from bench.harness.go_programs import GoProgram
from bench.harness.onlookers import server_cpu_seconds
from bench.harness.rounds import Cost, Turn, staying
from bench.harness.task import APPS
from bench.harness.world import add_others, apps_held, fill
from steersman.clock import SystemClock
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane

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
# Asked for this, a server in Go first collects its garbage. kube-apiserver has it by default.
COLLECT_PATH = "/debug/pprof/heap?gc=1"

# Left to itself, a Go process that does nothing collects its garbage once in two minutes. So long
# after its word, when its memory has been looked at, it is made to;
COLLECT_SECONDS = 0.5
# and so long after that, and a second more for so many objects, it is looked at once more. To give
# back what can be given back takes a fraction of that.
GIVE_BACK_SECONDS = 1.0
GIVE_BACK_OBJECTS = 25_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What to start, when there are so many objects, and what it finds in its environment."""

    command: Callable[[int], Sequence[str]]
    variables: Mapping[str, str] = field(default_factory=dict)


def programs(names: Sequence[str]) -> Mapping[str, Start]:
    """How each of these is started; what has to be built is built."""
    known = {
        THEIRS: _go(),
        THEIRS_STRIPPED: _go("-strip-managed-fields"),
        # With this feature, which is on by default, what is there is streamed by the watch.
        THEIRS_LISTING: _go(KUBE_FEATURE_WatchListClient="false"),
        THEIRS_ALIKE: _go("-strip-managed-fields", KUBE_FEATURE_WatchListClient="false"),
        OURS: Start(command=lambda _: _python("steersman")),
        OURS_UVLOOP: Start(command=lambda _: _python("steersman", "--uvloop")),
        OFFICIAL: Start(command=lambda _: _python("kubernetes")),
        ASYNCIO: Start(command=lambda _: _python("kubernetes_asyncio")),
        LIGHTKUBE: Start(command=lambda _: _python("lightkube")),
        # Of these, nothing is received when the last has come.
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
    """A control plane with so many AppServices and others; kube-controller-manager is running."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        asyncio.run(fill(plane.kubeconfig, apps=apps, is_distinct=is_distinct))
        if others:
            asyncio.run(add_others(plane.kubeconfig, others))
        with plane.running_controllers(*CONTROLLERS, flags=CONTROLLER_FLAGS):
            yield plane


def syncing(start: Start, plane: RealControlPlane, *, count: int) -> Turn:
    """From the start of a process to ``count`` objects in its cache, and through its handler.

    ``server_cpu`` is what kube-apiserver used meanwhile. ``resident`` is what it held then, and
    ``later_resident`` what it holds once garbage that was left at the end is gone. A turn whose
    cache holds anything but the first ``count`` AppServices has failed.
    """
    turn = staying(
        start.command(count),
        plane.kubeconfig,
        {"objects": count},
        held=apps_held(count),
        variables=start.variables,
        counters={"server_cpu": lambda: server_cpu_seconds(plane)},
        later_seconds=later_seconds(count),
    )

    return _swept(plane, turn)


def listing(plane: RealControlPlane, *, count: int) -> Turn:
    """From one request for ``count`` objects to the last byte of its answer.

    So long has anyone who lists to wait, with a connection that is open and nothing else to do. It
    is not compressed, and decoded only afterwards, to count what is in it.
    """

    def turn() -> Cost:
        with plane.caller() as api:
            api.call("GET", "/readyz")
            before_seconds = server_cpu_seconds(plane)
            started_at = time.perf_counter()
            answer = api.call("GET", APPS)
            wall_seconds = time.perf_counter() - started_at
            cpu_seconds = server_cpu_seconds(plane) - before_seconds
        if answer.status != HTTPStatus.OK:
            raise AssertionError(f"{APPS} was answered with {answer.status}")
        found = len(msgspec.json.decode(answer.body, type=_Listed).items)
        if found != count:
            raise AssertionError(f"expected {count} objects, the answer has {found}: GET {APPS}")
        return {"wall": wall_seconds, "server_cpu": cpu_seconds}

    return _swept(plane, turn)


class _Listed(msgspec.Struct):
    items: list[msgspec.Raw]


def later_seconds(count: int) -> float:
    """How long after its word the memory of one with so many objects is looked at once more."""
    return COLLECT_SECONDS + GIVE_BACK_SECONDS + count / GIVE_BACK_OBJECTS


def _swept(plane: RealControlPlane, turn: Turn) -> Turn:
    """The same, once the server has collected its garbage and rests.

    It collects when it has allocated as much as it holds, and a collection is more work than a
    list. Left alone, that would be in whosever turn it happens to be. Like this it is in every turn
    that makes it allocate so much, and in no other.
    """

    def swept() -> Cost:
        with plane.caller() as api:
            answer = api.call("GET", COLLECT_PATH)
        if answer.status != HTTPStatus.OK:
            raise AssertionError(f"{COLLECT_PATH} was answered with {answer.status}")
        _rest(plane)
        return turn()

    return swept


def _rest(plane: RealControlPlane) -> None:
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
