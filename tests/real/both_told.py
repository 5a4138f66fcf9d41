"""Stories of workloads told three times: to Kubernetes' own controllers, and twice to ours."""

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

from steersman.client import find_config, reaching
from steersman.clock import SystemClock
from steersman.kinds import Resource
from steersman.observe import ignore
from steersman.wire import Transport
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.testing import RealControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.workloads import WorkloadSettings, running_workloads
from tests.real.connecting import connected
from tests.real.workload_steps import UNHURRIED, Read, Stage, real_stage, virtual_stage

Story: TypeAlias = Callable[[Stage], Awaitable[None]]
Seen: TypeAlias = dict[str, Any]
Ends: TypeAlias = dict[str, Seen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tale:
    """Stories that are about the same things, and what there is to see of those."""

    stories: Sequence[Story]
    kinds: Mapping[type[Resource], Read | None]
    is_caught_up: Callable[[Stage], Awaitable[bool]]
    seen: Callable[[Stage], Awaitable[Seen]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Whom which stories are told to.

    ``parts`` are ours, and ``theirs`` the names of the real controllers that do the same.
    """

    parts: tuple[str, ...]
    theirs: tuple[str, ...]
    tales: tuple[Tale, ...]

    @property
    def stories(self) -> dict[Story, Tale]:
        """All stories, in order, and to which tale each belongs."""
        return {story: tale for tale in self.tales for story in tale.stories}

    @property
    def each_story(self) -> Callable[..., Any]:
        """A mark for tests of one ``story``."""
        return pytest.mark.parametrize("story", self.stories, ids=lambda story: story.__name__)

    def ends(self) -> Iterator[tuple[Ends, Ends]]:
        """What there is to see after each story on a real server: with theirs, and with ours."""
        stories = list(self.stories)
        binaries = find_binaries(environ=os.environ)
        with running_real_control_plane(binaries, clock=SystemClock()) as plane:
            theirs, mine = self._to_theirs(plane, stories), self._to_ours(plane, stories)
            # On a machine that is busy, somebody may have come to rest too early.
            differing = [each for each in stories if theirs[each.__name__] != mine[each.__name__]]
            if differing:
                theirs |= self._to_theirs(plane, differing)
                mine |= self._to_ours(plane, differing)
            yield theirs, mine

    def in_virtual_time(self, story: Story) -> Seen:
        """What there is to see after a story on the embedded server."""
        tale = self.stories[story]

        async def tell(cluster: SimulatedCluster) -> Seen:
            async with virtual_stage(cluster, tale.kinds) as stage:
                await story(stage)
                return await tale.seen(stage)

        return simulate(tell, settings=WorkloadSettings(parts=self.parts, nodes=0))

    def _to_theirs(self, plane: RealControlPlane, stories: Sequence[Story]) -> Ends:
        with plane.running_controllers(*self.theirs, flags=UNHURRIED):
            return asyncio.run(self._told(plane, stories))

    def _to_ours(self, plane: RealControlPlane, stories: Sequence[Story]) -> Ends:
        config = find_config(
            environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=ignore
        )

        def connect() -> AbstractAsyncContextManager[Transport]:
            return reaching(config, clock=SystemClock(), observe=ignore)

        async def tell() -> Ends:
            async with running_workloads(
                WorkloadSettings(parts=self.parts),
                kubelet=simulated_kubelet,
                connect=connect,
                clock=SystemClock(),
                rng=Random(0),
                observe=ignore,
            ):
                return await self._told(plane, stories)

        return asyncio.run(tell())

    async def _told(self, plane: RealControlPlane, stories: Sequence[Story]) -> Ends:
        """What there is to see after each of the stories, all told at once."""

        async def tell(story: Story) -> Seen:
            tale = self.stories[story]
            async with real_stage(client, tale.kinds, is_caught_up=tale.is_caught_up) as stage:
                await story(stage)
                return await tale.seen(stage)

        async with connected(plane, observe=ignore) as client, asyncio.TaskGroup() as group:
            telling = {story.__name__: group.create_task(tell(story)) for story in stories}
        return {name: task.result() for name, task in telling.items()}


def difference(theirs: Seen, ours: Seen) -> str:
    """Where they are not alike, for people to read."""
    real, mine = (json.dumps(each, indent=1).splitlines() for each in (theirs, ours))
    return "\n".join(unified_diff(real, mine, "theirs", "ours", n=8, lineterm=""))
