"""Invalid input is rejected or reported on the object, and changes no other object."""

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
    """An object as a user would apply it."""
    port = core_v1.ServicePort(port=80, node_port=node_port)
    return AppService(metadata=meta_v1.ObjectMeta(name=name), spec=Spec(image=image, ports=(port,)))


def web_service() -> WebService:
    """The same object of the other kind."""
    return WebService(metadata=app().metadata, spec=app().spec)


async def start_operator(cluster: Cluster) -> None:
    """Install both kinds and run the operator."""
    await cluster.install(AppService, WebService)
    await cluster.run_operator(*manager.controllers)


def problem_of(app: App) -> sm.Condition | None:
    """The condition of an app that has failed, or ``None``."""
    for each in (app.status and app.status.conditions) or ():
        if each.type == "Ready" and not each.is_true and each.reason != "RollingOut":
            return each
    return None


async def complaint(cluster: Cluster, kind: type[A], name: str) -> str:
    """Wait until the app reports a failure, and return reason and message."""
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
    """Reason and message of each Warning event."""
    events = await cluster.list(events_v1.Event)
    return [f"{each.reason}: {each.note}" for each in events if each.type == "Warning"]


async def test_an_empty_image_is_rejected(cluster: Cluster) -> None:
    await start_operator(cluster)

    with pytest.raises(Invalid) as refused:
        await cluster.apply(app(image=""))

    assert [cause.field for cause in refused.value.causes] == ["spec.image"]


@pytest.mark.parametrize("name", ["n" * 64, "my.web"], ids=["too-long", "dotted"])
async def test_a_name_that_is_invalid_for_a_service_is_rejected(
    cluster: Cluster, name: str
) -> None:
    await start_operator(cluster)

    with pytest.raises(Invalid, match="at most 63 characters, and no dots"):
        await cluster.apply(app(name))


async def test_a_name_of_63_characters_is_accepted(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app("n" * 63))
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "n" * 63))


async def test_an_app_reports_a_node_port_that_is_taken(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first"))
    await cluster.settle()

    await cluster.apply(app("second"))
    reported = await complaint(cluster, AppService, "second")

    assert (
        "spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated"
        in reported
    )
    assert sm.is_ready(await cluster.get(AppService, "first"))


async def test_an_app_gets_its_node_port_once_it_is_free(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first"))
    await cluster.settle()
    await cluster.apply(app("second"))
    reported = await complaint(cluster, AppService, "second")

    await cluster.delete(AppService, "first")
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "second"))
    assert await warnings(cluster) == [reported]


async def test_an_app_recovers_when_its_node_port_changes(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first"))
    await cluster.settle()
    await cluster.apply(app("second"))
    await complaint(cluster, AppService, "second")

    await cluster.apply(app("second", node_port=30003))
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "second"))


async def test_an_app_reports_a_node_port_outside_the_range(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app(node_port=80))
    reported = await complaint(cluster, AppService, "web")

    assert "spec.ports[0].nodePort: Invalid value: 80" in reported


async def test_an_invalid_service_does_not_prevent_a_change_of_the_deployment(
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


async def test_rejected_changes_do_not_change_the_children(cluster: Cluster) -> None:
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


async def test_an_app_does_not_take_the_children_of_the_other_kind(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.apply(web_service())
    reported = await complaint(cluster, WebService, "web")

    home = cluster.namespace
    assert reported == (
        f"NotOurs: WebService {home}/web wants to own Deployment {home}/web, which already exists"
        f" and is controlled by AppService {home}/web. Rename one of them, or delete the existing"
        f" object."
    )
    assert sm.is_ready(await cluster.get(AppService, "web"))


async def test_an_app_gets_the_name_once_the_other_kind_is_deleted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()
    await cluster.apply(web_service())
    reported = await complaint(cluster, WebService, "web")

    await cluster.delete(AppService, "web")
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "web")
    assert [each.kind for each in deployment.metadata.owner_references or ()] == ["WebService"]
    assert sm.is_ready(await cluster.get(WebService, "web"))
    assert await warnings(cluster) == [reported]
