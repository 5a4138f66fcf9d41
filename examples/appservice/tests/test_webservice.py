"""WebService on a cluster in this process, whose time is a number: nothing is waited for.

``make test-real`` runs the same tests on a real control plane.
"""

import steersman as sm
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.simulation import Scenario, World, survives_crashes

from opdemo.webservice import Spec, WebService, controller


def wanted(size: int) -> WebService:
    """What a person would apply."""
    spec = Spec(image="nginx", size=size)
    return WebService(metadata=meta_v1.ObjectMeta(name="web"), spec=spec)


async def at_work(cluster: World) -> None:
    """The cluster knows the kind, and the operator runs."""
    await cluster.install(WebService)
    await cluster.run_operator(controller)


async def test_as_many_pods_run_as_it_says(cluster: World) -> None:
    await at_work(cluster)

    await cluster.apply(wanted(size=3))
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 3


async def test_it_is_ready_once_its_pods_are(cluster: World) -> None:
    await at_work(cluster)

    await cluster.apply(wanted(size=2))
    await cluster.settle()

    found = await cluster.get(WebService, "web")
    assert sm.is_ready(found)


async def test_a_deployment_that_is_deleted_comes_back(cluster: World) -> None:
    await at_work(cluster)
    await cluster.apply(wanted(size=1))
    await cluster.settle()

    await cluster.delete(apps_v1.Deployment, "web")
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 1


async def test_it_writes_nothing_when_nothing_has_changed(cluster: World) -> None:
    await at_work(cluster)

    await cluster.apply(wanted(size=2))

    await cluster.assert_second_pass_writes_nothing()


async def life(cluster: World) -> None:
    """What users do, from the first day to the last."""
    await cluster.apply(wanted(size=2))
    await cluster.settle()
    await cluster.delete(WebService, "web")
    await cluster.settle()


async def test_it_comes_to_the_same_wherever_the_operator_crashes() -> None:
    scenario = Scenario(operator=[controller], kinds=[WebService], story=life)
    await survives_crashes(scenario)
