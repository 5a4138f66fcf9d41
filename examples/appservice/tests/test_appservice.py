"""The AppService example, tested on a whole cluster: ``make test``.

The cluster is in the test's own process, and its time is a number: nothing is waited for. With
``--cluster=real`` the same tests run against a real control plane.
"""

from typing import TypeAlias

import pytest

import steersman as sm
from docs.code import appservice_plain
from opdemo import appservice
from opdemo.appservice import AppService, Spec, Status
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.simulation import Scenario, World, survives_crashes

Operator: TypeAlias = sm.Controller[AppService]
BOTH = pytest.mark.parametrize(
    "controller", [appservice.controller, appservice_plain.controller], ids=["awaited", "plain"]
)


def app(name: str = "web", *, size: int) -> AppService:
    """What a person would apply."""
    return AppService(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


async def at_work(cluster: World, controller: Operator) -> None:
    """The operator runs, and the cluster knows its kind."""
    await cluster.install(AppService)
    await cluster.run_operator(controller)


@BOTH
async def test_an_app_service_gets_a_deployment_and_a_service(
    cluster: World, controller: Operator
) -> None:
    await at_work(cluster, controller)

    await cluster.apply(app(size=3))
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "web")
    service = await cluster.get(core_v1.Service, "web")
    assert len(await cluster.list(core_v1.Pod)) == 3
    assert service.spec is not None
    assert service.spec.type == "NodePort"
    for child in (deployment, service):
        owners = child.metadata.owner_references or ()
        assert [each.kind for each in owners] == ["AppService"]


@BOTH
async def test_it_is_ready_once_its_pods_are(cluster: World, controller: Operator) -> None:
    await at_work(cluster, controller)

    await cluster.apply(app(size=2))
    await cluster.settle()

    ready = await cluster.get(AppService, "web")
    assert sm.is_ready(ready)
    assert ready.status is not None
    assert ready.status.available_replicas == 2


async def test_shrinking_an_app_keeps_its_node_port(cluster: World) -> None:
    await at_work(cluster, appservice.controller)
    await cluster.apply(app("web", size=3))
    await cluster.settle()
    before = await cluster.get(core_v1.Service, "web")

    await cluster.apply(app("web", size=1))
    await cluster.settle()

    after = await cluster.get(core_v1.Service, "web")
    assert after.spec == before.spec


@BOTH
async def test_a_child_that_is_deleted_comes_back(cluster: World, controller: Operator) -> None:
    await at_work(cluster, controller)
    await cluster.apply(app(size=1))
    await cluster.settle()
    first = await cluster.get(core_v1.Service, "web")

    await cluster.delete(core_v1.Service, "web")
    await cluster.settle()

    second = await cluster.get(core_v1.Service, "web")
    assert second.uid != first.uid


async def test_nothing_is_left_of_an_app_that_is_deleted(cluster: World) -> None:
    await at_work(cluster, appservice.controller)
    await cluster.apply(app(size=2))
    await cluster.settle()

    await cluster.delete(AppService, "web")
    await cluster.settle()

    assert await cluster.find(apps_v1.Deployment, "web") is None
    assert await cluster.list(core_v1.Pod) == []


async def test_it_writes_nothing_when_nothing_has_changed(cluster: World) -> None:
    await at_work(cluster, appservice.controller)
    await cluster.apply(app(size=2))

    await cluster.assert_second_pass_writes_nothing()


async def life_of_an_app(cluster: World) -> None:
    """What users do in the life of an app."""
    await cluster.apply(app(size=1))
    await cluster.settle()
    await cluster.delete(AppService, "web")
    await cluster.settle()


async def test_it_comes_to_the_same_wherever_it_crashes() -> None:
    scenario = Scenario(operator=[appservice.controller], kinds=[AppService], story=life_of_an_app)
    await survives_crashes(scenario)


def test_the_status_is_that_of_the_deployment_with_a_condition_more() -> None:
    ready = sm.Condition.when(True, "Ready", yes="RolledOut", no="RollingOut")

    status = Status.inlining(apps_v1.DeploymentStatus(replicas=3)).with_condition(ready)

    assert status.replicas == 3
    assert [each.type for each in status.conditions or ()] == ["Ready"]
