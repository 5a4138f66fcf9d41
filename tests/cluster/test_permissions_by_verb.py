"""Permissions by verb, on the embedded server: declarations and the preflight check."""

from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.controller import permissions
from steersman.errors import UndeclaredWrite
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ReconcileFinished, StageReached
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import is_quiet, operating
from tests.real.definitions import Widget

ConfigMap = core_v1.ConfigMap


def config_map(name: str, **data: str) -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=name, namespace=HERE), data=data)


async def test_a_patch_needs_only_the_verb_patch(scene: Scene) -> None:
    refused: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        there = await ctx.live.get(ConfigMap, "one")
        await ctx.patch(there, MergePatch({"data": {"seen": obj.name}}))
        await ctx.apply(sm.replace(config_map("one", applied="yes"), metadata=there.metadata))
        for attempt in (ctx.delete(there), ctx.create(config_map("new")), ctx.apply(NEW)):
            try:
                await attempt
            except UndeclaredWrite as error:
                refused.append(str(error))
        return sm.Done()

    controller = sm.Controller(
        Widget, reconcile=reconcile, writes=(sm.Writes(ConfigMap, verbs=("patch",)),)
    )
    await scene.server.delete(Widget, "two", namespace=HERE)

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        found = await scene.server.get(ConfigMap, "one", namespace=HERE)

    assert (found.data or {}).items() >= {("seen", "one"), ("applied", "yes")}
    assert {write.split()[0] for write in operator.writes} == {"PATCH"}
    assert ['"delete"' in refused[0], '"create"' in refused[1], '"create"' in refused[2]] == [
        True
    ] * 3


NEW = config_map("new")


@pytest.mark.parametrize("declared", [{"owns": (ConfigMap,)}, {"writes": (ConfigMap,)}])
async def test_an_applied_kind_allows_neither_delete_nor_status_writes(
    scene: Scene, declared: Any
) -> None:
    errors: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        there = config_map("one")
        for attempt in (ctx.delete(there), ctx.apply_status(there, {})):
            try:
                await attempt
            except UndeclaredWrite as error:
                errors.append(str(error))
        return sm.Done()

    await scene.server.delete(Widget, "two", namespace=HERE)
    controller = sm.Controller(Widget, reconcile=reconcile, **declared)
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)

    rules = permissions([controller], lease=None, namespaces=())
    granted = {
        (rule.subresource, verb)
        for rule in rules
        for verb in rule.verbs
        if rule.resource == "configmaps"
    }
    assert not granted & {("", "delete"), ("", "update"), ("status", "patch")}
    assert len(errors) == 2


async def test_the_status_of_the_controllers_kind_needs_no_declaration(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        await ctx.patch(obj, MergePatch({"status": {"ready": 7}}), subresource="status")
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await is_quiet(scene, operator)
        found = await scene.server.get(Widget, "one", namespace=HERE)

    assert not [each.error for each in operator.seen(ReconcileFinished) if each.error]
    assert found.status is not None
    assert found.status.ready == 7


async def test_the_preflight_checks_the_permissions_that_a_runnable_declares(scene: Scene) -> None:
    async def collect(services: Any) -> None: ...

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    runnable = sm.Runnable(
        collect,
        watches=(core_v1.Node,),
        writes=(sm.Writes(ConfigMap, verbs=("patch",), names=("one",)),),
    )
    controller = sm.Controller(Widget, reconcile=reconcile)

    async with operating(scene, controller, runnables=(runnable,), preflight="wait") as operator:
        await scene.until(lambda: operator.seen(StageReached))
        asked = [
            b"".join([request.body or b""])
            for transport in operator.transports
            for request in transport.requests
            if request.path.endswith("/selfsubjectaccessreviews")
        ]

    assert any(b'"nodes"' in body and b'"watch"' in body for body in asked)
    assert any(b'"configmaps"' in body and b'"one"' in body for body in asked)
