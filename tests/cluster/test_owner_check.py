"""Before a controller creates a lost child again, it reads the owner once, and no other object."""

import asyncio
from random import Random
from typing import Any

import pytest

import steersman as sm
from steersman.client import Client, MergePatch
from steersman.controller.ownership.owner_check import OwnerCheck
from steersman.controller.ownership.owner_references import owned_by
from steersman.errors import Conflict
from steersman.kinds import core_v1, meta_v1, rbac_v1
from steersman.observe import HandlerFailed, ignore
from tests.cluster.faulty_transports import GatedTransport
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import is_quiet, operating
from tests.cluster.test_control_loop_races import looping
from tests.real.definitions import (
    OCTOPODES,
    AnyWidget,
    Octopus,
    OctopusSpec,
    Widget,
    install,
    widget,
)

ConfigMap = core_v1.ConfigMap


def child(name: str = "web", **rest: Any) -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=name, namespace=HERE, **rest))


async def an_octopus(scene: Scene) -> Octopus:
    await install(scene.server, OCTOPODES)
    metadata = meta_v1.ObjectMeta(name="otto")
    return await scene.server.create(Octopus(metadata=metadata, spec=OctopusSpec()))


def owner_check_of(scene: Scene, owner: Any, *, is_cached: bool = True) -> OwnerCheck:
    """An owner check for an owner that has lost a child."""
    owner_check = OwnerCheck(scene.client)
    owner_check.note_lost_child(
        owned_by(child(), owner), is_cached=lambda _, uid: is_cached and uid == owner.uid
    )
    return owner_check


async def test_an_owner_that_exists_is_read_once(scene: Scene) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    owner_check = owner_check_of(scene, owner)

    await owner_check.check(owner, child())
    await owner_check.check(owner, child())

    assert [each.path for each in scene.transport.requests] == [
        f"/apis/toys.example.com/v1/namespaces/{HERE}/widgets/one"
    ]
    assert len(owner_check) == 0


async def test_an_owner_that_has_lost_no_child_is_not_read(scene: Scene) -> None:
    one = await scene.server.get(Widget, "one", namespace=HERE)
    two = await scene.server.get(Widget, "two", namespace=HERE)

    await owner_check_of(scene, one).check(two, child())
    await owner_check_of(scene, one, is_cached=False).check(one, child())
    forgotten = owner_check_of(scene, one)
    forgotten.forget(one.uid)
    await forgotten.check(one, child())

    assert scene.transport.requests == []


async def test_a_child_of_a_deleted_owner_is_not_created_again(scene: Scene) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    owner_check = owner_check_of(scene, owner)
    await scene.server.delete(Widget, "one", namespace=HERE)

    with pytest.raises(Conflict, match="no longer exists"):
        await owner_check.check(owner, child(name="", generate_name="web-"))
    await scene.server.create(widget(HERE, "one"))
    with pytest.raises(Conflict, match="was replaced by another object of the same name"):
        await owner_check.check(owner, child())


async def test_a_child_of_an_owner_in_deletion_is_not_created_again_unless_the_cache_shows_it(
    scene: Scene,
) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    held = MergePatch({"metadata": {"finalizers": ["example.com/held"]}})
    await scene.server.patch(Widget, "one", held, namespace=HERE)
    await scene.server.delete(Widget, "one", namespace=HERE)
    ending = await scene.server.get(Widget, "one", namespace=HERE)

    with pytest.raises(Conflict, match="is being deleted"):
        await owner_check_of(scene, owner).check(owner, child())
    await owner_check_of(scene, ending).check(ending, child())


async def test_unstructured_and_cluster_scoped_owners_are_read_too(
    scene: Scene,
) -> None:
    octopus = await an_octopus(scene)
    unstructured = await scene.server.get(AnyWidget, "one", namespace=HERE)
    for owner in (octopus, unstructured):
        owner_check = owner_check_of(scene, owner)
        await owner_check.check(owner, child())
        assert len(owner_check) == 0

    assert len(scene.transport.requests) == 2


async def test_a_child_that_is_lost_during_the_check_is_checked_again(scene: Scene) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    transport, lost = GatedTransport(scene.transport), owned_by(child(), owner)
    owner_check = OwnerCheck(Client(transport, clock=scene.clock, rng=Random(0), observe=ignore))
    owner_check.note_lost_child(lost, is_cached=lambda _, __: True)
    async with asyncio.TaskGroup() as group:
        group.create_task(owner_check.check(owner, child()))
        await scene.settle()
        owner_check.note_lost_child(lost, is_cached=lambda _, __: True)
        transport.gate.set()

    assert len(owner_check) == 1
    await owner_check.check(owner, child())
    assert len(owner_check) == 0


async def test_a_lost_child_of_a_cluster_scoped_owner_is_created_again(scene: Scene) -> None:
    await an_octopus(scene)

    async def reconcile(obj: Octopus, ctx: sm.Context) -> sm.Outcome:
        await ctx.apply_owned(child())
        return sm.Done()

    controller = sm.Controller(Octopus, reconcile=reconcile, owns=(ConfigMap,))
    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(operator.writes) == 1)
        await scene.server.delete(ConfigMap, "web", namespace=HERE)
        await scene.until(lambda: len(operator.writes) == 2)
        await is_quiet(scene, operator)

    asked = [each.path for each in operator.transports[0].requests if each.path.endswith("/otto")]
    assert asked == ["/apis/toys.example.com/v1/octopodes/otto"]


async def test_a_cluster_scoped_child_has_no_namespaced_owner(scene: Scene) -> None:
    octopus = await an_octopus(scene)
    role = rbac_v1.ClusterRole(metadata=meta_v1.ObjectMeta(name="web"))
    await scene.server.create(owned_by(role, octopus))

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, owns=(rbac_v1.ClusterRole,))
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        await scene.server.delete(rbac_v1.ClusterRole, "web")
        await is_quiet(scene, operator)

    assert operator.seen(HandlerFailed) == []


async def test_a_missing_owner_is_forgotten_with_its_dependent(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,))
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    await scene.server.create(owned_by(child(), owner))
    async with looping(scene, controller) as loop:
        await scene.settle()
        await scene.server.delete(ConfigMap, "web", namespace=HERE)
        await scene.until(lambda: loop.entry_count == 1)
        await scene.server.delete(Widget, "one", namespace=HERE)
        await scene.until(lambda: loop.entry_count == 0)
