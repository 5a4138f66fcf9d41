"""ResourceQuotas on the embedded server."""

from collections.abc import Mapping
from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.errors import Forbidden
from steersman.kinds import apps_v1, core_v1, meta_v1, recipes, replace
from steersman.manager import Runnable, Services
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.quotas import runnables
from tests.cluster.workloads.daemon_scenarios import (
    ConcurrentWrites,
    Pod,
    Steps,
    bare_pod,
    deployment,
    simulate_steps,
    writes_of,
)

Quota = core_v1.ResourceQuota
PARTS = (
    "garbagecollector",
    "nodes",
    "scheduler",
    "volumes",
    "replicasets",
    "deployments",
    "quotas",
)
AT_ONCE: Mapping[str, Any] = {"termination_grace_period_seconds": 0}


class Spec(sm.Part):
    """No fields."""


class Widget(sm.CustomResource[Spec, Spec], group="test.example.com", version="v1"):
    """A kind that a quota counts."""


def quota(
    hard: Mapping[str, str], name: str = "quota", *, scopes: tuple[str, ...] | None = None
) -> Quota:
    amounts = {key: Quantity(value) for key, value in hard.items()}
    spec = core_v1.ResourceQuotaSpec(hard=amounts, scopes=scopes)
    return Quota(metadata=meta_v1.ObjectMeta(name=name), spec=spec)


async def used(cluster: SimulatedCluster, name: str = "quota") -> dict[str, str]:
    status = (await cluster.get(Quota, name)).status
    assert status is not None
    return {key: str(each) for key, each in sorted((status.used or {}).items())}


def run_steps(steps: Steps) -> None:
    simulate_steps(steps, parts=PARTS)


def test_objects_older_than_the_quota_count() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(bare_pod("a", requests={"cpu": Quantity("100m")}))
        await cluster.create(bare_pod("b", requests={"cpu": Quantity("1")}))
        await cluster.settle()

        hard = {"pods": "9", "requests.cpu": "4", "count/pods": "9", "secrets": "2"}
        await cluster.apply(quota(hard))
        await cluster.settle()

        said = {"pods": "2", "requests.cpu": "1100m", "count/pods": "2", "secrets": "0"}
        assert await used(cluster) == said
        status = (await cluster.get(Quota, "quota")).status
        assert status is not None
        assert status.hard == {key: Quantity(each) for key, each in hard.items()}

    run_steps(steps)


def test_a_deleted_object_no_longer_counts() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "1", "requests.memory": "1Gi", "configmaps": "5"}))
        await cluster.settle()
        await cluster.create(bare_pod("a", requests={"memory": Quantity("1Gi")}, **AT_ONCE))
        with pytest.raises(Forbidden):
            await cluster.create(bare_pod("b", requests={"memory": Quantity("1Mi")}))
        await cluster.settle()
        assert await used(cluster) == {"configmaps": "0", "pods": "1", "requests.memory": "1Gi"}

        await cluster.delete(Pod, "a")
        await cluster.settle()

        assert await used(cluster) == {"configmaps": "0", "pods": "0", "requests.memory": "0"}
        await cluster.create(bare_pod("b", requests={"memory": Quantity("1Mi")}))

    run_steps(steps)


def test_an_ended_pod_frees_its_quota() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "1", "count/pods": "9"}))
        await cluster.settle()
        await cluster.create(bare_pod("job", restart_policy="Never"))
        await cluster.settle()

        assert await used(cluster) == {"count/pods": "1", "pods": "0"}
        await cluster.create(bare_pod("next", restart_policy="Never"))

    run_steps(steps)


def test_a_deployment_grows_to_its_quota_and_further_when_the_quota_grows() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "2"}))
        await cluster.settle()
        await cluster.apply(deployment(replicas=3))
        await cluster.clock.sleep(5.0)
        assert (await used(cluster), len(await cluster.list(Pod))) == ({"pods": "2"}, 2)

        await cluster.apply(quota({"pods": "5"}))
        await cluster.settle()

        assert (await used(cluster), len(await cluster.list(Pod))) == ({"pods": "3"}, 3)

    run_steps(steps)


def test_services_claims_and_objects_of_any_kind_are_counted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Widget)
        hard = {
            "services": "9",
            "services.nodeports": "9",
            "requests.storage": "9Gi",
            "count/deployments.apps": "9",
            "count/widgets.test.example.com": "9",
            "count/unknowns.example.com": "9",
        }
        await cluster.apply(quota(hard))
        await cluster.settle()
        await cluster.create(
            recipes.service("web", [core_v1.ServicePort(port=80)], type="NodePort")
        )
        await cluster.create(recipes.pvc("data", "2Gi"))
        await cluster.create(Widget(metadata=meta_v1.ObjectMeta(name="one"), spec=Spec()))
        await cluster.create(deployment(replicas=0))
        await cluster.settle()
        assert await used(cluster) == {
            "services": "2",  # the server created one there
            "services.nodeports": "1",
            "requests.storage": "2Gi",
            "count/deployments.apps": "1",
            "count/widgets.test.example.com": "1",
        }

        await cluster.delete(core_v1.PersistentVolumeClaim, "data")
        await cluster.delete(core_v1.Service, "web")
        await cluster.delete(Widget, "one")
        await cluster.delete(apps_v1.Deployment, "web")
        await cluster.settle()
        after = await used(cluster)
        assert after.pop("services") == "1"
        assert set(after.values()) == {"0"}

    run_steps(steps)


