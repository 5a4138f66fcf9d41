"""The AppService example, tested in the test's own process: ``pytest examples/test_appservice.py``.

No cluster, no socket, no waiting. Nobody runs Pods there, so that the tests say how far the
Deployment has got.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from random import Random
from typing import Any, TypeAlias

import pytest

import steersman as sm
from examples import appservice, appservice_plain
from examples.appservice import AppService, Spec, Status
from examples.installing import install
from examples.operating import operating
from steersman.apiserver import ApiServer, InProcessTransport, NoWayOut, RevisionLog
from steersman.client import Client, MergePatch, wait_for
from steersman.clock import SystemClock
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.manager import Surroundings
from steersman.observe import ignore

NAMESPACE = "default"

Operator: TypeAlias = sm.Controller[AppService]
BOTH = pytest.mark.parametrize(
    "controller", [appservice.controller, appservice_plain.controller], ids=["awaited", "plain"]
)


def app(*, size: int) -> AppService:
    """What a person would apply."""
    return AppService(
        metadata=meta_v1.ObjectMeta(name="web", namespace=NAMESPACE),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


@asynccontextmanager
async def cluster_with(controller: Operator) -> AsyncIterator[Client]:
    """A cluster on which the operator is at work."""
    clock, rng = SystemClock(), Random(0)
    server = ApiServer(
        log=RevisionLog(), tokens={}, clock=clock, rng=rng, observe=ignore, outbound=NoWayOut()
    )
    client = Client(InProcessTransport(server), clock=clock, rng=rng, observe=ignore)
    await install(client, AppService)
    around = Surroundings(
        reach=lambda: nullcontext(InProcessTransport(server)),
        namespace=NAMESPACE,
        hostname="here",
        clock=clock,
        rng=rng,
        observe=ignore,
    )
    async with operating(around, controller):
        yield client


async def seen(client: Client, kind: type[Any], condition: Any) -> Any:
    """The object called web, once it is as it should be."""
    return await wait_for(client, kind, "web", condition, namespace=NAMESPACE, within_seconds=5)


async def roll_out(client: Client, *, replicas: int) -> None:
    """Do what Kubernetes would: say that all Pods are there."""
    deployment = await client.get(apps_v1.Deployment, "web", namespace=NAMESPACE)
    status = apps_v1.DeploymentStatus(
        observed_generation=deployment.generation,
        replicas=replicas,
        updated_replicas=replicas,
        ready_replicas=replicas,
        available_replicas=replicas,
    )
    await client.status(apps_v1.Deployment, "web", namespace=NAMESPACE).patch(
        MergePatch({"status": status}), field_manager="kubernetes"
    )


def is_ready(size: int) -> Any:
    """Whether an app says that it runs at this size."""
    return lambda app: sm.is_ready(app) and app.status.replicas == size


@BOTH
async def test_an_app_service_gets_a_deployment_and_a_service(controller: Operator) -> None:
    async with cluster_with(controller) as client:
        await client.create(app(size=3))

        deployment = await seen(client, apps_v1.Deployment, bool)
        service = await seen(client, core_v1.Service, bool)

        assert deployment.spec.replicas == 3
        assert service.spec.type == "NodePort"
        for child in (deployment, service):
            assert [each.kind for each in child.metadata.owner_references] == ["AppService"]


@BOTH
async def test_it_is_ready_once_its_deployment_is(controller: Operator) -> None:
    async with cluster_with(controller) as client:
        await client.create(app(size=2))
        waiting = await seen(client, AppService, lambda app: app.status is not None)
        assert not sm.is_ready(waiting)

        await roll_out(client, replicas=2)

        ready = await seen(client, AppService, is_ready(2))
        assert ready.status.observed_generation == ready.generation


@BOTH
async def test_it_follows_a_new_size_and_keeps_its_node_port(controller: Operator) -> None:
    async with cluster_with(controller) as client:
        await client.create(app(size=3))
        await seen(client, AppService, lambda app: app.status is not None)
        before = await seen(client, core_v1.Service, bool)

        await client.apply(app(size=1), field_manager="me", force=True)

        await seen(client, apps_v1.Deployment, lambda deployment: deployment.spec.replicas == 1)
        await roll_out(client, replicas=1)
        await seen(client, AppService, is_ready(1))
        after = await seen(client, core_v1.Service, bool)
        assert after.spec.ports == before.spec.ports


@BOTH
async def test_a_child_that_is_deleted_comes_back(controller: Operator) -> None:
    async with cluster_with(controller) as client:
        await client.create(app(size=1))
        first = await seen(client, core_v1.Service, bool)

        await client.delete(core_v1.Service, "web", namespace=NAMESPACE)

        second = await seen(client, core_v1.Service, lambda service: service.uid != first.uid)
        assert second.spec.ports[0].port == 80


def test_the_status_is_that_of_the_deployment_with_a_condition_more() -> None:
    ready = sm.Condition.when(True, "Ready", yes="RolledOut", no="RollingOut")

    status = Status.inlining(apps_v1.DeploymentStatus(replicas=3)).with_condition(ready)

    assert status.replicas == 3
    assert [each.type for each in status.conditions or ()] == ["Ready"]
