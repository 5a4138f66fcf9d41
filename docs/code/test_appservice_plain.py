"""The plain function does what the awaited one does."""

from opdemo.appservice import AppService, Spec

import steersman as sm
from docs.code.appservice_plain import controller
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster

APP = AppService(
    metadata=meta_v1.ObjectMeta(name="web"),
    spec=Spec(image="nginx", size=2, ports=(core_v1.ServicePort(port=80),)),
)


async def start_operator(cluster: Cluster) -> None:
    await cluster.install(AppService)
    await cluster.run_operator(controller)


async def test_an_app_service_gets_a_deployment_and_a_service(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(APP)
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "web"))
    for kind in (apps_v1.Deployment, core_v1.Service):
        child = await cluster.get(kind, "web")
        owners = child.metadata.owner_references or ()
        assert [each.kind for each in owners] == ["AppService"]


async def test_a_deleted_child_is_created_again(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(APP)
    await cluster.settle()
    first = await cluster.get(core_v1.Service, "web")

    await cluster.delete(core_v1.Service, "web")
    await cluster.settle()

    second = await cluster.get(core_v1.Service, "web")
    assert second.uid != first.uid