def test_a_kind_that_is_defined_later_is_counted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"count/widgets.test.example.com": "9"}))
        await cluster.settle()
        assert await used(cluster) == {}

        await cluster.install(Widget)
        await cluster.advance(31.0)
        await cluster.settle()

        assert await used(cluster) == {"count/widgets.test.example.com": "0"}

    run_steps(steps)


def test_a_quota_with_a_scope_counts_only_objects_in_the_scope() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "9"}, "least", scopes=("BestEffort",)))
        await cluster.apply(quota({"pods": "9"}, "short", scopes=("Terminating",)))
        await cluster.settle()
        await cluster.create(bare_pod("a"))
        await cluster.create(bare_pod("b", requests={"cpu": Quantity("1m")}))
        await cluster.create(bare_pod("c", active_deadline_seconds=999))
        await cluster.settle()

        assert (await used(cluster, "least"), await used(cluster, "short")) == (
            {"pods": "2"},
            {"pods": "1"},
        )

    run_steps(steps)


def test_an_object_that_the_server_has_already_counted_is_not_counted_twice() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "9"}))
        await cluster.settle()
        since = cluster.history_position()
        for name in ("a", "b", "c"):
            await cluster.create(bare_pod(name))
        await cluster.settle()

        assert await used(cluster) == {"pods": "3"}
        assert writes_of(cluster, "/resourcequotas", since) == []

    run_steps(steps)


def test_a_concurrent_status_update_by_the_server_is_kept() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = crossing = ConcurrentWrites("/resourcequotas/")
        await cluster.run_operator(runnables=runnables(WorkloadSettings()))
        await cluster.apply(quota({"pods": "2"}))
        await cluster.settle()
        await cluster.create(bare_pod("a", **AT_ONCE))
        await cluster.create(bare_pod("b"))
        await cluster.settle()
        seen: list[dict[str, str]] = []

        async def before() -> None:
            # Before the controller's write, the server releases one Pod and charges another.
            await cluster.patch(
                Quota,
                "quota",
                MergePatch({"status": {"used": {"pods": "1"}}}),
                subresource="status",
            )
            await cluster.create(bare_pod("c"))

        async def after() -> None:
            seen.append(await used(cluster))

        crossing.before, crossing.after, crossing.is_armed = before, after, True
        await cluster.delete(Pod, "a")
        await cluster.settle()

        assert seen == [{"pods": "2"}]
        assert await used(cluster) == {"pods": "2"}

    simulate_steps(steps, parts=("garbagecollector", "nodes", "scheduler"))


def test_a_kind_that_no_quota_counts_is_not_watched() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        followed: list[list[str]] = []

        async def look(services: Services) -> None:
            while True:
                kinds = [each.kind.resource_type.gvk.kind for each in services.caches.informers]
                followed.append(sorted(kinds))
                await services.clock.sleep(1.0)

        watching = Runnable(look, name="watching")
        await cluster.run_operator(runnables=(*runnables(WorkloadSettings()), watching))
        await cluster.settle()
        assert followed[-1] == ["ResourceQuota"]

        await cluster.apply(quota({"pods": "1", "secrets": "1"}))
        await cluster.settle()
        assert followed[-1] == ["Pod", "ResourceQuota", "Secret"]

        await cluster.delete(Quota, "quota")
        await cluster.settle()
        assert followed[-1] == ["ResourceQuota"]

    simulate_steps(steps, parts=())


def test_a_change_costs_only_the_evaluation_of_the_object_that_changed() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for number in range(40):
            await cluster.create(bare_pod(f"pod-{number}", **AT_ONCE))
        await cluster.apply(quota({"pods": "99"}))
        await cluster.settle()
        since = cluster.history_position()

        await cluster.delete(Pod, "pod-7")
        await cluster.settle()

        # No list is repeated, and one status is written once.
        asked = [
            f"{each.method} {each.target.partition('?')[0]}"
            for each in cluster.history.requests[since:]
            if each.actor == "workloads" and "quota" in each.target
        ]
        listed = [
            each for each in cluster.history.requests[since:] if each.target.endswith("/pods")
        ]
        assert asked == ["PATCH /api/v1/namespaces/default/resourcequotas/quota/status"]
        assert listed == []
        assert await used(cluster) == {"pods": "39"}

    run_steps(steps)


def test_an_unserved_kind_is_rediscovered_periodically_and_not_at_each_change() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "99", "count/widgets.test.example.com": "9"}))
        await cluster.settle()
        since = cluster.history_position()

        for number in range(5):
            await cluster.create(bare_pod(f"pod-{number}"))
            await cluster.clock.sleep(1.0)

        discovered = [each for each in cluster.history.requests[since:] if each.target == "/apis"]
        assert discovered == []
        assert await used(cluster) == {"pods": "5"}

    run_steps(steps)


def test_a_stuck_terminating_pod_stops_counting() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(quota({"pods": "9", "count/pods": "9"}))
        await cluster.settle()
        held = bare_pod("held", termination_grace_period_seconds=30)
        metadata = replace(held.metadata, finalizers=("test.example.com/never",))
        await cluster.create(replace(held, metadata=metadata))
        await cluster.settle()
        await cluster.delete(Pod, "held")
        await cluster.advance(120.0)
        await cluster.settle()

        assert await used(cluster) == {"count/pods": "1", "pods": "0"}

    run_steps(steps)
