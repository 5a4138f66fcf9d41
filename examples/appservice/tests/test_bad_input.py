"""What is wrong is refused, or said on the object itself; nothing else is disturbed by it."""

from typing import Any, TypeVar

import pytest
import steersman as sm
from steersman.client import MergePatch, wait_for
from steersman.errors import Invalid
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import Cluster

from opdemo.appservice import App, AppService, Spec
from opdemo.operator import manager
from opdemo.webservice import WebService

A = TypeVar("A", bound=App)


def app(name: str = "web", *, image: str = "nginx", node_port: int = 30002) -> AppService:
    """What a person would apply."""
    port = core_v1.ServicePort(port=80, node_port=node_port)
    return AppService(metadata=meta_v1.ObjectMeta(name=name), spec=Spec(image=image, ports=(port,)))


def web_service() -> WebService:
    """The same of the other kind."""
    return WebService(metadata=app().metadata, spec=app().spec)


async def start_operator(cluster: Cluster) -> None:
    """The cluster knows both kinds, and the operator runs."""
    await cluster.install(AppService, WebService)
    await cluster.run_operator(*manager.controllers)


def problem_of(app: App) -> sm.Condition | None:
    """Why it is not ready, if something other than time is in the way."""
    for each in (app.status and app.status.conditions) or ():
        if each.type == "Ready" and not each.is_true and each.reason != "RollingOut":
            return each
    return None


async def complaint(cluster: Cluster, kind: type[A], name: str) -> str:
    """What an object says is wrong with it, once it does."""
    app = await wait_for(
        cluster.client,
        kind,
        name,
        lambda app: problem_of(app) is not None,
        namespace=cluster.namespace,
        within_seconds=30.0,
    )
    found = problem_of(app)
    assert found is not None
    return f"{found.reason}: {found.message}"


async def warnings(cluster: Cluster) -> list[str]:
    """What events have warned of."""
    events = await cluster.list(events_v1.Event)
    return [f"{each.reason}: {each.note}" for each in events if each.type == "Warning"]


async def test_an_image_that_is_empty_is_refused(cluster: Cluster) -> None:
    await start_operator(cluster)

    with pytest.raises(Invalid) as refused:
        await cluster.apply(app(image=""))

    assert [cause.field for cause in refused.value.causes] == ["spec.image"]


@pytest.mark.parametrize("name", ["n" * 64, "my.web"], ids=["too-long", "dotted"])
async def test_a_name_that_no_service_can_have_is_refused(cluster: Cluster, name: str) -> None:
    await start_operator(cluster)

    with pytest.raises(Invalid, match="63 characters at most, and no dots"):
        await cluster.apply(app(name))


async def test_the_longest_name_that_a_service_can_have_will_do(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app("n" * 63))
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "n" * 63))


async def test_who_wants_a_port_that_is_taken_says_so(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first"))
    await cluster.settle()

    await cluster.apply(app("second"))
    said = await complaint(cluster, AppService, "second")

    assert (
        "spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated" in said
    )
    assert sm.is_ready(await cluster.get(AppService, "first"))


async def test_who_wants_a_port_gets_it_once_it_is_free(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first"))
    await cluster.settle()
    await cluster.apply(app("second"))
    said = await complaint(cluster, AppService, "second")

    await cluster.delete(AppService, "first")
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "second"))
    assert await warnings(cluster) == [said]


async def test_another_port_is_taken_at_once(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first"))
    await cluster.settle()
    await cluster.apply(app("second"))
    await complaint(cluster, AppService, "second")

    await cluster.apply(app("second", node_port=30003))
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "second"))


async def test_a_port_outside_the_range_of_the_cluster_is_named(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app(node_port=80))
    said = await complaint(cluster, AppService, "web")

    assert "spec.ports[0].nodePort: Invalid value: 80" in said


async def test_what_is_wrong_with_the_service_keeps_nothing_from_the_deployment(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.apply(app(image="nginx:1.7.9", node_port=80))
    await complaint(cluster, AppService, "web")

    deployment = await cluster.get(apps_v1.Deployment, "web")
    service = await cluster.get(core_v1.Service, "web")
    assert "image='nginx:1.7.9'" in repr(deployment.spec)
    assert "node_port=30002" in repr(service.spec)


async def test_a_change_to_something_invalid_and_back_disturbs_nothing(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()
    before = [
        await cluster.get(apps_v1.Deployment, "web"),
        await cluster.get(core_v1.Service, "web"),
    ]

    worse: Any
    for worse in ({"image": ""}, {"size": -1}, {"ports": []}, {"ports": None}):
        with pytest.raises(Invalid):
            await cluster.patch(AppService, "web", MergePatch({"spec": worse}))
    await cluster.apply(app())
    await cluster.settle()

    assert before == [
        await cluster.get(apps_v1.Deployment, "web"),
        await cluster.get(core_v1.Service, "web"),
    ]


async def test_of_two_kinds_with_one_name_the_second_takes_nothing_from_the_first(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.apply(web_service())
    said = await complaint(cluster, WebService, "web")

    home = cluster.namespace
    assert said == (
        f"NotOurs: WebService {home}/web wants to own Deployment {home}/web, which already exists"
        f" and is controlled by AppService {home}/web. Rename one of them, or delete the existing"
        f" object."
    )
    assert sm.is_ready(await cluster.get(AppService, "web"))


async def test_of_two_kinds_with_one_name_the_second_follows_the_first(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()
    await cluster.apply(web_service())
    said = await complaint(cluster, WebService, "web")

    await cluster.delete(AppService, "web")
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "web")
    assert [each.kind for each in deployment.metadata.owner_references or ()] == ["WebService"]
    assert sm.is_ready(await cluster.get(WebService, "web"))
    assert await warnings(cluster) == [said]
