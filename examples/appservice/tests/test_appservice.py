"""AppService on a cluster in this process, in virtual time: no test waits.

``make test-real`` runs the same tests on a real control plane.
"""

from typing import Any

import pytest
import steersman as sm
from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes

from opdemo import appservice
from opdemo.appservice import AppService, Spec, Status, targets_of


def app(name: str = "web", *, size: int) -> AppService:
    """An object as a user would apply it."""
    return AppService(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


async def start_operator(cluster: Cluster) -> None:
    """Install the kind and run the operator."""
    await cluster.install(AppService)
    await cluster.run_operator(appservice.controller)


async def container(cluster: Cluster) -> core_v1.Container:
    """The container in the Pods of the app."""
    deployment = await cluster.get(apps_v1.Deployment, "web")
    assert deployment.spec is not None
    assert deployment.spec.template.spec is not None
    return deployment.spec.template.spec.containers[0]


async def test_an_app_service_gets_a_deployment_and_a_service(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app(size=3))
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "web")
    service = await cluster.get(core_v1.Service, "web")
    assert len(await cluster.list(core_v1.Pod)) == 3
    assert service.spec is not None
    assert service.spec.type == "NodePort"
    for child in (deployment, service):
        owners = child.metadata.owner_references or ()
        assert [(each.kind, each.controller) for each in owners] == [("AppService", True)]


async def test_an_app_is_ready_once_its_pods_are(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app(size=2))
    await cluster.settle()

    ready = await cluster.get(AppService, "web")
    assert sm.is_ready(ready)
    assert ready.status is not None
    assert ready.status.available_replicas == 2


async def test_shrinking_an_app_keeps_its_node_port(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("web", size=3))
    await cluster.settle()
    before = await cluster.get(core_v1.Service, "web")

    await cluster.apply(app("web", size=1))
    await cluster.settle()

    after = await cluster.get(core_v1.Service, "web")
    assert after.spec == before.spec


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("image", "nginx:1.29"),
        ("envs", [{"name": "COLOR", "value": "blue"}]),
        ("resources", {"limits": {"memory": "64Mi"}}),
        ("ports", [{"port": 80, "targetPort": 8080}]),
    ],
)
async def test_a_change_of_each_field_reaches_the_container(
    cluster: Cluster, field: str, value: Any
) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=1))
    await cluster.settle()
    before = await container(cluster)

    changed = await cluster.patch(AppService, "web", MergePatch({"spec": {field: value}}))
    await cluster.settle()

    after = await container(cluster)
    assert after != before
    assert (after.image, after.env or ()) == (changed.spec.image, changed.spec.envs)
    assert after.resources == (changed.spec.resources or before.resources)
    assert after.ports == targets_of(changed.spec.ports)


async def test_a_change_of_the_size_reaches_the_pods(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=1))
    await cluster.settle()

    await cluster.patch(AppService, "web", MergePatch({"spec": {"size": 3}}))
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 3


async def test_a_change_of_the_ports_reaches_the_service(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=1))
    await cluster.settle()

    ports = [{"port": 8000, "targetPort": 80, "nodePort": 30002}]
    await cluster.patch(AppService, "web", MergePatch({"spec": {"ports": ports}}))
    await cluster.settle()

    service = await cluster.get(core_v1.Service, "web")
    assert service.spec is not None
    (port,) = service.spec.ports or (None,)
    assert port == core_v1.ServicePort(port=8000, target_port=80, node_port=30002, protocol="TCP")


@pytest.mark.parametrize("kind", [apps_v1.Deployment, core_v1.Service])
async def test_a_deleted_child_is_created_again(
    cluster: Cluster, kind: type[apps_v1.Deployment | core_v1.Service]
) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=1))
    await cluster.settle()
    first = await cluster.get(kind, "web")

    await cluster.delete(kind, "web")
    await cluster.settle()

    second = await cluster.get(kind, "web")
    assert second.uid != first.uid
    assert sm.is_ready(await cluster.get(AppService, "web"))


async def test_a_change_by_another_client_is_reverted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=2))
    await cluster.settle()

    await cluster.patch(apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 5}}))
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 2


async def test_the_children_of_a_deleted_app_are_deleted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=2))
    await cluster.settle()

    await cluster.delete(AppService, "web")
    await cluster.settle()

    assert await cluster.find(apps_v1.Deployment, "web") is None
    assert await cluster.find(core_v1.Service, "web") is None
    assert await cluster.list(core_v1.Pod) == []


async def test_the_operator_writes_nothing_if_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(size=2))

    await cluster.assert_second_pass_writes_nothing()


async def life_of_an_app(cluster: Cluster) -> None:
    """The steps of a user: apply an app, then delete it."""
    await cluster.apply(app(size=1))
    await cluster.settle()
    await cluster.delete(AppService, "web")
    await cluster.settle()


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    scenario = Scenario(
        operator=lambda: [appservice.controller], kinds=[AppService], steps=life_of_an_app
    )
    await survives_crashes(scenario)


def test_the_status_is_that_of_the_deployment_and_a_condition() -> None:
    ready = sm.Condition.when(True, "Ready", yes="RolledOut", no="RollingOut")

    status = Status.inlining(apps_v1.DeploymentStatus(replicas=3)).with_condition(ready)

    assert status.replicas == 3
    assert [each.type for each in status.conditions or ()] == ["Ready"]


def test_a_container_has_each_target_port_of_the_service_once() -> None:
    ports = (
        core_v1.ServicePort(name="same", port=80),
        core_v1.ServicePort(name="other", port=81, target_port=8080),
        core_v1.ServicePort(name="again", port=82, target_port=8080),
        core_v1.ServicePort(name="named", port=83, target_port="web"),
        core_v1.ServicePort(name="named-again", port=84, target_port="web"),
        core_v1.ServicePort(name="dns", port=53, protocol="UDP"),
    )

    targets = targets_of(ports)

    assert [(each.container_port, each.protocol, each.name) for each in targets] == [
        (80, "TCP", None),
        (8080, "TCP", None),
        (83, "TCP", "web"),
        (53, "UDP", None),
    ]
