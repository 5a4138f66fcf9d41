"""Quotas on the embedded server: what is used is charged, and given back."""

from collections.abc import Mapping
from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.errors import Forbidden
from steersman.kinds import apps_v1, core_v1, meta_v1, recipes, replace
from steersman.manager import Runnable, Services
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedWorld
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.quotas import runnables
from tests.cluster.workloads.telling import (
    Crossing,
    Pod,
    Story,
    bare_pod,
    deployment,
    told,
    writes_of,
)

Quota = core_v1.ResourceQuota
PARTS = ("garbage", "nodes", "scheduler", "volumes", "replicasets", "deployments", "quotas")
AT_ONCE: Mapping[str, Any] = {"termination_grace_period_seconds": 0}


class Spec(sm.Part):
    """Nothing in particular."""


class Widget(sm.CustomResource[Spec, Spec], group="test.example.com", version="v1"):
    """Something to be counted."""


def quota(
    hard: Mapping[str, str], name: str = "quota", *, scopes: tuple[str, ...] | None = None
) -> Quota:
    amounts = {key: Quantity(value) for key, value in hard.items()}
    spec = core_v1.ResourceQuotaSpec(hard=amounts, scopes=scopes)
    return Quota(metadata=meta_v1.ObjectMeta(name=name), spec=spec)


async def used(world: SimulatedWorld, name: str = "quota") -> dict[str, str]:
    status = (await world.get(Quota, name)).status
    assert status is not None
    return {key: str(each) for key, each in sorted((status.used or {}).items())}


def in_world(story: Story) -> None:
    told(story, parts=PARTS)


def test_what_is_there_before_a_quota_counts() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(bare_pod("a", requests={"cpu": Quantity("100m")}))
        await world.create(bare_pod("b", requests={"cpu": Quantity("1")}))
        await world.settle()

        hard = {"pods": "9", "requests.cpu": "4", "count/pods": "9", "secrets": "2"}
        await world.apply(quota(hard))
        await world.settle()

        said = {"pods": "2", "requests.cpu": "1100m", "count/pods": "2", "secrets": "0"}
        assert await used(world) == said
        status = (await world.get(Quota, "quota")).status
        assert status is not None
        assert status.hard == {key: Quantity(each) for key, each in hard.items()}

    in_world(story)


def test_what_is_gone_is_given_back() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "1", "requests.memory": "1Gi", "configmaps": "5"}))
        await world.settle()
        await world.create(bare_pod("a", requests={"memory": Quantity("1Gi")}, **AT_ONCE))
        with pytest.raises(Forbidden):
            await world.create(bare_pod("b", requests={"memory": Quantity("1Mi")}))
        await world.settle()
        assert await used(world) == {"configmaps": "0", "pods": "1", "requests.memory": "1Gi"}

        await world.delete(Pod, "a")
        await world.settle()

        assert await used(world) == {"configmaps": "0", "pods": "0", "requests.memory": "0"}
        await world.create(bare_pod("b", requests={"memory": Quantity("1Mi")}))

    in_world(story)


def test_a_pod_that_has_ended_makes_room_for_another() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "1", "count/pods": "9"}))
        await world.settle()
        await world.create(bare_pod("job", restart_policy="Never"))
        await world.settle()

        assert await used(world) == {"count/pods": "1", "pods": "0"}
        await world.create(bare_pod("next", restart_policy="Never"))

    in_world(story)


def test_a_deployment_grows_as_far_as_the_quota_goes_and_on_when_there_is_more() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "2"}))
        await world.settle()
        await world.apply(deployment(replicas=3))
        await world.clock.sleep(5.0)
        assert (await used(world), len(await world.list(Pod))) == ({"pods": "2"}, 2)

        await world.apply(quota({"pods": "5"}))
        await world.settle()

        assert (await used(world), len(await world.list(Pod))) == ({"pods": "3"}, 3)

    in_world(story)


def test_services_claims_and_objects_of_any_kind_are_counted() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.install(Widget)
        hard = {
            "services": "9",
            "services.nodeports": "9",
            "requests.storage": "9Gi",
            "count/deployments.apps": "9",
            "count/widgets.test.example.com": "9",
            "count/unknowns.example.com": "9",
        }
        await world.apply(quota(hard))
        await world.settle()
        await world.create(recipes.service("web", [core_v1.ServicePort(port=80)], type="NodePort"))
        await world.create(recipes.pvc("data", "2Gi"))
        await world.create(Widget(metadata=meta_v1.ObjectMeta(name="one"), spec=Spec()))
        await world.create(deployment(replicas=0))
        await world.settle()
        assert await used(world) == {
            "services": "2",  # the server has one of its own there
            "services.nodeports": "1",
            "requests.storage": "2Gi",
            "count/deployments.apps": "1",
            "count/widgets.test.example.com": "1",
        }

        await world.delete(core_v1.PersistentVolumeClaim, "data")
        await world.delete(core_v1.Service, "web")
        await world.delete(Widget, "one")
        await world.delete(apps_v1.Deployment, "web")
        await world.settle()
        after = await used(world)
        assert after.pop("services") == "1"
        assert set(after.values()) == {"0"}

    in_world(story)


