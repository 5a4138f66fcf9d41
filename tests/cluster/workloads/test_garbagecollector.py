"""The garbage collector on the embedded server: propagation policies and owners."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from steersman.client import Labels, MergePatch
from steersman.errors import Forbidden
from steersman.kinds import CustomResource, Part, apps_v1, core_v1, events_v1, meta_v1
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman.kinds.apiregistration_v1 import APIService, APIServiceSpec, ServiceReference
from steersman.kinds.rbac_v1 import ClusterRole
from steersman.wire import Request
from steersman_cluster.simulation import Actor, NoFaults, SimulatedCluster, simulate
from steersman_cluster.simulation.transport import wait_forever
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.garbagecollector import runnables
from steersman_cluster.workloads.garbagecollector.monitors import DEFERRED_SECONDS
from tests.cluster.workloads.owners import (
    HELD,
    ConfigMap,
    Secret,
    config_map,
    left,
    named,
    of,
    secret,
)

GARBAGE = WorkloadSettings(parts=("garbagecollector",))
NO_PARTS = WorkloadSettings(parts=())

Steps = Callable[[SimulatedCluster], Awaitable[None]]


def run_steps(steps: Steps, *, settings: WorkloadSettings = GARBAGE) -> None:
    simulate(steps, settings=settings)


class Empty(Part):
    """No fields."""


class Boat(CustomResource[Empty, Empty], group="sea.example.com", version="v1"):
    """A kind that is defined while the collector runs."""


class Fleet(CustomResource[Empty, Empty], group="sea.example.com", version="v1", namespaced=False):
    """A cluster-scoped kind."""


async def delete(cluster: SimulatedCluster, obj: Any, propagation: Any = "Background") -> None:
    await cluster.delete(type(obj), obj.name, namespace=obj.namespace, propagation=propagation)
    await cluster.settle()


def test_a_dependent_is_deleted_after_its_last_owner() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        one = await cluster.create(config_map("one"))
        two = await cluster.create(config_map("two"))
        child = await cluster.create(secret("child", of(one), of(two)))
        await cluster.create(config_map("grandchild", of(child)))
        await cluster.settle()

        await delete(cluster, one)
        assert await left(cluster) == ["child", "grandchild", "two"]
        await delete(cluster, two)

        assert await left(cluster) == []

    run_steps(steps)


def test_no_object_is_deleted_while_an_owner_exists() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner"))
        await cluster.create(config_map("other"))
        await cluster.create(secret("child", of(owner)))
        await cluster.settle()
        before = cluster.server.store.log.revision

        await delete(cluster, config_map("other"))

        assert await left(cluster) == ["child", "owner"]
        assert cluster.server.store.log.revision == before + 1

    run_steps(steps)


def test_a_dependent_keeps_existing_owners_and_loses_absent_ones() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        one = await cluster.create(config_map("one"))
        two = await cluster.create(config_map("two"))
        await cluster.create(config_map("child", of(one), of(two)))
        await cluster.settle()

        await delete(cluster, one)

        child = await cluster.get(ConfigMap, "child")
        assert child.metadata.owner_references == (of(two),)

    run_steps(steps)


def test_a_dependent_of_an_owner_that_never_existed_is_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        there = await cluster.create(config_map("solid"))
        await cluster.settle()
        gone = of(config_map("gone"), uid="0b7c9d3a-0000-4000-8000-000000000000")

        await cluster.create(config_map("doomed", gone))
        await cluster.create(config_map("kept", gone, of(there)))
        await cluster.settle()

        assert await left(cluster) == ["kept", "solid"]
        kept = await cluster.get(ConfigMap, "kept")
        assert kept.metadata.owner_references == (of(there),)

    run_steps(steps)


def test_a_recreated_owner_with_another_uid_is_not_the_owner() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        first = await cluster.create(config_map("owner"))
        await cluster.client.delete(ConfigMap, "owner", namespace="default")
        await cluster.create(config_map("owner"))

        await cluster.create(config_map("child", of(first)))
        await cluster.settle()

        assert await left(cluster) == ["owner"]

    run_steps(steps)


def test_a_dependent_whose_owner_was_deleted_during_downtime_is_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner"))
        await cluster.create(secret("child", of(owner)))
        await delete(cluster, owner)
        assert await left(cluster) == ["child"]

        await cluster.run_operator(runnables=runnables(GARBAGE))
        await cluster.settle()

        assert await left(cluster) == []

    run_steps(steps, settings=NO_PARTS)


@pytest.mark.parametrize("blocks", [True, False])
def test_foreground_deletion_waits_for_the_last_blocking_dependent(blocks: bool) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner"))
        await cluster.create(secret("held", of(owner, blocks=blocks), finalizers=(HELD,)))
        await cluster.create(secret("free", of(owner, blocks=True)))
        await cluster.settle()

        await delete(cluster, owner, "Foreground")
        assert await left(cluster) == (["held", "owner"] if blocks else ["held"])
        held = await cluster.get(Secret, "held")
        assert held.deletion_time is not None
        await cluster.patch(Secret, "held", MergePatch({"metadata": {"finalizers": None}}))
        await cluster.settle()

        assert await left(cluster) == []

    run_steps(steps)


def test_foreground_deletion_deletes_the_deepest_dependents_first() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner"))
        child = await cluster.create(secret("child", of(owner, blocks=True)))
        await cluster.create(config_map("leaf", of(child, blocks=True), finalizers=(HELD,)))
        await cluster.settle()

        await delete(cluster, owner, "Foreground")

        middle = await cluster.get(Secret, "child")
        assert middle.metadata.finalizers == ("foregroundDeletion",)
        await cluster.patch(ConfigMap, "leaf", MergePatch({"metadata": {"finalizers": None}}))
        await cluster.settle()
        assert await left(cluster) == []

    run_steps(steps)


def test_orphaned_dependents_are_kept_without_the_owner_reference() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner"))
        other = await cluster.create(config_map("other"))
        await cluster.create(secret("child", of(owner), of(other)))
        await cluster.create(secret("alone", of(owner)))
        await cluster.settle()

        await delete(cluster, owner, "Orphan")

        assert await left(cluster) == ["alone", "child", "other"]
        child = await cluster.get(Secret, "child")
        assert child.metadata.owner_references == (of(other),)
        assert (await cluster.get(Secret, "alone")).metadata.owner_references is None

    run_steps(steps)


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_a_cycle_of_owners_does_not_block_deletion(propagation: str) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        ring = [await cluster.create(config_map(name)) for name in ("one", "two", "three")]
        for each, owner in zip(ring, (ring[-1], *ring), strict=False):
            reference = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner.name,
                "uid": owner.uid,
                "blockOwnerDeletion": True,
            }
            change = {"metadata": {"ownerReferences": [reference]}}
            await cluster.patch(ConfigMap, each.name, MergePatch(change))
        await cluster.settle()

        await delete(cluster, ring[0], propagation)

        assert await left(cluster) == []

    run_steps(steps)


def test_an_owner_in_another_namespace_is_invalid_and_reported_in_an_event() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner", namespace="kube-public"))
        await cluster.settle()

        child = await cluster.create(config_map("child", of(owner)))
        await cluster.settle()

        assert await left(cluster) == ["owner"]
        events = (await cluster.client.list(events_v1.Event, namespace="default")).items
        assert [(each.reason, each.type, each.reporting_controller) for each in events] == [
            ("OwnerRefInvalidNamespace", "Warning", "garbage-collector-controller")
        ]
        assert events[0].note == (
            f"ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {owner.uid}]"
            ' does not exist in namespace "default"'
        )
        assert events[0].regarding is not None
        assert events[0].regarding.uid == child.uid

    run_steps(steps)


def test_a_cluster_scoped_dependent_of_a_namespaced_owner_is_kept() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        owner = await cluster.create(config_map("owner"))
        volume = core_v1.Namespace(metadata=named("space", of(owner)))
        await cluster.create(volume)
        await cluster.settle()

        await delete(cluster, owner)

        assert "space" in await left(cluster, core_v1.Namespace)

    run_steps(steps)


def test_a_cluster_scoped_owner_can_own_namespaced_objects() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        node = await cluster.create(core_v1.Node(metadata=named("far-node")))
        await cluster.create(config_map("child", of(node)))
        await cluster.settle()
        assert await left(cluster) == ["child"]

        await delete(cluster, node)

        assert await left(cluster) == []

    run_steps(steps)


def test_objects_of_a_new_kind_are_collected_as_soon_as_the_kind_is_defined() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        await cluster.install(Boat)
        boat = await cluster.create(Boat(metadata=meta_v1.ObjectMeta(name="anna"), spec=Empty()))
        tender = Boat(metadata=named("tender", of(boat)), spec=Empty())
        await cluster.create(tender)
        await cluster.create(config_map("log", of(boat)))
        await cluster.settle()
        before, since = cluster.clock.monotonic(), cluster.history_position()

        await delete(cluster, boat)

        assert await left(cluster, Boat, ConfigMap) == []
        assert all(
            each.at - before < 1 for each in cluster.history.requests[since:] if each.is_write
        )

    run_steps(steps)


def test_a_cluster_scoped_dependent_is_deleted_with_its_cluster_scoped_owner() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Fleet)
        fleet = await cluster.create(Fleet(metadata=meta_v1.ObjectMeta(name="north"), spec=Empty()))
        role = await cluster.create(ClusterRole(metadata=named("captain", of(fleet))))
        await cluster.create(ClusterRole(metadata=named("mate", of(role))))
        await cluster.settle()
        assert {"captain", "mate"} <= set(await left(cluster, ClusterRole))

        await delete(cluster, fleet)

        assert cluster.clock.monotonic() < DEFERRED_SECONDS
        assert not {"captain", "mate"} & set(await left(cluster, ClusterRole))

    run_steps(steps)


@pytest.mark.parametrize("seconds", [0.0, 2 * DEFERRED_SECONDS])
def test_rarely_changed_kinds_are_watched_later(seconds: float) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.advance(seconds)
        await cluster.settle()
        role = await cluster.create(ClusterRole(metadata=named("captain")))

        await delete(cluster, role, "Foreground")
        if not seconds:
            await cluster.advance(DEFERRED_SECONDS)
            await cluster.settle()

        assert "captain" not in await left(cluster, ClusterRole)

    run_steps(steps)


def test_dependents_are_deleted_with_the_kind_of_their_owner() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        boat = await cluster.create(Boat(metadata=meta_v1.ObjectMeta(name="anna"), spec=Empty()))
        await cluster.create(config_map("log", of(boat)))
        await cluster.settle()

        await cluster.delete(CustomResourceDefinition, "boats.sea.example.com")
        await cluster.settle()

        assert await left(cluster) == []

    run_steps(steps)


def test_dependents_of_an_unavailable_aggregated_server_are_kept() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(Boat)
        boat = await cluster.create(Boat(metadata=meta_v1.ObjectMeta(name="anna"), spec=Empty()))
        await cluster.create(config_map("log", of(boat)))
        await cluster.settle()

        away = APIServiceSpec(
            group="sea.example.com",
            version="v1",
            group_priority_minimum=100,
            version_priority=100,
            service=ServiceReference(name="sea", namespace="default"),
        )
        claim = MergePatch({"spec": away, "metadata": {"labels": None}})
        await cluster.patch(APIService, "v1.sea.example.com", claim)
        await cluster.advance(300)
        await cluster.settle()

        assert await left(cluster) == ["log"]

    run_steps(steps)


def test_dependents_of_an_owner_of_an_unserved_kind_are_kept() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        unknown = meta_v1.OwnerReference(
            api_version="sea.example.com/v1",
            kind="Boat",
            name="anna",
            uid="0b7c9d3a-0000-4000-8000-000000000000",
        )
        await cluster.create(config_map("log", unknown))
        await cluster.settle()
        assert await left(cluster) == ["log"]

        await cluster.install(Boat)
        await cluster.advance(100)
        await cluster.settle()

        assert await left(cluster) == []

    run_steps(steps)


class RejectsSecrets(NoFaults):
    """Rejects all reads of Secrets."""

    async def before_request(self, actor: Actor, request: Request) -> None:
        if request.path == "/api/v1/secrets":
            raise Forbidden(wanted="read", code=403, reason="Forbidden", message="not you")


def test_a_kind_without_read_permission_does_not_block_the_others() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = RejectsSecrets()
        await cluster.run_operator(runnables=runnables(GARBAGE))
        owner = await cluster.create(config_map("owner"))
        await cluster.create(config_map("child", of(owner)))
        await cluster.settle()

        await delete(cluster, owner)

        assert await left(cluster) == []

    run_steps(steps, settings=NO_PARTS)


class WrittenMeanwhile(NoFaults):
    """Writes an object just before each of the first few patches of it arrives."""

    def __init__(self, path: str, times: int) -> None:
        self.path = path
        self.left = times
        self.write: Callable[[int], Awaitable[object]] | None = None

    async def before_request(self, actor: Actor, request: Request) -> None:
        if request.method == "PATCH" and request.path.endswith(self.path) and self.left:
            self.left -= 1
            if self.write is not None:
                await self.write(self.left)


def test_repeated_conflicts_do_not_prevent_the_removal_of_an_absent_owner() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        fault = WrittenMeanwhile("/secrets/child", 7)
        cluster.fault_injector = fault
        await cluster.run_operator(runnables=runnables(GARBAGE))
        stays, goes = (
            await cluster.create(config_map("stays")),
            await cluster.create(config_map("goes")),
        )
        await cluster.create(secret("child", of(stays), of(goes)))
        await cluster.settle()

        async def write(number: int) -> None:
            change = MergePatch({"metadata": {"labels": {"written": str(number)}}})
            await cluster.patch(Secret, "child", change)

        fault.write = write
        await delete(cluster, goes)

        child = await cluster.get(Secret, "child")
        assert [each.name for each in child.metadata.owner_references or ()] == ["stays"]

    run_steps(steps, settings=NO_PARTS)


class KilledAt(NoFaults):
    """Kills the collector just before or just after its nth write."""

    def __init__(self, number: int, *, after: bool) -> None:
        self.left = number
        self.after = after
        self.kill: Callable[[], None] | None = None

    async def before_request(self, actor: Actor, request: Request) -> None:
        if not self.after:
            await self._count(request)

    async def before_response(self, actor: Actor, request: Request) -> None:
        if self.after:
            await self._count(request)

    async def _count(self, request: Request) -> None:
        if request.method == "GET" or self.kill is None:
            return
        self.left -= 1
        if self.left == 0:
            self.kill()
            await wait_forever()


@pytest.mark.parametrize("after", [False, True])
def test_a_collection_completes_when_the_collector_is_killed_at_any_write(after: bool) -> None:
    ends: list[list[str]] = []

    async def steps(cluster: SimulatedCluster) -> bool:
        fault = KilledAt(number, after=after)
        cluster.fault_injector = fault
        first = await cluster.run_operator(runnables=runnables(GARBAGE))
        fault.kill = first.kill_now
        one, two, three = [await cluster.create(config_map(n)) for n in ("one", "two", "three")]
        child = await cluster.create(secret("child", of(one, blocks=True)))
        await cluster.create(config_map("leaf", of(child, blocks=True)))
        await cluster.create(secret("orphan", of(two)))
        await cluster.create(secret("third", of(three)))
        await cluster.settle()
        await cluster.delete(ConfigMap, "one", propagation="Foreground")
        await cluster.delete(ConfigMap, "two", propagation="Orphan")
        await cluster.delete(ConfigMap, "three")
        await cluster.settle()
        fault.kill = None
        await cluster.run_operator(runnables=runnables(GARBAGE), name="second")
        await cluster.settle()
        ends.append(await left(cluster))
        return first.actor.is_dead

    number = 0
    while simulate(steps, settings=NO_PARTS) or not number:
        number += 1

    assert number > 6
    assert [*dict.fromkeys(map(tuple, ends))] == [("orphan",)]


def test_a_deleted_deployment_cascades_to_replicasets_and_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        labels = {"app": "web"}
        await cluster.create(
            apps_v1.Deployment(
                metadata=named("web"),
                spec=apps_v1.DeploymentSpec(
                    replicas=2,
                    selector=meta_v1.LabelSelector(match_labels=labels),
                    template=core_v1.PodTemplateSpec(
                        metadata=meta_v1.ObjectMeta(labels=labels),
                        spec=core_v1.PodSpec(
                            containers=(core_v1.Container(name="web", image="web:1"),)
                        ),
                    ),
                ),
            )
        )
        await cluster.settle()
        pods = await cluster.list(core_v1.Pod, labels=Labels.parse("app=web"))
        assert len(pods) == 2

        await cluster.delete(apps_v1.Deployment, "web", propagation="Foreground")
        await cluster.settle()

        assert await left(cluster, apps_v1.Deployment, apps_v1.ReplicaSet, core_v1.Pod) == []

    parts = ("garbagecollector", "nodes", "scheduler", "replicasets", "deployments")
    run_steps(steps, settings=WorkloadSettings(parts=parts))
