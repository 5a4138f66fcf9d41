"""The cost of an operator that creates a Deployment, a Service and a status for each AppService.

Each turn has its own control plane, so no operator finds objects of another one.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import Any

from bench.harness.change_watcher import watching_changes
from bench.harness.child_processes import TIMEOUT_SECONDS
from bench.harness.fixtures import HOME, create_apps, install_app_crd
from bench.harness.helper_processes import server_cpu_seconds
from bench.harness.operators import Command, Operator, running_operator
from bench.harness.requests import difference, operator_account, rejected_writes, request_counts
from bench.harness.rounds import Cost, Turn
from bench.harness.state_check import differences
from bench.harness.task import DEPLOYMENTS, NAMESPACE
from steersman.clock import SystemClock
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane

SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"

CONTROLLERS = ("deployment-controller", "replicaset-controller", "garbage-collector-controller")

# With the default of 20 requests a second, each operator would wait for the controllers for
# minutes.
CONTROLLER_FLAGS = {"kube-api-qps": 10_000, "kube-api-burst": 10_000}

# The default range has 2,768 ports, and each AppService needs one. No program listens on them.
API_SERVER_FLAGS = {"service-node-port-range": "10000-32767"}

# An operator that is idle for this long has synced its empty caches,
SYNC_SECONDS = 1.0
# or has reconciled everything.
SETTLE_SECONDS = 2.0

# An operator that is idle retries failed reconciles within this time.
CONFIRMED_SECONDS = 60.0

# The maximum number of differences in an error message.
SHOWN_DIFFERENCES = 5


@contextmanager
def cluster(*, controllers: bool) -> Iterator[RealControlPlane]:
    """A control plane with the kind AppService, with or without the controllers of Deployments."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock(), api_server_flags=API_SERVER_FLAGS
    ) as plane:
        asyncio.run(install_app_crd(plane.kubeconfig))
        with running_controllers(plane) if controllers else nullcontext():
            yield plane


def running_controllers(plane: RealControlPlane) -> AbstractContextManager[None]:
    """Run the controllers of Deployments, ReplicaSets and garbage collection during the block."""
    return plane.running_controllers(*CONTROLLERS, flags=CONTROLLER_FLAGS)


def convergence_turn(command: Command, *, count: int) -> Turn:
    """A turn: create ``count`` AppServices, and wait until the operator has reconciled all.

    ``wall`` is the time from the first create to the last change of an AppService. ``cpu`` is the
    operator's CPU, and ``start_cpu`` its part before the first create. The following figures are
    for one AppService: ``each_cpu`` is the rest of the operator's CPU; ``each_server_cpu`` is the
    API server's CPU for all clients, except the checks of the state; ``requests`` are all requests
    but watches; ``writes`` are the writes among them, and ``refused`` are the rejected writes.
    """

    def turn() -> Cost:
        with (
            cluster(controllers=True) as plane,
            running_operator(command, kubeconfig=operator_account(plane)) as operator,
        ):
            return converge(plane, operator, count=count)

    return turn


def converge(plane: RealControlPlane, operator: Operator, *, count: int) -> Cost:
    """Create the AppServices, and wait until the operator has reconciled all of them."""
    operator.wait_until_idle(seconds=SYNC_SECONDS)
    start_seconds = operator.cpu_seconds()
    asked_before, refused_before = request_counts(plane), rejected_writes(plane)
    with watching_changes(plane.kubeconfig, HOME) as witness:
        server_before_seconds = server_cpu_seconds(plane)
        began_at = time.monotonic()
        asyncio.run(create_apps(plane.kubeconfig, range(count)))
        server_seconds = wait_until_correct(plane, operator, count) - server_before_seconds
        wall_seconds = witness.last_change_at - began_at
    cpu_seconds = operator.cpu_seconds()
    requests = difference(asked_before, request_counts(plane))
    return {
        "cpu": cpu_seconds,
        "start_cpu": start_seconds,
        "each_cpu": (cpu_seconds - start_seconds) / count,
        "wall": wall_seconds,
        "rate": count / wall_seconds,
        "requests": (sum(requests.values()) - requests["watches"]) / count,
        "writes": requests["writes"] / count,
        "refused": (rejected_writes(plane) - refused_before) / count,
        "server_cpu": server_seconds,
        "each_server_cpu": server_seconds / count,
        **operator.memory(),
    }


def wait_until_correct(
    plane: RealControlPlane,
    operator: Operator,
    count: int,
    *,
    or_more: bool = False,
    has_pods: bool = True,
    within_seconds: float = TIMEOUT_SECONDS,
) -> float:
    """Wait until the operator is idle and ``wrong_state`` reports no difference.

    Return the CPU seconds of the API server, as ``server_cpu_once_correct`` does.
    """
    return server_cpu_once_correct(
        operator,
        wrong=lambda: wrong_state(plane, count, or_more=or_more, has_pods=has_pods),
        server_seconds=lambda: server_cpu_seconds(plane),
        within_seconds=within_seconds,
    )


def server_cpu_once_correct(
    operator: Operator,
    *,
    wrong: Callable[[], Iterable[str]],
    server_seconds: Callable[[], float],
    within_seconds: float,
) -> float:
    """Wait until the operator is idle and there are no differences.

    Return the CPU seconds of the API server, without the cost of earlier checks: each check lists
    all objects.
    """
    began_at = time.monotonic()
    checks_seconds = 0.0
    while True:
        operator.wait_until_idle(seconds=SETTLE_SECONDS)
        used_seconds = server_seconds()
        found = list(islice(wrong(), SHOWN_DIFFERENCES))
        if not found:
            return used_seconds - checks_seconds
        checks_seconds += server_seconds() - used_seconds
        if time.monotonic() - began_at > within_seconds:
            raise operator.failed("did not correct: " + "; ".join(found))


def check_state(
    plane: RealControlPlane,
    operator: Operator,
    count: int,
    *,
    or_more: bool = False,
    within_seconds: float = CONFIRMED_SECONDS,
) -> None:
    """Check the children and the status of all AppServices, on a control plane without Pods.

    For the end of a turn, after the measurement. An error reports the differences, and the turn
    does not count.
    """
    wait_until_correct(
        plane, operator, count, or_more=or_more, has_pods=False, within_seconds=within_seconds
    )


def wrong_state(
    plane: RealControlPlane, count: int, *, or_more: bool = False, has_pods: bool = True
) -> Iterator[str]:
    """The ``differences`` between the cluster and ``count`` AppServices."""
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
    """Every cluster has the Service ``kubernetes``, which no contender creates."""
    return "ownerReferences" in service["metadata"]


def _by_name(plane: RealControlPlane, path: str) -> Mapping[str, Any]:
    with plane.caller() as api:
        listing = api.call("GET", path).json()
    # The items of a list have no kind and no version.
    type_meta = {"apiVersion": listing["apiVersion"], "kind": listing["kind"].removesuffix("List")}
    return {item["metadata"]["name"]: {**type_meta, **item} for item in listing["items"]}
