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
from tests.real.controller_scenarios import LOOK_SECONDS, SCENARIOS, Stage, make_node
from tests.real.kubectl_sessions.kubelet import StandInKubelet
from tests.real.service_scenarios import SERVICE_SCENARIOS

pytestmark = pytest.mark.timeout(180)

LOG = "kube-controller-manager.log"

SETTLING_LOOKS = 100
PAUSE = threading.Event()

# A line of its log that tells of a problem, without when and in which process it did.
PROBLEM = re.compile(r"^[EFW]\d{4} \S+ +\d+ (.*)$", re.MULTILINE)
# Conflicts and the like are part of the game, and of its luck.
AGAINST_THE_SERVER = re.compile(
    r"could not find the requested resource|no matches for|no kind|unknown|unmarshal|decod"
    r"|nternal error|nauthorized|cannot \w+ resource|ailed to (list|watch|get API)|EOF|refused"
    r"|timed? ?out|unable to (parse|handle)|unexpected|invalid character"
)
NAME = re.compile(r"test-[a-z0-9]{5}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|:\d{4,5}\b")


def flags(cluster: ControlPlane) -> dict[str, object]:
    """All that is on unless turned off, and quicker about what takes its time."""
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
    """A real one and an embedded one, with the same controllers beside them."""
    clock = SystemClock()
    with ExitStack() as until_the_end:
        real = until_the_end.enter_context(
            running_real_control_plane(find_binaries(environ=os.environ), clock=clock)
        )
        embedded = until_the_end.enter_context(running_embedded_control_plane(clock=clock))
        for each in (real, embedded):
            until_the_end.enter_context(each.running_controllers("*", flags=flags(each)))
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


def as_it_is(seen: Any) -> Any:
    """Whatever there is to see."""
    return seen


def ends(
    scenario: Callable[[Stage], None],
    clusters: tuple[ControlPlane, ControlPlane],
    *,
    shown: Callable[[Any], Any] = as_it_is,
) -> list[Any]:
    """What is there after a scenario on each."""
    with ExitStack() as until_the_end:
        stages = [until_the_end.enter_context(stage_of(each)) for each in clusters]
        with ThreadPoolExecutor() as threads:
            list(threads.map(scenario, stages))
        # Some of what they note about the end comes after it.
        seen = [shown(stage.seen()) for stage in stages]
        for _ in range(SETTLING_LOOKS):
            if seen[0] == seen[1]:
                break
            PAUSE.wait(LOOK_SECONDS)
            seen = [shown(stage.seen()) for stage in stages]
    return seen


@pytest.mark.parametrize(
    "scenario", [*SCENARIOS, *SERVICE_SCENARIOS], ids=lambda scenario: scenario.__name__
)
def test_the_controllers_reach_the_same_final_state(
    scenario: Callable[[Stage], None], clusters: tuple[ControlPlane, ControlPlane]
) -> None:
    real, embedded = ends(scenario, clusters)
    if embedded != real:
        # Which of two controllers comes first is chance; what lasts is none.
        real, embedded = ends(scenario, clusters)

    assert embedded == real, difference(real, embedded)


def complaints(cluster: ControlPlane) -> set[str]:
    """What the controllers say against the server, from any of them, about anything."""
    said = (cluster.directory / LOG).read_text(errors="replace")
    return {
        NAME.sub("<name>", line)
        for line in PROBLEM.findall(said)
        if AGAINST_THE_SERVER.search(line)
    }


def test_the_controllers_log_no_error_that_they_do_not_log_for_a_real_server(
    clusters: tuple[ControlPlane, ControlPlane],
) -> None:
    real, embedded = clusters

    assert complaints(embedded) - complaints(real) == set()
