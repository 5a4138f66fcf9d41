"""Scenarios of workloads: once with Kubernetes' controllers, and twice with steersman's."""

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
from tests.real.workload_steps import UNHURRIED, Read, Stage, real_stage, virtual_stage

Scenario: TypeAlias = Callable[[Stage], Awaitable[None]]
RecordingObserver: TypeAlias = dict[str, Any]
Ends: TypeAlias = dict[str, RecordingObserver]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioGroup:
    """Scenarios about the same kinds, and a function that returns the resulting state."""

    scenarios: Sequence[Scenario]
    kinds: Mapping[type[Resource], Read | None]
    is_caught_up: Callable[[Stage], Awaitable[bool]]
    seen: Callable[[Stage], Awaitable[RecordingObserver]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerComparison:
    """The controllers of a group of scenarios.

    ``parts`` are steersman's, and ``theirs`` the names of the corresponding real controllers.
    """

    parts: tuple[str, ...]
    theirs: tuple[str, ...]
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

    def ends(self) -> Iterator[tuple[Ends, Ends]]:
        """The state after each scenario on a real server, with either set of controllers."""
        scenarios = list(self.scenarios)
        binaries = find_binaries(environ=os.environ)
        with running_real_control_plane(binaries, clock=SystemClock()) as plane:
            theirs, mine = self._to_theirs(plane, scenarios), self._to_ours(plane, scenarios)
            # On a busy machine, a controller may have seemed idle too early.
            differing = [each for each in scenarios if theirs[each.__name__] != mine[each.__name__]]
            if differing:
                theirs |= self._to_theirs(plane, differing)
                mine |= self._to_ours(plane, differing)
            yield theirs, mine

    def in_virtual_time(self, scenario: Scenario) -> RecordingObserver:
        """The resulting state after a scenario on the embedded server."""
        group = self.scenarios[scenario]

        async def run(cluster: SimulatedCluster) -> RecordingObserver:
            async with virtual_stage(cluster, group.kinds) as stage:
                await scenario(stage)
                return await group.seen(stage)

        return simulate(run, settings=WorkloadSettings(parts=self.parts, nodes=0))

    def _to_theirs(self, plane: RealControlPlane, scenarios: Sequence[Scenario]) -> Ends:
        with plane.running_controllers(*self.theirs, flags=UNHURRIED):
            return asyncio.run(self._run_on(plane, scenarios))

    def _to_ours(self, plane: RealControlPlane, scenarios: Sequence[Scenario]) -> Ends:
        config = find_config(
            environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=ignore
        )

        def connect() -> AbstractAsyncContextManager[Transport]:
            return open_transport(config, clock=SystemClock(), observe=ignore)

        async def run() -> Ends:
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

    async def _run_on(self, plane: RealControlPlane, scenarios: Sequence[Scenario]) -> Ends:
        """The resulting state of each scenario; all run concurrently."""

        async def run(scenario: Scenario) -> RecordingObserver:
            group = self.scenarios[scenario]
            async with real_stage(client, group.kinds, is_caught_up=group.is_caught_up) as stage:
                await scenario(stage)
                return await group.seen(stage)

        async with connected(plane, observe=ignore) as client, asyncio.TaskGroup() as group:
            tasks = {scenario.__name__: group.create_task(run(scenario)) for scenario in scenarios}
        return {name: task.result() for name, task in tasks.items()}


def difference(theirs: RecordingObserver, ours: RecordingObserver) -> str:
    """The differences, as text."""
    real, mine = (json.dumps(each, indent=1).splitlines() for each in (theirs, ours))
    return "\n".join(unified_diff(real, mine, "theirs", "ours", n=8, lineterm=""))
