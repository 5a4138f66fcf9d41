"""AppService on a cluster in this process, whose time is a number: nothing is waited for.

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
    """What a person would apply."""
    spec = Spec(deployment_name=deployment, replicas=replicas)
    return AppService(metadata=meta_v1.ObjectMeta(name=name), spec=spec)


async def start_operator(cluster: Cluster) -> None:
    """Install the kind and run the operator."""
    await cluster.install(AppService)
    await cluster.run_operator(controller)


async def status(cluster: Cluster, name: str = "shop") -> Status:
    """What an AppService says of itself."""
    found = (await cluster.get(AppService, name)).status
    assert found is not None
    return found


async def replicas(cluster: Cluster, name: str = "web") -> int | None:
    """How many Pods a Deployment should have."""
    spec = (await cluster.get(apps_v1.Deployment, name)).spec
    assert spec is not None
    return spec.replicas


async def events(cluster: Cluster, reason: str) -> list[events_v1.Event]:
    """Those that say this."""
    return [each for each in await cluster.list(events_v1.Event) if each.reason == reason]


async def no_more_than_two_pods(cluster: Cluster) -> None:
    """A quota says so, and the cluster has taken notice."""
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


async def test_a_deployment_comes_under_the_name_that_is_asked_for(cluster: Cluster) -> None:
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


async def test_whoever_scales_the_deployment_by_hand_is_corrected(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(replicas=2))
    await cluster.settle()

    await cluster.patch(apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 5}}))
    await cluster.settle()

    assert await replicas(cluster) == 2
    assert len(await cluster.list(core_v1.Pod)) == 2


async def test_without_a_number_scaling_is_left_to_others(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(replicas=None))
    await cluster.settle()

    await cluster.patch(apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 5}}))
    await cluster.settle()

    assert await replicas(cluster) == 5
    assert (await status(cluster)).available_replicas == 5


async def test_a_deployment_that_is_deleted_comes_back(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.delete(apps_v1.Deployment, "web")
    await cluster.settle()

    assert (await status(cluster)).available_replicas == 2


async def test_with_the_app_service_goes_its_deployment(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app())
    await cluster.settle()

    await cluster.delete(AppService, "shop")
    await cluster.settle()

    assert await cluster.find(apps_v1.Deployment, "web") is None
    assert await cluster.list(core_v1.Pod) == []


# A name that somebody else has


async def test_a_deployment_of_somebody_else_is_left_alone_and_that_is_said(
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
    assert "set spec.deploymentName to a name that is free" in event.note
    assert (ready.status, ready.message) == ("False", event.note)


async def test_of_two_that_want_one_name_the_second_waits_until_the_first_is_gone(
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


async def test_a_deployment_that_one_of_the_same_name_left_behind_is_adopted(
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


# Another name


async def test_another_name_is_another_deployment_and_the_old_one_goes(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(deployment="old"))
    await cluster.settle()

    await cluster.apply(app(deployment="new"))
    await cluster.settle()

    assert [each.name for each in await cluster.list(apps_v1.Deployment)] == ["new"]
    assert (await status(cluster)).available_replicas == 2


async def test_the_old_one_does_the_work_until_the_new_one_can(cluster: Cluster) -> None:
    await start_operator(cluster)
    await cluster.apply(app(deployment="old"))
    await cluster.settle()
    await no_more_than_two_pods(cluster)

    await cluster.apply(app(deployment="new"))
    await cluster.settle()

    old = await cluster.get(apps_v1.Deployment, "old")
    assert available([old]) == 2
    assert old.deletion_time is None


async def test_the_old_one_stays_while_the_new_name_cannot_be_had(cluster: Cluster) -> None:
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
    ids=["no name", "a bad name", "fewer than none"],
)
async def test_what_cannot_be_had_is_refused_and_disturbs_nothing(
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


# At rest, and in trouble


async def test_it_writes_nothing_when_nothing_has_changed(cluster: Cluster) -> None:
    await start_operator(cluster)

    await cluster.apply(app())

    await cluster.assert_second_pass_writes_nothing()


async def life(cluster: Cluster) -> None:
    """What users do: make one, give its Deployment another name, and delete it."""
    await cluster.apply(app(deployment="old", replicas=1))
    await cluster.settle()
    await cluster.apply(app(deployment="new", replicas=1))
    await cluster.settle()
    await cluster.delete(AppService, "shop")
    await cluster.settle()


@pytest.mark.timeout(60)
async def test_it_comes_to_the_same_wherever_the_operator_crashes() -> None:
    await survives_crashes(Scenario(operator=lambda: [controller], kinds=[AppService], steps=life))
