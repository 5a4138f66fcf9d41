"""kube-controller-manager works with the embedded server as with the real one."""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from difflib import unified_diff
from typing import Any

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import (
    ControlPlane,
    find_binaries,
    fresh_namespace,
    running_embedded_control_plane,
    running_real_control_plane,
)
from tests.real.controller_scenarios import POLL_SECONDS, SCENARIOS, Stage, make_node
from tests.real.kubectl_sessions.kubelet import StandInKubelet
from tests.real.service_scenarios import SERVICE_SCENARIOS

LOG = "kube-controller-manager.log"

MAX_POLLS = 100
PAUSE = threading.Event()

# A warning or error in the log, without its time and process.
PROBLEM = re.compile(r"^[EFW]\d{4} \S+ +\d+ (.*)$", re.MULTILINE)
# Other problems, such as conflicts, are random and not caused by the server.
SERVER_PROBLEM = re.compile(
    r"could not find the requested resource|no matches for|no kind|unknown|unmarshal|decod"
    r"|nternal error|nauthorized|cannot \w+ resource|ailed to (list|watch|get API)|EOF|refused"
    r"|timed? ?out|unable to (parse|handle)|unexpected|invalid character"
)
NAME = re.compile(r"test-[a-z0-9]{5}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|:\d{4,5}\b")


def flags(cluster: ControlPlane) -> dict[str, object]:
    """The flags of kube-controller-manager, with shorter sync periods."""
    return {
        "use-service-account-credentials": "true",
        "root-ca-file": cluster.credentials.ca_file,
        "flex-volume-plugin-dir": cluster.directory / "plugins",
        "horizontal-pod-autoscaler-sync-period": "1s",
        "resource-quota-sync-period": "1s",
        # No kubelet renews the node's lease.
        "node-monitor-grace-period": "1h",
        "concurrent-namespace-syncs": "10",
    }


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[ControlPlane, ControlPlane]]:
    """A real and an embedded cluster, each with kube-controller-manager."""
    clock = SystemClock()
    with ExitStack() as stack:
        real = stack.enter_context(
            running_real_control_plane(find_binaries(environ=os.environ), clock=clock)
        )
        embedded = stack.enter_context(running_embedded_control_plane(clock=clock))
        for each in (real, embedded):
            stack.enter_context(each.running_controllers("*", flags=flags(each)))
            make_node(each)
        yield real, embedded


@contextmanager
def stage_of(cluster: ControlPlane) -> Iterator[Stage]:
    with (
        fresh_namespace(cluster) as namespace,
        StandInKubelet(cluster, namespace=namespace) as kubelet,
        cluster.caller() as server,
    ):
        kubelet.switch(on=True)
        yield Stage(server=server, namespace=namespace)


def difference(*seen: Any) -> str:
    real, embedded = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in seen)
    return "\n".join(unified_diff(real, embedded, "real", "embedded", n=8, lineterm=""))


def unchanged(seen: Any) -> Any:
    return seen


def final_states(
    scenario: Callable[[Stage], None],
    clusters: tuple[ControlPlane, ControlPlane],
    *,
    normalize: Callable[[Any], Any] = unchanged,
) -> list[Any]:
    """The state of each cluster after a scenario."""
    with ExitStack() as stack:
        stages = [stack.enter_context(stage_of(each)) for each in clusters]
        with ThreadPoolExecutor() as threads:
            list(threads.map(scenario, stages))
        # The controllers still write statuses after the scenario.
        seen = [normalize(stage.state()) for stage in stages]
        for _ in range(MAX_POLLS):
            if seen[0] == seen[1]:
                break
            PAUSE.wait(POLL_SECONDS)
            seen = [normalize(stage.state()) for stage in stages]
    return seen


@pytest.mark.parametrize(
    "scenario", [*SCENARIOS, *SERVICE_SCENARIOS], ids=lambda scenario: scenario.__name__
)
def test_the_controllers_reach_the_same_final_state(
    scenario: Callable[[Stage], None], clusters: tuple[ControlPlane, ControlPlane]
) -> None:
    real, embedded = final_states(scenario, clusters)
    if embedded != real:
        # The order of two controllers is random, so only a repeated difference counts.
        real, embedded = final_states(scenario, clusters)

    assert embedded == real, difference(real, embedded)


def server_problems(cluster: ControlPlane) -> set[str]:
    """The logged problems that a server may cause."""
    log = (cluster.directory / LOG).read_text(errors="replace")
    return {
        NAME.sub("<name>", line) for line in PROBLEM.findall(log) if SERVER_PROBLEM.search(line)
    }


def test_the_controllers_log_no_error_that_they_do_not_log_for_a_real_server(
    clusters: tuple[ControlPlane, ControlPlane],
) -> None:
    real, embedded = clusters

    assert server_problems(embedded) - server_problems(real) == set()
