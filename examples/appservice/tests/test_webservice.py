"""WebService: the same as AppService, under its own name."""

import steersman as sm
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes

from opdemo.appservice import Spec
from opdemo.webservice import WebService, controller


def web(*, size: int) -> WebService:
    """An object as a user would apply it."""
    return WebService(
        metadata=meta_v1.ObjectMeta(name="web"),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


async def start_operator(cluster: Cluster) -> None:
    """Install the kind and run the operator."""
    await cluster.install(WebService)
    await cluster.run_operator(controller)


async def test_a_web_service_gets_its_own_children(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(web(size=2))
    await cluster.settle()

    assert sm.is_ready(await cluster.get(WebService, "web"))
    assert len(await cluster.list(core_v1.Pod)) == 2
    for kind in (apps_v1.Deployment, core_v1.Service):
        child = await cluster.get(kind, "web")
        owners = child.metadata.owner_references or ()
        assert [(each.kind, each.controller) for each in owners] == [("WebService", True)]


async def test_the_operator_writes_nothing_if_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(web(size=2))

    await cluster.assert_second_pass_writes_nothing()


async def life(cluster: Cluster) -> None:
    """The steps of a user: apply an object, then delete it."""
    await cluster.apply(web(size=1))
    await cluster.settle()
    await cluster.delete(WebService, "web")
    await cluster.settle()


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    scenario = Scenario(operator=lambda: [controller], kinds=[WebService], steps=life)
    await survives_crashes(scenario)
