"""Before a lost child is made again, its owner is asked for; and nobody else is, nor twice."""

import asyncio
from random import Random
from typing import Any

import pytest

import steersman as sm
from steersman.client import Client, MergePatch
from steersman.controller.ownership.owner_check import Bereaved
from steersman.controller.ownership.owner_references import owned_by
from steersman.errors import Conflict
from steersman.kinds import core_v1, meta_v1, rbac_v1
from steersman.observe import HandlerFailed, ignore
from tests.cluster.disturbing import HeldTransport
from tests.cluster.informing import HERE, Scene
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


def bereaved_of(scene: Scene, owner: Any, *, is_known: bool = True) -> Bereaved:
    """With one owner, who has lost a child; if that is known to be there."""
    bereaved = Bereaved(scene.client)
    bereaved.lost(owned_by(child(), owner), is_known=lambda _, uid: is_known and uid == owner.uid)
    return bereaved


async def test_an_owner_that_is_there_is_asked_for_once(scene: Scene) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    bereaved = bereaved_of(scene, owner)

    await bereaved.check(owner, child())
    await bereaved.check(owner, child())

    assert [each.path for each in scene.way.requests] == [
        f"/apis/toys.example.com/v1/namespaces/{HERE}/widgets/one"
    ]
    assert len(bereaved) == 0


async def test_an_owner_who_has_lost_nothing_is_not_asked_for(scene: Scene) -> None:
    one = await scene.server.get(Widget, "one", namespace=HERE)
    two = await scene.server.get(Widget, "two", namespace=HERE)

    await bereaved_of(scene, one).check(two, child())
    await bereaved_of(scene, one, is_known=False).check(one, child())
    forgotten = bereaved_of(scene, one)
    forgotten.forget(one.uid)
    await forgotten.check(one, child())

    assert scene.way.requests == []


async def test_a_child_of_an_owner_that_is_gone_is_not_made_again(scene: Scene) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    bereaved = bereaved_of(scene, owner)
    await scene.server.delete(Widget, "one", namespace=HERE)

    with pytest.raises(Conflict, match="is gone"):
        await bereaved.check(owner, child(name="", generate_name="web-"))
    await scene.server.create(widget(HERE, "one"))
    with pytest.raises(Conflict, match="is another object by now"):
        await bereaved.check(owner, child())


async def test_a_child_of_an_owner_on_its_way_out_is_not_made_again_unless_that_is_known(
    scene: Scene,
) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    held = MergePatch({"metadata": {"finalizers": ["example.com/held"]}})
    await scene.server.patch(Widget, "one", held, namespace=HERE)
    await scene.server.delete(Widget, "one", namespace=HERE)
    ending = await scene.server.get(Widget, "one", namespace=HERE)

    with pytest.raises(Conflict, match="is being deleted"):
        await bereaved_of(scene, owner).check(owner, child())
    await bereaved_of(scene, ending).check(ending, child())


async def test_owners_without_a_class_and_without_a_namespace_are_asked_for_too(
    scene: Scene,
) -> None:
    octopus = await an_octopus(scene)
    unstructured = await scene.server.get(AnyWidget, "one", namespace=HERE)
    for owner in (octopus, unstructured):
        bereaved = bereaved_of(scene, owner)
        await bereaved.check(owner, child())
        assert len(bereaved) == 0

    assert len(scene.way.requests) == 2


async def test_what_is_lost_while_somebody_asks_is_asked_about_again(scene: Scene) -> None:
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    way, lost = HeldTransport(scene.way), owned_by(child(), owner)
    bereaved = Bereaved(Client(way, clock=scene.clock, rng=Random(0), observe=ignore))
    bereaved.lost(lost, is_known=lambda _, __: True)
    async with asyncio.TaskGroup() as group:
        group.create_task(bereaved.check(owner, child()))
        await scene.settle()
        bereaved.lost(lost, is_known=lambda _, __: True)
        way.may_go.set()

    assert len(bereaved) == 1
    await bereaved.check(owner, child())
    assert len(bereaved) == 0


async def test_a_child_of_an_owner_without_a_namespace_comes_back(scene: Scene) -> None:
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

    asked = [each.path for each in operator.ways[0].requests if each.path.endswith("/otto")]
    assert asked == ["/apis/toys.example.com/v1/octopodes/otto"]


async def test_what_lives_in_no_namespace_is_nobodys_child_there(scene: Scene) -> None:
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


async def test_who_was_bereaved_is_forgotten_with_its_end(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,))
    owner = await scene.server.get(Widget, "one", namespace=HERE)
    await scene.server.create(owned_by(child(), owner))
    async with looping(scene, controller) as loop:
        await scene.settle()
        await scene.server.delete(ConfigMap, "web", namespace=HERE)
        await scene.until(lambda: loop.remembered == 1)
        await scene.server.delete(Widget, "one", namespace=HERE)
        await scene.until(lambda: loop.remembered == 0)
