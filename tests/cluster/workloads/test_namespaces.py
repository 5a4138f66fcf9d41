"""Namespaces on the embedded server: what each begins with, and how it ends."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from steersman.client import MergePatch
from steersman.errors import Forbidden
from steersman.kinds import CustomResource, Part, core_v1, meta_v1
from steersman.kinds.apiregistration_v1 import APIService, APIServiceSpec, ServiceReference
from steersman.wire import Request
from steersman_cluster.simulation import Actor, Calm, SimulatedWorld, simulate
from steersman_cluster.simulation.ways import for_ever
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.namespaces import runnables
from steersman_cluster.workloads.namespaces.furnishing import DESCRIBED, DESCRIPTION, ROOT_CA
from tests.cluster.workloads.owners import HELD, ConfigMap, config_map, secret

ServiceAccount = core_v1.ServiceAccount
Namespace = core_v1.Namespace
Pod = core_v1.Pod

ALONE = WorkloadSettings(parts=("namespaces",), root_ca="the CA")
NOBODY = WorkloadSettings(parts=())

FREE = MergePatch({"metadata": {"finalizers": None}})

Story = Callable[[SimulatedWorld], Awaitable[None]]


def told(story: Story, *, settings: WorkloadSettings = ALONE) -> None:
    simulate(story, settings=settings)


class Empty(Part):
    """Nothing."""


class Boat(CustomResource[Empty, Empty], group="sea.example.com", version="v1"):
    """A kind of somebody's own."""


async def harbour(world: SimulatedWorld) -> None:
    await world.create(Namespace(metadata=meta_v1.ObjectMeta(name="harbour")))
    await world.settle()


async def ended(world: SimulatedWorld) -> Namespace | None:
    """The namespace after its deletion, if it is there."""
    await world.delete(Namespace, "harbour")
    await world.settle()
    return await world.find(Namespace, "harbour")


def true_of(namespace: Namespace | None) -> dict[str, str]:
    """The conditions that are true, with what they say."""
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
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)

        for namespace in ("default", "harbour", "kube-system"):
            assert await world.find(ServiceAccount, "default", namespace=namespace) is not None
            root = await world.get(ConfigMap, ROOT_CA, namespace=namespace)
            assert root.data == {"ca.crt": "the CA"}
            assert root.annotations == {DESCRIPTION: DESCRIBED}

    told(story)


def test_they_are_made_again_when_they_are_deleted_and_put_right_when_they_are_changed() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)

        await world.delete(ServiceAccount, "default", namespace="harbour")
        await world.delete(ConfigMap, ROOT_CA, namespace="harbour")
        wrong = MergePatch({"data": {"ca.crt": "another", "more": "of it"}})
        await world.patch(ConfigMap, ROOT_CA, wrong)
        await world.settle()

        assert await world.find(ServiceAccount, "default", namespace="harbour") is not None
        for namespace in ("default", "harbour"):
            root = await world.get(ConfigMap, ROOT_CA, namespace=namespace)
            assert root.data == {"ca.crt": "the CA"}

    told(story)


def test_nothing_is_written_where_all_is_right() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
        before = world.server.store.log.revision

        await world.patch(Namespace, "harbour", MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await world.settle()

        assert world.server.store.log.revision == before + 1

    told(story)


def test_a_namespace_goes_when_all_that_is_in_it_has_gone() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
        await world.install(Boat)
        about = meta_v1.ObjectMeta(name="anna", namespace="harbour")
        await world.create(Boat(metadata=about, spec=Empty()))
        await world.create(config_map("one", namespace="harbour", finalizers=(HELD,)))
        await world.create(secret("two", namespace="harbour"))
        await world.create(config_map("elsewhere"))

        held = await ended(world)
        assert held is not None
        assert await world.find(Boat, "anna", namespace="harbour") is None
        await world.patch(ConfigMap, "one", FREE, namespace="harbour")
        await world.settle()

        assert await world.find(Namespace, "harbour") is None
        assert await world.find(ConfigMap, "elsewhere") is not None

    told(story)


def test_an_empty_namespace_goes_after_the_grace() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)

        await world.delete(Namespace, "harbour")
        await world.clock.sleep(4.5)
        assert await world.find(Namespace, "harbour") is not None
        await world.clock.sleep(1.0)

        assert await world.find(Namespace, "harbour") is None

    told(story)


def test_what_holds_up_a_namespace_is_in_its_conditions() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
        await world.create(config_map("one", namespace="harbour", finalizers=(HELD,)))
        await world.create(config_map("two", namespace="harbour", finalizers=(HELD, "a.b/c")))

        held = await ended(world)

        assert true_of(held) == {
            "NamespaceContentRemaining": (
                "Some resources are remaining: configmaps. has 2 resource instances"
            ),
            "NamespaceFinalizersRemaining": (
                "Some content in the namespace has finalizers remaining:"
                " a.b/c in 1 resource instances, example.com/held in 2 resource instances"
            ),
        }

    told(story)


