"""Namespaces on the embedded server: default objects and deletion."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from steersman.client import MergePatch
from steersman.errors import Forbidden
from steersman.kinds import CustomResource, Part, core_v1, meta_v1
from steersman.kinds.apiregistration_v1 import APIService, APIServiceSpec, ServiceReference
from steersman.wire import Request
from steersman_cluster.simulation import Actor, NoFaults, SimulatedCluster, simulate
from steersman_cluster.simulation.transport import wait_forever
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.namespaces import runnables
from steersman_cluster.workloads.namespaces.default_objects import DESCRIBED, DESCRIPTION, ROOT_CA
from tests.cluster.workloads.owners import HELD, ConfigMap, config_map, secret

ServiceAccount = core_v1.ServiceAccount
Namespace = core_v1.Namespace
Pod = core_v1.Pod

ALONE = WorkloadSettings(parts=("namespaces",), root_ca="the CA")
NO_PARTS = WorkloadSettings(parts=())

FREE = MergePatch({"metadata": {"finalizers": None}})

Steps = Callable[[SimulatedCluster], Awaitable[None]]


def registration(steps: Steps, *, settings: WorkloadSettings = ALONE) -> None:
    simulate(steps, settings=settings)


class Empty(Part):
    """No fields."""


class Boat(CustomResource[Empty, Empty], group="sea.example.com", version="v1"):
    """A custom kind."""


async def harbour(cluster: SimulatedCluster) -> None:
    await cluster.create(Namespace(metadata=meta_v1.ObjectMeta(name="harbour")))
    await cluster.settle()


async def ended(cluster: SimulatedCluster) -> Namespace | None:
    """The namespace after its deletion, if it still exists."""
    await cluster.delete(Namespace, "harbour")
    await cluster.settle()
    return await cluster.find(Namespace, "harbour")


def true_of(namespace: Namespace | None) -> dict[str, str]:
    """The true conditions, with their messages."""
    assert namespace is not None
    assert namespace.status is not None
    return {
        each.type: each.message or ""
        for each in namespace.status.conditions or ()
        if each.status == "True"
    }


def pod(name: str, **rest: Any) -> Pod:
    container = core_v1.Container(name="main", image="main:1")
    return Pod(
        metadata=meta_v1.ObjectMeta(name=name, namespace="harbour"),
        spec=core_v1.PodSpec(containers=(container,), **rest),
    )


def test_every_namespace_has_a_default_serviceaccount_and_the_root_certificate() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)

        for namespace in ("default", "harbour", "kube-system"):
            assert await cluster.find(ServiceAccount, "default", namespace=namespace) is not None
            root = await cluster.get(ConfigMap, ROOT_CA, namespace=namespace)
            assert root.data == {"ca.crt": "the CA"}
            assert root.annotations == {DESCRIPTION: DESCRIBED}

    registration(steps)


def test_default_objects_are_created_again_after_a_deletion_and_corrected_after_a_change() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)

        await cluster.delete(ServiceAccount, "default", namespace="harbour")
        await cluster.delete(ConfigMap, ROOT_CA, namespace="harbour")
        wrong = MergePatch({"data": {"ca.crt": "another", "more": "of it"}})
        await cluster.patch(ConfigMap, ROOT_CA, wrong)
        await cluster.settle()

        assert await cluster.find(ServiceAccount, "default", namespace="harbour") is not None
        for namespace in ("default", "harbour"):
            root = await cluster.get(ConfigMap, ROOT_CA, namespace=namespace)
            assert root.data == {"ca.crt": "the CA"}

    registration(steps)


def test_correct_default_objects_are_not_written() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        before = cluster.server.store.log.revision

        await cluster.patch(Namespace, "harbour", MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await cluster.settle()

        assert cluster.server.store.log.revision == before + 1

    registration(steps)


def test_a_namespace_is_deleted_after_its_content() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        await cluster.install(Boat)
        about = meta_v1.ObjectMeta(name="anna", namespace="harbour")
        await cluster.create(Boat(metadata=about, spec=Empty()))
        await cluster.create(config_map("one", namespace="harbour", finalizers=(HELD,)))
        await cluster.create(secret("two", namespace="harbour"))
        await cluster.create(config_map("elsewhere"))

        held = await ended(cluster)
        assert held is not None
        assert await cluster.find(Boat, "anna", namespace="harbour") is None
        await cluster.patch(ConfigMap, "one", FREE, namespace="harbour")
        await cluster.settle()

        assert await cluster.find(Namespace, "harbour") is None
        assert await cluster.find(ConfigMap, "elsewhere") is not None

    registration(steps)


def test_an_empty_namespace_is_deleted_after_the_grace_period() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)

        await cluster.delete(Namespace, "harbour")
        await cluster.clock.sleep(4.5)
        assert await cluster.find(Namespace, "harbour") is not None
        await cluster.clock.sleep(1.0)

        assert await cluster.find(Namespace, "harbour") is None

    registration(steps)


def test_what_blocks_a_deletion_is_in_the_conditions_of_the_namespace() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        await cluster.create(config_map("one", namespace="harbour", finalizers=(HELD,)))
        await cluster.create(config_map("two", namespace="harbour", finalizers=(HELD, "a.b/c")))

        held = await ended(cluster)

        assert true_of(held) == {
            "NamespaceContentRemaining": (
                "Some resources are remaining: configmaps. has 2 resource instances"
            ),
            "NamespaceFinalizersRemaining": (
                "Some content in the namespace has finalizers remaining:"
                " a.b/c in 1 resource instances, example.com/held in 2 resource instances"
            ),
        }

    registration(steps)


def test_a_remaining_finalizer_blocks_the_namespace_and_no_other_object() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        await cluster.create(config_map("one", namespace="harbour", finalizers=(HELD,)))
        await cluster.create(Namespace(metadata=meta_v1.ObjectMeta(name="other")))
        await cluster.settle()
        await ended(cluster)
        before = cluster.server.store.log.revision

        await cluster.advance(3600)
        await cluster.settle()
        assert cluster.server.store.log.revision == before
        await cluster.delete(Namespace, "other")
        await cluster.settle()

        assert await cluster.find(Namespace, "other") is None
        assert await cluster.find(Namespace, "harbour") is not None

    registration(steps)


def test_pods_are_deleted_before_anything_else() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        await cluster.create(pod("slow", node_name="far", termination_grace_period_seconds=20))
        await cluster.create(config_map("one", namespace="harbour"))

        await cluster.delete(Namespace, "harbour")
        await cluster.advance(6)
        await cluster.settle()
        ending = await cluster.get(Pod, "slow", namespace="harbour")
        assert ending.deletion_time is not None
        assert await cluster.find(ConfigMap, "one", namespace="harbour") is not None
        assert true_of(await cluster.get(Namespace, "harbour")) == {
            "NamespaceDeletionContentFailure": (
                "Failed to delete all resource types, 1 remaining:"
                " unexpected items still remain in namespace: harbour for gvr: /v1, Resource=pods"
            )
        }
        await cluster.client.delete(Pod, "slow", namespace="harbour", grace_seconds=0)
        await cluster.advance(60)
        await cluster.settle()

        assert await cluster.find(Namespace, "harbour") is None

    registration(steps)


def test_running_pods_get_their_grace_period() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        await cluster.create(pod("slow", node_name="far", termination_grace_period_seconds=600))

        held = await ended(cluster)

        assert true_of(held) == {}
        assert await cluster.find(Pod, "slow", namespace="harbour") is not None

    registration(steps)


def test_a_namespace_waits_for_an_unavailable_aggregated_server() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await harbour(cluster)
        away = APIService(
            metadata=meta_v1.ObjectMeta(name="v1.far.example.com"),
            spec=APIServiceSpec(
                group="far.example.com",
                version="v1",
                group_priority_minimum=100,
                version_priority=100,
                service=ServiceReference(name="far", namespace="default"),
            ),
        )
        await cluster.create(away)
        await cluster.create(config_map("one", namespace="harbour"))

        held = await ended(cluster)

        assert true_of(held) == {
            "NamespaceDeletionDiscoveryFailure": (
                "Discovery failed for some groups, 1 failing: unable to retrieve the complete list"
                " of server APIs: far.example.com/v1: stale GroupVersion discovery:"
                " far.example.com/v1"
            )
        }
        assert await cluster.find(ConfigMap, "one", namespace="harbour") is None
        await cluster.delete(APIService, "v1.far.example.com")
        await cluster.advance(60)
        await cluster.settle()
        assert await cluster.find(Namespace, "harbour") is None

    registration(steps)


class RejectsSecrets(NoFaults):
    """Rejects all deletions of Secrets."""

    async def before_request(self, actor: Actor, request: Request) -> None:
        if request.path.endswith("/secrets") and request.method == "DELETE":
            raise Forbidden(wanted="delete", code=403, reason="Forbidden", message="not you")


def test_a_kind_that_cannot_be_deleted_does_not_block_the_others() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = RejectsSecrets()
        await cluster.run_operator(runnables=runnables(ALONE))
        await harbour(cluster)
        await cluster.create(config_map("one", namespace="harbour"))
        await cluster.create(secret("two", namespace="harbour"))

        held = await ended(cluster)

        assert true_of(held) == {
            "NamespaceDeletionContentFailure": (
                "Failed to delete all resource types, 1 remaining: not you"
            )
        }
        assert await cluster.find(ConfigMap, "one", namespace="harbour") is None

    registration(steps, settings=NO_PARTS)


class KilledAt(NoFaults):
    """Kills the namespace controller just before its nth write."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.kill: Callable[[], None] | None = None

    async def before_request(self, actor: Actor, request: Request) -> None:
        if request.method == "GET" or self.kill is None:
            return
        self.left -= 1
        if self.left == 0:
            self.kill()
            await wait_forever()


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_namespace_deletion_completes_after_the_controller_was_killed(number: int) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        cluster.fault_injector = fault = KilledAt(number)
        first = await cluster.run_operator(runnables=runnables(ALONE))
        fault.kill = first.kill_now
        await harbour(cluster)
        await cluster.create(config_map("one", namespace="harbour"))
        await cluster.create(secret("two", namespace="harbour"))
        assert await ended(cluster) is not None
        assert first.actor.is_dead

        fault.kill = None
        await cluster.run_operator(runnables=runnables(ALONE), name="second")
        await cluster.settle()

        assert await cluster.find(Namespace, "harbour") is None

    registration(steps, settings=NO_PARTS)
