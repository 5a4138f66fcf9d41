"""steersman's garbage collector and namespace controller work as kube-controller-manager's."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from functools import partial
from random import Random
from typing import Any, TypeAlias

import pytest

from steersman.client import Client, find_config, open_transport
from steersman.clock import SystemClock
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ignore
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.workloads import WorkloadSettings, running_workloads
from tests.real.clients import connected
from tests.real.owner_scenarios import SCENARIOS, Scenario, ScenarioNamespace
from tests.real.workload_steps import UNLIMITED_REQUESTS

pytestmark = pytest.mark.deep

SETTINGS = WorkloadSettings(parts=("namespaces", "garbagecollector"))
REAL_CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
)

Ends: TypeAlias = dict[str, Any]


async def run_on(client: Client, scenarios: Sequence[Scenario], prefix: str) -> Ends:
    """The steps of each scenario; all run concurrently, each in its own namespace."""

    async def run(scenario: Scenario) -> Any:
        name = f"{prefix}-{scenario.__name__.replace('_', '-')}"
        await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=name)))
        return plain(await scenario(ScenarioNamespace(client, name)))

    async with asyncio.TaskGroup() as group:
        tasks = {scenario.__name__: group.create_task(run(scenario)) for scenario in scenarios}
    return {name: task.result() for name, task in tasks.items()}


def plain(seen: Any) -> Any:
    return json.loads(json.dumps(seen))


def run_with_real_controllers(
    plane: RealControlPlane, scenarios: Sequence[Scenario], prefix: str
) -> Ends:
    async def run() -> Ends:
        async with connected(plane, observe=ignore) as client:
            return await run_on(client, scenarios, prefix)

    flags = {**UNLIMITED_REQUESTS, "root-ca-file": plane.credentials.ca_file}
    with plane.running_controllers(*REAL_CONTROLLERS, flags=flags):
        return asyncio.run(run())


def run_with_steersman(plane: RealControlPlane, scenarios: Sequence[Scenario], prefix: str) -> Ends:
    clock = SystemClock()
    config = find_config(
        environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=ignore
    )

    async def run() -> Ends:
        async with (
            running_workloads(
                SETTINGS,
                kubelet=simulated_kubelet,
                connect=partial(open_transport, config, clock=clock, observe=ignore),
                clock=clock,
                rng=Random(0),
                observe=ignore,
            ),
            connected(plane, observe=ignore) as client,
        ):
            return await run_on(client, scenarios, prefix)

    return asyncio.run(run())


def run_in_virtual_time(scenario: Scenario) -> Any:
    async def run(cluster: SimulatedCluster) -> Any:
        return (await run_on(cluster.client, [scenario], "virtual"))[scenario.__name__]

    return simulate(run, settings=SETTINGS)


@pytest.fixture(scope="module")
def ends() -> Iterator[tuple[Ends, Ends]]:
    """The final state on a real server: with Kubernetes' and with steersman's controllers."""
    binaries = find_binaries(environ=os.environ)
    with running_real_control_plane(binaries, clock=SystemClock()) as plane:
        expected, actual = (
            run_with_real_controllers(plane, SCENARIOS, "a"),
            run_with_steersman(plane, SCENARIOS, "b"),
        )
        # On a busy machine, a controller may have seemed idle too early.
        differing = [each for each in SCENARIOS if expected[each.__name__] != actual[each.__name__]]
        if differing:
            expected |= run_with_real_controllers(plane, differing, "c")
            actual |= run_with_steersman(plane, differing, "d")
        yield expected, actual


def difference(expected: Any, actual: Any) -> str:
    lines, other_lines = (json.dumps(each, indent=1).splitlines() for each in (expected, actual))
    return "\n".join(unified_diff(lines, other_lines, "real", "steersman", n=8, lineterm=""))


each_scenario: Callable[..., Any] = pytest.mark.parametrize(
    "scenario", SCENARIOS, ids=lambda scenario: scenario.__name__
)


@each_scenario
def test_the_garbage_collector_reaches_the_same_state_on_a_real_server(
    scenario: Scenario, ends: tuple[Ends, Ends]
) -> None:
    expected, actual = (each[scenario.__name__] for each in ends)

    assert actual == expected, difference(expected, actual)


@each_scenario
def test_the_garbage_collector_reaches_the_same_state_in_virtual_time(
    scenario: Scenario, ends: tuple[Ends, Ends]
) -> None:
    expected, actual = ends[0][scenario.__name__], run_in_virtual_time(scenario)

    assert actual == expected, difference(expected, actual)