def test_a_finalizer_nobody_removes_keeps_the_namespace_and_nothing_else() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
        await world.create(config_map("one", namespace="harbour", finalizers=(HELD,)))
        await world.create(Namespace(metadata=meta_v1.ObjectMeta(name="other")))
        await world.settle()
        await ended(world)
        before = world.server.store.log.revision

        await world.advance(3600)
        await world.settle()
        assert world.server.store.log.revision == before
        await world.delete(Namespace, "other")
        await world.settle()

        assert await world.find(Namespace, "other") is None
        assert await world.find(Namespace, "harbour") is not None

    told(story)


def test_pods_end_before_anything_else_is_deleted() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
        await world.create(pod("slow", node_name="far", termination_grace_period_seconds=20))
        await world.create(config_map("one", namespace="harbour"))

        await world.delete(Namespace, "harbour")
        await world.advance(6)
        await world.settle()
        ending = await world.get(Pod, "slow", namespace="harbour")
        assert ending.deletion_time is not None
        assert await world.find(ConfigMap, "one", namespace="harbour") is not None
        assert true_of(await world.get(Namespace, "harbour")) == {
            "NamespaceDeletionContentFailure": (
                "Failed to delete all resource types, 1 remaining:"
                " unexpected items still remain in namespace: harbour for gvr: /v1, Resource=pods"
            )
        }
        await world.client.delete(Pod, "slow", namespace="harbour", grace_seconds=0)
        await world.advance(60)
        await world.settle()

        assert await world.find(Namespace, "harbour") is None

    told(story)


def test_pods_that_run_are_given_their_grace() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
        await world.create(pod("slow", node_name="far", termination_grace_period_seconds=600))

        held = await ended(world)

        assert true_of(held) == {}
        assert await world.find(Pod, "slow", namespace="harbour") is not None

    told(story)


def test_a_namespace_waits_for_kinds_of_a_server_that_is_away() -> None:
    async def story(world: SimulatedWorld) -> None:
        await harbour(world)
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
        await world.create(away)
        await world.create(config_map("one", namespace="harbour"))

        held = await ended(world)

        assert true_of(held) == {
            "NamespaceDeletionDiscoveryFailure": (
                "Discovery failed for some groups, 1 failing: unable to retrieve the complete list"
                " of server APIs: far.example.com/v1: stale GroupVersion discovery:"
                " far.example.com/v1"
            )
        }
        assert await world.find(ConfigMap, "one", namespace="harbour") is None
        await world.delete(APIService, "v1.far.example.com")
        await world.advance(60)
        await world.settle()
        assert await world.find(Namespace, "harbour") is None

    told(story)


class Refusing(Calm):
    """Does not let anybody delete Secrets."""

    async def sending(self, actor: Actor, request: Request) -> None:
        if request.path.endswith("/secrets") and request.method == "DELETE":
            raise Forbidden(wanted="delete", code=403, reason="Forbidden", message="not you")


def test_a_kind_that_cannot_be_deleted_does_not_keep_the_others() -> None:
    async def story(world: SimulatedWorld) -> None:
        world.disturbance = Refusing()
        await world.run_operator(runnables=runnables(ALONE))
        await harbour(world)
        await world.create(config_map("one", namespace="harbour"))
        await world.create(secret("two", namespace="harbour"))

        held = await ended(world)

        assert true_of(held) == {
            "NamespaceDeletionContentFailure": (
                "Failed to delete all resource types, 1 remaining: not you"
            )
        }
        assert await world.find(ConfigMap, "one", namespace="harbour") is None

    told(story, settings=NOBODY)


class KilledAt(Calm):
    """Kills who ends namespaces just before its nth write."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.kill: Callable[[], None] | None = None

    async def sending(self, actor: Actor, request: Request) -> None:
        if request.method == "GET" or self.kill is None:
            return
        self.left -= 1
        if self.left == 0:
            self.kill()
            await for_ever()


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_whoever_is_killed_while_ending_a_namespace_ends_it_later(number: int) -> None:
    async def story(world: SimulatedWorld) -> None:
        world.disturbance = fault = KilledAt(number)
        first = await world.run_operator(runnables=runnables(ALONE))
        fault.kill = first.kill_now
        await harbour(world)
        await world.create(config_map("one", namespace="harbour"))
        await world.create(secret("two", namespace="harbour"))
        assert await ended(world) is not None
        assert first.actor.is_dead

        fault.kill = None
        await world.run_operator(runnables=runnables(ALONE), name="second")
        await world.settle()

        assert await world.find(Namespace, "harbour") is None

    told(story, settings=NOBODY)
