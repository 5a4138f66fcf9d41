"""Deployments and ReplicaSets at work in a simulated world, with Pods that the test makes ready."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import SimulatedWorld, simulate
from steersman_cluster.workloads import WorkloadSettings, workloads
from steersman_cluster.workloads.pods import is_active, is_ready
from tests.real.deployment_stories import KINDS
from tests.real.workload_steps import Stage, virtual_stage

T = TypeVar("T")

PARTS = ("replicasets", "deployments")
NOBODY = WorkloadSettings(parts=(), nodes=0)
THEY = workloads(WorkloadSettings(parts=PARTS, nodes=0)).controllers

Deployment = apps_v1.Deployment
ReplicaSet = apps_v1.ReplicaSet
Pod = core_v1.Pod


def told(story: Callable[[SimulatedWorld, Stage], Awaitable[T]]) -> T:
    """What a story comes to, with the controllers as an operator that can be killed."""

    async def tell(world: SimulatedWorld) -> T:
        async with virtual_stage(world, KINDS) as stage:
            await world.run_operator(*THEY)
            return await story(world, stage)

    return simulate(tell, settings=NOBODY)


def replica_set(name: str = "web", replicas: int = 3, **spec: Any) -> ReplicaSet:
    """A ReplicaSet of Pods with ``app: web``."""
    labels = {"app": "web"}
    return ReplicaSet(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=apps_v1.ReplicaSetSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels=labels),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=labels), spec=pod("web").spec
            ),
            **spec,
        ),
    )


def pod(name: str, **labels: str) -> Pod:
    """A Pod that nobody controls."""
    return Pod(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels),
        spec=core_v1.PodSpec(containers=(core_v1.Container(name="web", image="web:1"),)),
    )


async def pods(world: SimulatedWorld) -> list[Pod]:
    """The Pods that are to run, by name."""
    return sorted(
        (each for each in await world.list(Pod) if is_active(each)), key=lambda each: each.name
    )


async def ready_pods(world: SimulatedWorld) -> list[str]:
    """The names of those that are ready."""
    return [each.name for each in await pods(world) if is_ready(each)]


async def no_more(world: SimulatedWorld, what: str, hard: int = 0) -> None:
    """A quota that allows so many of something, for which the test stands in as its controller."""
    name, amounts = "few", {what: str(hard)}
    if await world.find(core_v1.ResourceQuota, name) is None:
        await world.create(
            core_v1.ResourceQuota(
                metadata=meta_v1.ObjectMeta(name=name), spec=core_v1.ResourceQuotaSpec()
            )
        )
    await world.patch(core_v1.ResourceQuota, name, MergePatch({"spec": {"hard": amounts}}))
    status = {"hard": amounts, "used": {what: "0"}}
    await world.patch(
        core_v1.ResourceQuota, name, MergePatch({"status": status}), subresource="status"
    )


async def notes(world: SimulatedWorld, reason: str) -> list[str]:
    """What events of this reason say."""
    await world.advance(10)
    await world.settle()
    return [each.note or "" for each in await world.list(events_v1.Event) if each.reason == reason]
