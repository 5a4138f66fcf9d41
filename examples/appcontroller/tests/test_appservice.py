"""AppService on a cluster in this process, in virtual time: no test waits.

With ``--cluster=real`` the tests that ask for ``cluster`` run on a real control plane.
"""

import pytest
import steersman as sm
from steersman.client import MergePatch, wait_for
from steersman.errors import Invalid
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes

from app_controller.appservice import (
    NGINX,
    AppService,
    Spec,
    Status,
    available,
    controller,
)


def app(name: str = "shop", *, deployment: str = "web", replicas: int | None = 2) -> AppService:
    """An object as a user would apply it."""
    spec = Spec(deployment_name=deployment, replicas=replicas)
    return AppService(metadata=meta_v1.ObjectMeta(name=name), spec=spec)


async def start_operator(cluster: Cluster) -> None:
    """Install the kind and run the operator."""
    await cluster.install(AppService)
    await cluster.run_operator(controller)


async def status(cluster: Cluster, name: str = "shop") -> Status:
    """The status of an AppService."""
    found = (await cluster.get(AppService, name)).status
    assert found is not None
    return found


async def replicas(cluster: Cluster, name: str = "web") -> int | None:
    """The replicas in the spec of a Deployment."""
    spec = (await cluster.get(apps_v1.Deployment, name)).spec
    assert spec is not None
    return spec.replicas


async def events(cluster: Cluster, reason: str) -> list[events_v1.Event]:
    """The events with a reason."""
    return [each for each in await cluster.list(events_v1.Event) if each.reason == reason]


async def no_more_than_two_pods(cluster: Cluster) -> None:
    """Create a quota of two Pods, and wait until its status is set."""
    quota = core_v1.ResourceQuota(
        metadata=meta_v1.ObjectMeta(name="two"),
        spec=core_v1.ResourceQuotaSpec(hard={"pods": Quantity("2")}),
    )
    await cluster.create(quota)
    await wait_for(
        cluster.client,
        core_v1.ResourceQuota,
        "two",
        lambda found: found.status is not None and found.status.used is not None,
        namespace=cluster.namespace,
        within_seconds=30.0,
    )


async def test_an_app_service_gets_a_deployment_with_its_name(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app(deployment="web", replicas=2))
    await cluster.settle()

    deployment = await cluster.get(apps_v1.Deployment, "web")
    owners = deployment.metadata.owner_references or ()
    assert [(each.kind, each.name) for each in owners] == [("AppService", "shop")]
    assert len(await cluster.list(core_v1.Pod)) == 2
    assert (await status(cluster)).available_replicas == 2
    assert sm.is_ready(await cluster.get(AppService, "shop"))
    assert [each.type for each in await events(cluster, "Synced")] == ["Normal"]


async def test_a_change_of_the_replicas_by_another_client_is_reverted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(replicas=2))
    await cluster.settle()

    await cluster.patch(apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 5}}))
    await cluster.settle()

    assert await replicas(cluster) == 2
    assert len(await cluster.list(core_v1.Pod)) == 2


async def test_without_replicas_other_clients_can_scale_the_deployment(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(replicas=None))
    await cluster.settle()

    await cluster.patch(apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 5}}))
    await cluster.settle()

    assert await replicas(cluster) == 5
    assert (await status(cluster)).available_replicas == 5


