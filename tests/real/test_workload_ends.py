"""steersman's controllers on an embedded server and Kubernetes' on a real one reach one state."""

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

# steersman has no tokens controller. The test takes the place of the scheduler and kubelet.
COMPARED = [each for each in (*SCENARIOS, *SERVICE_SCENARIOS) if each is not accounts]
WORKLOADS = [each for each in PARTS if each not in ("nodes", "scheduler")]

# The hash of a template or revision: Kubernetes hashes its Go representation, steersman its JSON.
HASH = re.compile(r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{6,10}(?!\w)")
LABELS = ("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash")


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[ControlPlane, ControlPlane]]:
    """A real server with Kubernetes' controllers, and an embedded one with steersman's."""
    clock = SystemClock()
    with ExitStack() as stack:
        real = stack.enter_context(
            running_real_control_plane(find_binaries(environ=os.environ), clock=clock)
        )
        embedded = stack.enter_context(running_embedded_control_plane(clock=clock))
        stack.enter_context(real.running_controllers("*", flags=flags(real)))
        stack.enter_context(workload_process(embedded, *WORKLOADS))
        for each in (real, embedded):
            make_node(each)
        _trust_node(embedded)
        yield real, embedded


def _trust_node(cluster: ControlPlane) -> None:
    """Remove the not-ready taint that the server adds to a new node.

    steersman's simulated kubelets do so for their nodes, and Kubernetes' node controller for all.
    """
    with cluster.caller() as server:
        patch = {"spec": {"taints": None}}
        assert server.call("PATCH", f"/api/v1/nodes/{NODE}", patch, sends=MERGE).status == 200


def comparable(seen: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The objects of each kind, without their managers and template hashes."""
    return {
        kind: sorted(map(_comparable, objects), key=lambda each: json.dumps(each, sort_keys=True))
        for kind, objects in seen.items()
    }


def _comparable(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: "<hash>" if name in LABELS else _comparable(each)
                for name, each in value.items()
                # Kubernetes' controllers share a manager name; each of steersman's has its own.
                if name != "managedFields"
            }
        case list():
            return [_comparable(each) for each in value]
        case str():
            return HASH.sub("<hash>", value)
        case _:
            return value


@pytest.mark.parametrize("scenario", COMPARED, ids=lambda scenario: scenario.__name__)
def test_the_workload_controllers_reach_the_same_final_state(
    scenario: Callable[[Stage], None], clusters: tuple[ControlPlane, ControlPlane]
) -> None:
    real, embedded = final_states(scenario, clusters, normalize=comparable)
    if embedded != real:
        # The order of two controllers is random, so only a repeated difference counts.
        real, embedded = final_states(scenario, clusters, normalize=comparable)

    assert embedded == real, difference(real, embedded)
