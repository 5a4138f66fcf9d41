"""AppService on a cluster in this process, in virtual time: no test waits.

``make test-real`` runs the same tests on a real control plane.
"""

import pytest
import steersman as sm
from steersman.errors import Invalid
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes

from shop.appservice import AppService, Spec, controller


def wanted(size: int, image: str = "nginx") -> AppService:
    """An object as a user would apply it."""
    spec = Spec(image=image, size=size, ports=(core_v1.ServicePort(port=80),))
    return AppService(metadata=meta_v1.ObjectMeta(name="web"), spec=spec)


async def start_operator(cluster: Cluster) -> None:
    """Install the kind and run the operator."""
    await cluster.install(AppService)
    await cluster.run_operator(controller)


async def test_it_runs_as_many_pods_as_its_size(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(wanted(size=3))
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 3


async def test_its_service_has_a_port_on_every_node(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(wanted(size=1))
    await cluster.settle()

    service = await cluster.get(core_v1.Service, "web")
    assert service.spec
    assert service.spec.type == "NodePort"
    assert service.spec.ports
    assert service.spec.ports[0].node_port


async def test_its_status_has_that_of_its_deployment(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(wanted(size=2))
    await cluster.settle()

    found = await cluster.get(AppService, "web")
    assert sm.is_ready(found)
    assert found.status
    assert found.status.available_replicas == 2


@pytest.mark.parametrize("kind", [apps_v1.Deployment, core_v1.Service])
async def test_a_deleted_child_is_created_again(cluster: Cluster, kind: type[sm.Resource]) -> None:
    await start_operator(cluster)
    await cluster.apply(wanted(size=1))
    await cluster.settle()
    before = await cluster.get(kind, "web")

    await cluster.delete(kind, "web")
    await cluster.settle()

    after = await cluster.get(kind, "web")
    assert after.uid != before.uid


async def test_an_empty_image_is_rejected(cluster: Cluster) -> None:
    await start_operator(cluster)

    with pytest.raises(Invalid, match="image"):
        await cluster.apply(wanted(size=1, image=""))


async def test_it_writes_nothing_when_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(wanted(size=2))

    await cluster.assert_second_pass_writes_nothing()


async def life(cluster: Cluster) -> None:
    """The steps of a user: apply an object, then delete it."""
    await cluster.apply(wanted(size=2))
    await cluster.settle()
    await cluster.delete(AppService, "web")
    await cluster.settle()


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    scenario = Scenario(operator=lambda: [controller], kinds=[AppService], steps=life)
    await survives_crashes(scenario)
