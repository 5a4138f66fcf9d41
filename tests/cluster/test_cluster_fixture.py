"""The fixture ``cluster``: the same tests in virtual time, and on a real control plane.

``pytest tests/cluster/test_cluster_fixture.py --cluster=real`` is how tests/real runs them.
"""

from typing import Any

import pytest
from opdemo import appservice
from opdemo.appservice import AppService, Spec

import steersman as sm
from steersman.errors import NotFound
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import Cluster


def app(*, size: int) -> AppService:
    """An AppService as a user applies it."""
    return AppService(
        metadata=meta_v1.ObjectMeta(name="web"),
        spec=Spec(image="nginx", size=size, ports=(core_v1.ServicePort(port=80),)),
    )


@pytest.fixture
async def served(cluster: Cluster) -> None:
    """Install the definition of AppServices."""
    await cluster.install(AppService)


@pytest.fixture
async def operator(cluster: Cluster, served: None) -> Any:
    """The running operator of AppServices."""
    return await cluster.run_operator(appservice.controller)


async def test_an_app_is_ready_once_its_pods_are(cluster: Cluster, operator: Any) -> None:
    await cluster.apply(app(size=2))
    await cluster.settle()

    ready = await cluster.get(AppService, "web")
    assert sm.is_ready(ready)
    assert ready.status is not None
    assert ready.status.ready_replicas == 2
    assert len(await cluster.list(core_v1.Pod)) == 2


async def test_the_next_operator_completes_the_work_of_a_killed_one(
    cluster: Cluster, operator: Any
) -> None:
    await cluster.apply(app(size=2))
    await cluster.settle()

    await operator.kill()
    await cluster.apply(app(size=3))
    await cluster.settle()
    untouched = await cluster.get(apps_v1.Deployment, "web")
    await cluster.run_operator(appservice.controller)
    await cluster.settle()

    assert untouched.spec is not None
    assert untouched.spec.replicas == 2
    ready = await cluster.get(AppService, "web")
    assert ready.status is not None
    assert ready.status.ready_replicas == 3


async def test_a_stopped_operator_writes_nothing(cluster: Cluster, operator: Any) -> None:
    await cluster.apply(app(size=1))
    await cluster.settle()
    await operator.stop()
    before = cluster.history_position()

    await cluster.apply(app(size=2))
    await cluster.settle()

    assert cluster.writes_since(before) == []


async def test_a_second_pass_writes_nothing(cluster: Cluster, operator: Any) -> None:
    await cluster.apply(app(size=1))
    await cluster.settle()
    assert [each.method for each in cluster.writes_since(0)][:2] == ["PATCH", "PATCH"]

    await cluster.assert_second_pass_writes_nothing()


async def test_the_objects_that_an_app_owns_are_deleted_with_it(
    cluster: Cluster, operator: Any
) -> None:
    await cluster.apply(app(size=1))
    await cluster.settle()

    await cluster.delete(AppService, "web")
    await cluster.settle()

    assert await cluster.list(core_v1.Pod) == []
    with pytest.raises(NotFound):
        await cluster.get(core_v1.Service, "web")


@pytest.mark.embedded_only(reason="it waits for an hour")
async def test_an_hour_takes_no_time(cluster: Cluster) -> None:
    before = cluster.clock.now()

    await cluster.advance(3600)
    await cluster.settle()

    assert (cluster.clock.now() - before).total_seconds() >= 3600
