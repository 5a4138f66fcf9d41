"""steersman's workloads on an embedded server reach the state of Kubernetes' on a real one."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing import (
    ControlPlane,
    find_binaries,
    running_embedded_control_plane,
    running_real_control_plane,
)
from steersman_cluster.workloads import PARTS
from tests.real.controller_scenarios import MERGE, SCENARIOS, Stage, accounts, make_node
from tests.real.kubectl_sessions.kubelet import NODE
from tests.real.service_scenarios import SERVICE_SCENARIOS
from tests.real.test_controller_manager import difference, final_states, flags
from tests.real.workload_process import workload_process

pytestmark = pytest.mark.timeout(180)

# No controller of ours makes tokens for Secrets, and the Pods are run by the test.
COMPARED = [each for each in (*SCENARIOS, *SERVICE_SCENARIOS) if each is not accounts]
OURS = [each for each in PARTS if each not in ("nodes", "scheduler")]

# What a template or a revision is called by: theirs is a hash of how Go prints it, ours of its
# JSON.
HASH = re.compile(r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{6,10}(?!\w)")
LABELS = ("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash")


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[ControlPlane, ControlPlane]]:
    """A real one with Kubernetes' own controllers, and an embedded one with ours."""
    clock = SystemClock()
    with ExitStack() as stack:
        real = stack.enter_context(
            running_real_control_plane(find_binaries(environ=os.environ), clock=clock)
        )
        embedded = stack.enter_context(running_embedded_control_plane(clock=clock))
        stack.enter_context(real.running_controllers("*", flags=flags(real)))
        stack.enter_context(workload_process(embedded, *OURS))
        for each in (real, embedded):
            make_node(each)
        _trust_node(embedded)
        yield real, embedded


def _trust_node(cluster: ControlPlane) -> None:
    """Take away what the server puts on a node until it is ready.

    Ours do so for the nodes that they play, and Kubernetes' own for every node.
    """
    with cluster.caller() as server:
        patch = {"spec": {"taints": None}}
        assert server.call("PATCH", f"/api/v1/nodes/{NODE}", patch, sends=MERGE).status == 200


def alike(seen: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What is there of each kind, but for who wrote it and what templates are called."""
    return {
        kind: sorted(map(_alike, objects), key=lambda each: json.dumps(each, sort_keys=True))
        for kind, objects in seen.items()
    }


def _alike(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: "<hash>" if name in LABELS else _alike(each)
                for name, each in value.items()
                # Each of ours has a name of its own, and theirs all have one.
                if name != "managedFields"
            }
        case list():
            return [_alike(each) for each in value]
        case str():
            return HASH.sub("<hash>", value)
        case _:
            return value


@pytest.mark.parametrize("scenario", COMPARED, ids=lambda scenario: scenario.__name__)
def test_the_workload_controllers_reach_the_same_final_state(
    scenario: Callable[[Stage], None], clusters: tuple[ControlPlane, ControlPlane]
) -> None:
    real, embedded = final_states(scenario, clusters, normalize=alike)
    if embedded != real:
        # The order of two controllers is random, so only a repeated difference counts.
        real, embedded = final_states(scenario, clusters, normalize=alike)

    assert embedded == real, difference(real, embedded)
