"""What it takes an operator to bring AppServices to Deployment, Service and status.

Each turn has a control plane of its own: what one operator leaves behind does not meet the next.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import Any

from bench.harness.children import PATIENCE_SECONDS
from bench.harness.onlookers import server_cpu_seconds
from bench.harness.operators import Command, Operator, operating
from bench.harness.requests import asked, operator_account, refused, since
from bench.harness.rounds import Cost, Turn
from bench.harness.task import DEPLOYMENTS, NAMESPACE
from bench.harness.verifying import differences
from bench.harness.witness import watching_changes
from bench.harness.world import HOME, add_apps, serve_apps_with_status
from steersman.clock import SystemClock
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane

SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"

CONTROLLERS = ("deployment-controller", "replicaset-controller", "garbage-collector-controller")

# At their usual 20 requests a second, all contenders would wait for them for minutes.
CONTROLLER_FLAGS = {"kube-api-qps": 10_000, "kube-api-burst": 10_000}

# The usual range has 2,768 ports, and each AppService takes one. No program listens on any of them.
API_SERVER_FLAGS = {"service-node-port-range": "10000-32767"}

# An operator without a request for so long has seen that there is nothing yet,
SYNC_SECONDS = 1.0
# or has reconciled everything.
SETTLE_SECONDS = 2.0

# Who has done its work and is quiet has put right by then what went wrong at first.
CONFIRMED_SECONDS = 60.0

# How many differences are reported, when an operator leaves some.
SHOWN = 5


@contextmanager
def cluster(*, controllers: bool) -> Iterator[RealControlPlane]:
    """A control plane that serves AppServices, with or without the controllers of Deployments."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock(), api_server_flags=API_SERVER_FLAGS
    ) as plane:
        asyncio.run(serve_apps_with_status(plane.kubeconfig))
        with seeing_to_deployments(plane) if controllers else nullcontext():
            yield plane


def seeing_to_deployments(plane: RealControlPlane) -> AbstractContextManager[None]:
    """While the block runs, Deployments have their ReplicaSets, and those their Pods."""
    return plane.running_controllers(*CONTROLLERS, flags=CONTROLLER_FLAGS)


def converging(command: Command, *, count: int) -> Turn:
    """``count`` AppServices, from before the first is there until there is nothing left to do.

    ``wall`` is from then to the last change of one of them. ``cpu`` is all of the operator's
    process, ``start_cpu`` what of it was spent before, ``each_cpu`` the rest for each AppService;
    so are ``each_server_cpu``, which is all of the API server's, for all clients, but for looks at
    how far the operator is, ``requests``, which are all but watches, ``writes``, which are those
    that write, and ``refused``, which are those of them in vain.
    """

    def turn() -> Cost:
        with (
            cluster(controllers=True) as plane,
            operating(command, kubeconfig=operator_account(plane)) as operator,
        ):
            return converged(plane, operator, count=count)

    return turn


def converged(plane: RealControlPlane, operator: Operator, *, count: int) -> Cost:
    """Create the AppServices, and wait until the operator has reconciled all of them."""
    operator.quiet(seconds=SYNC_SECONDS)
    start_seconds = operator.cpu_seconds()
    asked_before, refused_before = asked(plane), refused(plane)
    with watching_changes(plane.kubeconfig, HOME) as witness:
        server_before_seconds = server_cpu_seconds(plane)
        began_at = time.monotonic()
        asyncio.run(add_apps(plane.kubeconfig, range(count)))
        server_seconds = settled(plane, operator, count) - server_before_seconds
        wall_seconds = witness.last_at - began_at
    cpu_seconds = operator.cpu_seconds()
    requests = since(asked_before, asked(plane))
    return {
        "cpu": cpu_seconds,
        "start_cpu": start_seconds,
        "each_cpu": (cpu_seconds - start_seconds) / count,
        "wall": wall_seconds,
        "rate": count / wall_seconds,
        "requests": (sum(requests.values()) - requests["watches"]) / count,
        "writes": requests["writes"] / count,
        "refused": (refused(plane) - refused_before) / count,
        "server_cpu": server_seconds,
        "each_server_cpu": server_seconds / count,
        **operator.memory(),
    }


def settled(
    plane: RealControlPlane,
    operator: Operator,
    count: int,
    *,
    or_more: bool = False,
    has_pods: bool = True,
    within_seconds: float = PATIENCE_SECONDS,
) -> float:
    """Wait until the operator is quiet and all is as it should be, by ``unlike``.

    Returns what the API server had used by then, as ``used_once_right`` has it.
    """
    return used_once_right(
        operator,
        wrong=lambda: unlike(plane, count, or_more=or_more, has_pods=has_pods),
        server_seconds=lambda: server_cpu_seconds(plane),
        within_seconds=within_seconds,
    )


def used_once_right(
    operator: Operator,
    *,
    wrong: Callable[[], Iterable[str]],
    server_seconds: Callable[[], float],
    within_seconds: float,
) -> float:
    """Wait until the operator is quiet and nothing is ``wrong``.

    Returns what the API server had used by then, without what looks at too early a time have cost
    it: a list of everything is work for the server, and none of the operator's.
    """
    began_at = time.monotonic()
    looks_seconds = 0.0
    while True:
        operator.quiet(seconds=SETTLE_SECONDS)
        used_seconds = server_seconds()
        found = list(islice(wrong(), SHOWN))
        if not found:
            return used_seconds - looks_seconds
        looks_seconds += server_seconds() - used_seconds
        if time.monotonic() - began_at > within_seconds:
            raise operator.failed("left this as it is: " + "; ".join(found))


def confirm(
    plane: RealControlPlane,
    operator: Operator,
    count: int,
    *,
    or_more: bool = False,
    within_seconds: float = CONFIRMED_SECONDS,
) -> None:
    """What an operator has brought about is right, on a control plane without Pods.

    For the end of a turn, after all that is measured: if something is wrong, there is an error that
    says what, and the turn does not count. Children and status are compared in full; only that a
    Deployment has its Pods is not checked here.
    """
    settled(plane, operator, count, or_more=or_more, has_pods=False, within_seconds=within_seconds)


def unlike(
    plane: RealControlPlane, count: int, *, or_more: bool = False, has_pods: bool = True
) -> Iterator[str]:
    """Where the world is not what ``count`` AppServices ask for, as ``differences`` has it."""
    services = {name: each for name, each in _by_name(plane, SERVICES).items() if _is_owned(each)}
    yield from differences(
        _by_name(plane, HOME),
        _by_name(plane, DEPLOYMENTS),
        services,
        count=count,
        or_more=or_more,
        has_pods=has_pods,
    )


def _is_owned(service: Mapping[str, Any]) -> bool:
    """Every cluster has a Service of its own, which no contender creates."""
    return "ownerReferences" in service["metadata"]


def _by_name(plane: RealControlPlane, path: str) -> Mapping[str, Any]:
    with plane.caller() as api:
        listing = api.call("GET", path).json()
    # A list has kind and version once.
    type_meta = {"apiVersion": listing["apiVersion"], "kind": listing["kind"].removesuffix("List")}
    return {item["metadata"]["name"]: {**type_meta, **item} for item in listing["items"]}
