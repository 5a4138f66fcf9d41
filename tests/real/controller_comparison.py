"""Runs scenarios of workloads with Kubernetes' controllers and with steersman's."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from difflib import unified_diff
from random import Random
from typing import Any, TypeAlias

import pytest

from steersman.client import find_config, open_transport
from steersman.clock import SystemClock
from steersman.kinds import Resource
from steersman.observe import ignore
from steersman.wire import Transport
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.workloads import WorkloadSettings, running_workloads
from tests.real.clients import connected
from tests.real.workload_steps import UNLIMITED_REQUESTS, Read, Stage, real_stage, virtual_stage

Scenario: TypeAlias = Callable[[Stage], Awaitable[None]]
State: TypeAlias = dict[str, Any]
States: TypeAlias = dict[str, State]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioGroup:
    """Scenarios about the same kinds, and a function that reads the final state."""

    scenarios: Sequence[Scenario]
    kinds: Mapping[type[Resource], Read | None]
    is_caught_up: Callable[[Stage], Awaitable[bool]]
    final_state: Callable[[Stage], Awaitable[State]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerComparison:
    """The controllers of a group of scenarios.

    ``parts`` are steersman's, and ``controllers`` those of kube-controller-manager.
    """

    parts: tuple[str, ...]
    controllers: tuple[str, ...]
    groups: tuple[ScenarioGroup, ...]

    @property
    def scenarios(self) -> dict[Scenario, ScenarioGroup]:
        """All scenarios in order, each with its group."""
        return {scenario: group for group in self.groups for scenario in group.scenarios}

    @property
    def each_scenario(self) -> Callable[..., Any]:
        """A decorator for tests with a parameter ``scenario``."""
        return pytest.mark.parametrize(
            "scenario", self.scenarios, ids=lambda scenario: scenario.__name__
        )

    def states(self) -> Iterator[tuple[States, States]]:
        """The final state of each scenario on a real server, with either set of controllers."""
        scenarios = list(self.scenarios)
        binaries = find_binaries(environ=os.environ)
        with running_real_control_plane(binaries, clock=SystemClock()) as plane:
            expected = self._with_kubernetes(plane, scenarios)
            actual = self._with_steersman(plane, scenarios)
            # On a busy machine, a controller may have seemed idle too early.
            differing = [
                each for each in scenarios if expected[each.__name__] != actual[each.__name__]
            ]
            if differing:
                expected |= self._with_kubernetes(plane, differing)
                actual |= self._with_steersman(plane, differing)
            yield expected, actual

    def in_virtual_time(self, scenario: Scenario) -> State:
        """The final state of a scenario on the embedded server."""
        group = self.scenarios[scenario]

        async def run(cluster: SimulatedCluster) -> State:
            async with virtual_stage(cluster, group.kinds) as stage:
                await scenario(stage)
                return await group.final_state(stage)

        return simulate(run, settings=WorkloadSettings(parts=self.parts, nodes=0))

    def _with_kubernetes(self, plane: RealControlPlane, scenarios: Sequence[Scenario]) -> States:
        with plane.running_controllers(*self.controllers, flags=UNLIMITED_REQUESTS):
            return asyncio.run(self._run_on(plane, scenarios))

    def _with_steersman(self, plane: RealControlPlane, scenarios: Sequence[Scenario]) -> States:
        config = find_config(
            environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=ignore
        )

        def connect() -> AbstractAsyncContextManager[Transport]:
            return open_transport(config, clock=SystemClock(), observe=ignore)

        async def run() -> States:
            async with running_workloads(
                WorkloadSettings(parts=self.parts),
                kubelet=simulated_kubelet,
                connect=connect,
                clock=SystemClock(),
                rng=Random(0),
                observe=ignore,
            ):
                return await self._run_on(plane, scenarios)

        return asyncio.run(run())

    async def _run_on(self, plane: RealControlPlane, scenarios: Sequence[Scenario]) -> States:
        """The final state of each scenario; all run concurrently."""

        async def run(scenario: Scenario) -> State:
            group = self.scenarios[scenario]
            async with real_stage(client, group.kinds, is_caught_up=group.is_caught_up) as stage:
                await scenario(stage)
                return await group.final_state(stage)

        async with connected(plane, observe=ignore) as client, asyncio.TaskGroup() as group:
            tasks = {scenario.__name__: group.create_task(run(scenario)) for scenario in scenarios}
        return {name: task.result() for name, task in tasks.items()}


def difference(expected: State, actual: State) -> str:
    """A unified diff of the states."""
    before, after = (json.dumps(each, indent=1).splitlines() for each in (expected, actual))
    diff = unified_diff(before, after, "kubernetes", "steersman", n=8, lineterm="")
    return "\n".join(diff)
