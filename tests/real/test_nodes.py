"""Simulated nodes, with the real kube-apiserver and kube-controller-manager."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from steersman.client import Client, wait_for
from steersman.kinds import apps_v1, batch_v1, core_v1, is_ready, meta_v1
from steersman.observe import ignore
from steersman_cluster.testing import ControlPlane, fresh_namespace
from tests.real.clients import connected
from tests.real.deployment_availability import (
    create_deployments,
    deployment,
    wait_until_available,
    with_controllers,
    workloads,
)

WITHIN_SECONDS = 60.0


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A real control plane with Kubernetes' own controllers."""
    with with_controllers() as running:
        yield running


@pytest.fixture
def home(plane: ControlPlane) -> Iterator[str]:
    """A namespace of this test."""
    with fresh_namespace(plane) as name:
        yield name


@pytest.fixture
async def nodes(plane: ControlPlane) -> AsyncIterator[Client]:
    """Three running nodes, and a client with all permissions."""
    async with connected(plane, observe=ignore) as client, workloads(plane, nodes=3):
        await until(client, lambda: no_node_is_new(client))
        yield client


async def until(client: Client, condition: Callable[[], Any]) -> None:
    async with client.clock.timeout(WITHIN_SECONDS):
        while not await condition():
            await client.clock.sleep(0.1)


async def no_node_is_new(client: Client) -> bool:
    found = (await client.list(core_v1.Node)).items
    return len(found) == 3 and all(each.spec and not each.spec.taints for each in found)


async def pods(client: Client, namespace: str) -> list[core_v1.Pod]:
    return [*(await client.list(core_v1.Pod, namespace=namespace)).items]


def template(**spec: Any) -> core_v1.PodTemplateSpec:
    container = core_v1.Container(name="app", image="app:1")
    return core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels={"app": "app"}),
        spec=core_v1.PodSpec(containers=(container,), **spec),
    )


def metadata(namespace: str, name: str = "app") -> meta_v1.ObjectMeta:
    return meta_v1.ObjectMeta(name=name, namespace=namespace)


SELECTOR = meta_v1.LabelSelector(match_labels={"app": "app"})


async def test_two_hundred_deployments_become_available(nodes: Client, home: str) -> None:
    await create_deployments(nodes, home, 200)
    await wait_until_available(nodes, home, within_seconds=WITHIN_SECONDS)

    running = await pods(nodes, home)
    addresses = {each.status.pod_ip for each in running if each.status is not None}
    used = sorted({each.spec.node_name or "" for each in running if each.spec is not None})
    assert len(running) == len(addresses) == 200
    assert used == ["node-1", "node-2", "node-3"]
    # A node without heartbeats would not be ready any more.
    found = (await nodes.list(core_v1.Node)).items
    assert all(is_ready(each) for each in found)


async def test_workloads_of_every_kind_become_ready(nodes: Client, home: str) -> None:
    await nodes.create(
        apps_v1.StatefulSet(
            metadata=metadata(home),
            spec=apps_v1.StatefulSetSpec(
                replicas=3, selector=SELECTOR, service_name="app", template=template()
            ),
        )
    )
    await nodes.create(
        apps_v1.DaemonSet(
            metadata=metadata(home),
            spec=apps_v1.DaemonSetSpec(selector=SELECTOR, template=template()),
        )
    )
    await nodes.create(
        batch_v1.Job(
            metadata=metadata(home),
            spec=batch_v1.JobSpec(
                completions=4, parallelism=2, template=template(restart_policy="Never")
            ),
        )
    )

    for kind in (apps_v1.StatefulSet, apps_v1.DaemonSet, batch_v1.Job):
        await wait_for(nodes, kind, "app", is_ready, namespace=home, within_seconds=WITHIN_SECONDS)

    ended = [each for each in await pods(nodes, home) if each.status is not None]
    assert sorted(str(each.status.phase) for each in ended if each.status is not None) == [
        *["Running"] * 6,
        *["Succeeded"] * 4,
    ]


async def test_the_pods_of_a_drained_node_are_recreated_on_other_nodes(
    plane: ControlPlane, nodes: Client, home: str
) -> None:
    await nodes.create(deployment("app", home, replicas=6))
    await wait_until_available(nodes, home, within_seconds=WITHIN_SECONDS)

    drain = ("drain", "node-2", "--ignore-daemonsets", "--force", "--timeout=60s")
    await asyncio.to_thread(plane.kubectl, *drain)

    # The Deployment's status may still be from before the drain.
    async def are_six_ready() -> bool:
        return [is_ready(each) for each in await pods(nodes, home)] == [True] * 6

    await until(nodes, are_six_ready)
    left = {each.spec.node_name for each in await pods(nodes, home) if each.spec is not None}
    await asyncio.to_thread(plane.kubectl, "uncordon", "node-2")
    assert left == {"node-1", "node-3"}


async def test_kubectl_describe_shows_the_events_of_a_pod(
    plane: ControlPlane, nodes: Client, home: str
) -> None:
    pod = template()
    await nodes.create(core_v1.Pod(metadata=metadata(home), spec=pod.spec))
    unschedulable = template(node_selector={"disk": "ssd"})
    await nodes.create(
        core_v1.Pod(metadata=metadata(home, "unschedulable"), spec=unschedulable.spec)
    )

    async def events_of(name: str, last: str) -> list[list[str]]:
        async with nodes.clock.timeout(WITHIN_SECONDS):
            while True:
                output = await asyncio.to_thread(
                    plane.kubectl, "describe", "pod", name, f"--namespace={home}"
                )
                if last in output.partition("Events:")[2]:
                    break
        rows = output.partition("Events:")[2].strip().splitlines()[2:]
        return [[part for part in row.strip().split("  ") if part] for row in rows]

    events = await events_of("app", "Started")
    failed = await events_of("unschedulable", "FailedScheduling")

    assert [(row[1].strip(), row[3].strip()) for row in events] == [
        ("Scheduled", "default-scheduler"),
        ("Pulled", "kubelet"),
        ("Created", "kubelet"),
        ("Started", "kubelet"),
    ]
    assert failed[0][-1].strip() == (
        "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
        " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )


async def test_a_deleted_pod_is_removed_immediately(nodes: Client, home: str) -> None:
    long_grace_period = template(termination_grace_period_seconds=10 * int(WITHIN_SECONDS))
    await nodes.create(
        apps_v1.Deployment(
            metadata=metadata(home),
            spec=apps_v1.DeploymentSpec(replicas=3, selector=SELECTOR, template=long_grace_period),
        )
    )
    await wait_until_available(nodes, home, within_seconds=WITHIN_SECONDS)

    await nodes.delete(apps_v1.Deployment, "app", namespace=home)

    async def is_empty() -> bool:
        return not await pods(nodes, home)

    # Long before the end of the grace period.
    await until(nodes, is_empty)