def test_a_kind_that_comes_later_is_counted_then() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"count/widgets.test.example.com": "9"}))
        await world.settle()
        assert await used(world) == {}

        await world.install(Widget)
        await world.advance(31.0)
        await world.settle()

        assert await used(world) == {"count/widgets.test.example.com": "0"}

    in_world(story)


def test_a_quota_with_a_scope_counts_what_is_in_it() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "9"}, "least", scopes=("BestEffort",)))
        await world.apply(quota({"pods": "9"}, "short", scopes=("Terminating",)))
        await world.settle()
        await world.create(bare_pod("a"))
        await world.create(bare_pod("b", requests={"cpu": Quantity("1m")}))
        await world.create(bare_pod("c", active_deadline_seconds=999))
        await world.settle()

        assert (await used(world, "least"), await used(world, "short")) == (
            {"pods": "2"},
            {"pods": "1"},
        )

    in_world(story)


def test_what_the_server_has_charged_is_not_charged_again() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "9"}))
        await world.settle()
        since = world.moment()
        for name in ("a", "b", "c"):
            await world.create(bare_pod(name))
        await world.settle()

        assert await used(world) == {"pods": "3"}
        assert writes_of(world, "/resourcequotas", since) == []

    in_world(story)


def test_what_the_server_has_charged_in_the_meantime_stays_charged() -> None:
    async def story(world: SimulatedWorld) -> None:
        world.disturbance = crossing = Crossing("/resourcequotas/")
        await world.run_operator(runnables=runnables(WorkloadSettings()))
        await world.apply(quota({"pods": "2"}))
        await world.settle()
        await world.create(bare_pod("a", **AT_ONCE))
        await world.create(bare_pod("b"))
        await world.settle()
        seen: list[dict[str, str]] = []

        async def before() -> None:
            # Of the two, one is free again; the server says so to nobody yet.
            await world.patch(
                Quota,
                "quota",
                MergePatch({"status": {"used": {"pods": "1"}}}),
                subresource="status",
            )
            await world.create(bare_pod("c"))

        async def after() -> None:
            seen.append(await used(world))

        crossing.before, crossing.after, crossing.is_armed = before, after, True
        await world.delete(Pod, "a")
        await world.settle()

        assert seen == [{"pods": "2"}]
        assert await used(world) == {"pods": "2"}

    told(story, parts=("garbage", "nodes", "scheduler"))


def test_nothing_is_followed_that_no_quota_counts() -> None:
    async def story(world: SimulatedWorld) -> None:
        followed: list[list[str]] = []

        async def look(services: Services) -> None:
            while True:
                kinds = [each.kind.resource_type.gvk.kind for each in services.caches.informers]
                followed.append(sorted(kinds))
                await services.clock.sleep(1.0)

        watching = Runnable(look, name="watching")
        await world.run_operator(runnables=(*runnables(WorkloadSettings()), watching))
        await world.settle()
        assert followed[-1] == ["ResourceQuota"]

        await world.apply(quota({"pods": "1", "secrets": "1"}))
        await world.settle()
        assert followed[-1] == ["Pod", "ResourceQuota", "Secret"]

        await world.delete(Quota, "quota")
        await world.settle()
        assert followed[-1] == ["ResourceQuota"]

    told(story, parts=())


def test_a_change_costs_no_more_than_the_object_that_changed() -> None:
    async def story(world: SimulatedWorld) -> None:
        for number in range(40):
            await world.create(bare_pod(f"pod-{number}", **AT_ONCE))
        await world.apply(quota({"pods": "99"}))
        await world.settle()
        since = world.moment()

        await world.delete(Pod, "pod-7")
        await world.settle()

        # Nothing is read again, and one number is written once.
        asked = [
            f"{each.method} {each.target.partition('?')[0]}"
            for each in world.history.asked[since:]
            if each.actor == "workloads" and "quota" in each.target
        ]
        listed = [each for each in world.history.asked[since:] if each.target.endswith("/pods")]
        assert asked == ["PATCH /api/v1/namespaces/default/resourcequotas/quota/status"]
        assert listed == []
        assert await used(world) == {"pods": "39"}

    in_world(story)


def test_a_kind_that_nobody_serves_is_asked_for_now_and_then_and_not_at_each_change() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "99", "count/widgets.test.example.com": "9"}))
        await world.settle()
        since = world.moment()

        for number in range(5):
            await world.create(bare_pod(f"pod-{number}"))
            await world.clock.sleep(1.0)

        discovered = [each for each in world.history.asked[since:] if each.target == "/apis"]
        assert discovered == []
        assert await used(world) == {"pods": "5"}

    in_world(story)


def test_a_pod_that_nobody_ends_is_free_of_charge_after_a_while() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.apply(quota({"pods": "9", "count/pods": "9"}))
        await world.settle()
        held = bare_pod("held", termination_grace_period_seconds=30)
        metadata = replace(held.metadata, finalizers=("test.example.com/never",))
        await world.create(replace(held, metadata=metadata))
        await world.settle()
        await world.delete(Pod, "held")
        await world.advance(120.0)
        await world.settle()

        assert await used(world) == {"count/pods": "1", "pods": "0"}

    in_world(story)
