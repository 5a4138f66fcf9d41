"""Deployments and ReplicaSets in a simulated cluster, with Pods that the test makes ready."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings, workloads
from steersman_cluster.workloads.pods import is_active, is_ready
from tests.real.deployment_scenarios import KINDS
from tests.real.workload_steps import Stage, virtual_stage

T = TypeVar("T")

PARTS = ("replicasets", "deployments")
NO_PARTS = WorkloadSettings(parts=(), nodes=0)
CONTROLLERS = workloads(WorkloadSettings(parts=PARTS, nodes=0)).controllers

Deployment = apps_v1.Deployment
ReplicaSet = apps_v1.ReplicaSet
Pod = core_v1.Pod


def run_steps(steps: Callable[[SimulatedCluster, Stage], Awaitable[T]]) -> T:
    """The result of the steps; the controllers are an operator that the test can kill."""

    async def run(cluster: SimulatedCluster) -> T:
        async with virtual_stage(cluster, KINDS) as stage:
            await cluster.run_operator(*CONTROLLERS)
            return await steps(cluster, stage)

    return simulate(run, settings=NO_PARTS)


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
    """A Pod without a controller."""
    return Pod(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels),
        spec=core_v1.PodSpec(containers=(core_v1.Container(name="web", image="web:1"),)),
    )


async def pods(cluster: SimulatedCluster) -> list[Pod]:
    """The active Pods, by name."""
    return sorted(
        (each for each in await cluster.list(Pod) if is_active(each)), key=lambda each: each.name
    )


async def ready_pods(cluster: SimulatedCluster) -> list[str]:
    """The names of the ready Pods."""
    return [each.name for each in await pods(cluster) if is_ready(each)]


async def pod_quota(cluster: SimulatedCluster, what: str, hard: int = 0) -> None:
    """A quota with this limit; the test writes its status in place of the controller."""
    name, amounts = "few", {what: str(hard)}
    if await cluster.find(core_v1.ResourceQuota, name) is None:
        await cluster.create(
            core_v1.ResourceQuota(
                metadata=meta_v1.ObjectMeta(name=name), spec=core_v1.ResourceQuotaSpec()
            )
        )
    await cluster.patch(core_v1.ResourceQuota, name, MergePatch({"spec": {"hard": amounts}}))
    status = {"hard": amounts, "used": {what: "0"}}
    await cluster.patch(
        core_v1.ResourceQuota, name, MergePatch({"status": status}), subresource="status"
    )


async def notes(cluster: SimulatedCluster, reason: str) -> list[str]:
    """The notes of the events with this reason."""
    await cluster.advance(10)
    await cluster.settle()
    return [
        each.note or "" for each in await cluster.list(events_v1.Event) if each.reason == reason
    ]