async def test_a_deleted_deployment_is_created_again(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.delete(apps_v1.Deployment, "web")
    await cluster.settle()

    assert (await status(cluster)).available_replicas == 2


async def test_the_deployment_of_a_deleted_app_service_is_deleted(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.delete(AppService, "shop")
    await cluster.settle()

    assert await cluster.find(apps_v1.Deployment, "web") is None
    assert await cluster.list(core_v1.Pod) == []


# Names that are taken


async def test_a_foreign_deployment_is_not_changed_and_an_event_reports_it(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    theirs = await cluster.create(sm.recipes.deployment("web", NGINX, replicas=1))
    await cluster.settle()

    await cluster.apply(app(deployment="web", replicas=3))
    await cluster.settle()

    now = await cluster.get(apps_v1.Deployment, "web")
    [event] = await events(cluster, "ErrResourceExists")
    [ready] = (await status(cluster)).conditions
    assert (now.uid, now.generation) == (theirs.uid, theirs.generation)
    assert event.type == "Warning"
    assert event.note is not None
    assert "set spec.deploymentName to a free name" in event.note
    assert (ready.status, ready.message) == ("False", event.note)


async def test_the_second_of_two_app_services_with_one_name_waits_until_the_first_is_deleted(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(app("first", deployment="web", replicas=1))
    await cluster.settle()
    await cluster.apply(app("second", deployment="web", replicas=3))
    await cluster.settle()
    assert await replicas(cluster) == 1
    [ready] = (await status(cluster, "second")).conditions
    assert "belongs to AppService" in (ready.message or "")

    await cluster.delete(AppService, "first")
    await cluster.settle()

    assert sm.is_ready(await cluster.get(AppService, "second"))
    assert (await status(cluster, "second")).available_replicas == await replicas(cluster) == 3


async def test_an_orphaned_deployment_is_adopted_by_an_app_service_of_the_same_name(
    cluster: Cluster,
) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()
    before = await cluster.get(apps_v1.Deployment, "web")
    await cluster.delete(AppService, "shop", propagation="Orphan")
    await cluster.settle()

    await cluster.apply(app())
    await cluster.settle()

    after = await cluster.get(apps_v1.Deployment, "web")
    owners = after.metadata.owner_references or ()
    assert after.uid == before.uid
    assert [(each.kind, each.name) for each in owners] == [("AppService", "shop")]


# New names


async def test_a_new_name_creates_a_deployment_and_deletes_the_old_one(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(deployment="old"))
    await cluster.settle()

    await cluster.apply(app(deployment="new"))
    await cluster.settle()

    assert [each.name for each in await cluster.list(apps_v1.Deployment)] == ["new"]
    assert (await status(cluster)).available_replicas == 2


async def test_the_old_deployment_stays_until_the_new_one_is_ready(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(deployment="old"))
    await cluster.settle()
    await no_more_than_two_pods(cluster)

    await cluster.apply(app(deployment="new"))
    await cluster.settle()

    old = await cluster.get(apps_v1.Deployment, "old")
    assert available([old]) == 2
    assert old.deletion_time is None


async def test_the_old_deployment_stays_while_the_new_name_is_taken(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.create(sm.recipes.deployment("theirs", NGINX))
    await cluster.apply(app(deployment="ours"))
    await cluster.settle()

    await cluster.apply(app(deployment="theirs"))
    await cluster.settle()

    assert [each.name for each in await cluster.list(apps_v1.Deployment)] == ["ours", "theirs"]
    assert (await status(cluster)).available_replicas == 2


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (app(deployment=""), "spec.deploymentName"),
        (app(deployment="Not A Name"), "spec.deploymentName"),
        (app(replicas=-1), "spec.replicas"),
    ],
    ids=["empty name", "invalid name", "negative replicas"],
)
async def test_an_invalid_spec_is_rejected_and_changes_nothing(
    cluster: Cluster, bad: AppService, field: str
) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    with pytest.raises(Invalid, match=field):
        await cluster.apply(bad)
    await cluster.settle()

    assert [each.name for each in await cluster.list(apps_v1.Deployment)] == ["web"]
    assert await replicas(cluster) == 2


# Idle, and with crashes


async def test_the_operator_writes_nothing_if_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app())

    await cluster.assert_second_pass_writes_nothing()


async def life(cluster: Cluster) -> None:
    """The steps of a user: create it, change the name of its Deployment, and delete it."""
    await cluster.apply(app(deployment="old", replicas=1))
    await cluster.settle()
    await cluster.apply(app(deployment="new", replicas=1))
    await cluster.settle()
    await cluster.delete(AppService, "shop")
    await cluster.settle()


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    await survives_crashes(Scenario(operator=lambda: [controller], kinds=[AppService], steps=life))
