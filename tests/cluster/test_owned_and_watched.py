"""A kind that a controller both owns and watches, on the embedded server."""

from collections.abc import Iterable
from typing import Any

import steersman as sm
from steersman import changed
from steersman.kinds import Unstructured, core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.observe import ReconcileFinished, ReconcileReason
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, is_quiet, operating
from tests.real.definitions import Widget, widget

ConfigMap = core_v1.ConfigMap


def config_map(name: str, namespace: str | None = None, **data: str) -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=name, namespace=namespace), data=data)


def referenced_by(obj: Any, cached: sm.CacheReader) -> Iterable[ObjectKey]:
    """Each Widget refers to the ConfigMap whose name is its color."""
    users = [each for each in cached.list(Widget) if each.spec.color == obj.name]
    return [ObjectKey(each.namespace, each.name) for each in users]


async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    """Generate a ConfigMap from the one that the Widget refers to."""
    source = ctx.get(ConfigMap, obj.spec.color or "")
    data = dict(source.data or {}) if source is not None else {}
    await ctx.apply_owned(config_map(f"of-{obj.name}", **data))
    return sm.Done()


def whys_of(operator: Operator, name: str, *, since: int = 0) -> list[ReconcileReason]:
    finished = operator.seen(ReconcileFinished)[since:]
    return [why for each in finished if each.ref.name == name for why in each.reasons]


def watches_of(operator: Operator, plural: str) -> int:
    """The number of watches that were opened on all objects of a resource."""
    return len(
        [
            request
            for transport in operator.transports
            for request in transport.requests
            if request.path.endswith(f"/{plural}") and ("watch", "true") in request.query
        ]
    )


async def data_of(scene: Scene, name: str) -> dict[str, str]:
    found = await scene.server.get(ConfigMap, name, namespace=HERE)
    return dict(found.data or {})


async def test_a_kind_that_is_both_owned_and_watched_has_one_informer(scene: Scene) -> None:
    controller = sm.Controller(
        Widget,
        reconcile=reconcile,
        owns=(ConfigMap,),
        watches=(sm.Watch(ConfigMap, to=referenced_by),),
    )
    await scene.server.create(config_map("blue", HERE, key="first"))
    await scene.paint("one", "blue")

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        generated = await data_of(scene, "of-one")

        await scene.patch("blue", key="second")
        await is_quiet(scene, operator)
        after_reference = await data_of(scene, "of-one")

        before = len(operator.seen(ReconcileFinished))
        await scene.patch("of-one", key="edited")
        await is_quiet(scene, operator)
        after_edit = await data_of(scene, "of-one")

        await scene.delete("of-one")
        await is_quiet(scene, operator)
        after_delete = await data_of(scene, "of-one")

    assert generated == {"key": "first"}
    assert after_reference == {"key": "second"}
    assert after_edit == {"key": "second"}
    assert after_delete == {"key": "second"}
    assert watches_of(operator, "configmaps") == 1
    edited = whys_of(operator, "one", since=before)[0]
    assert (edited.event, str(edited.about)) == ("updated", "ConfigMap here/of-one")


async def test_a_change_that_enqueues_an_owner_twice_is_one_reason(scene: Scene) -> None:
    def to_owner(obj: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[ObjectKey]:
        return [ObjectKey(HERE, "one")] if obj.name == "of-one" else []

    controller = sm.Controller(
        Widget,
        reconcile=reconcile,
        owns=(ConfigMap,),
        watches=(sm.Watch(ConfigMap, to=to_owner),),
    )

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        before = len(operator.seen(ReconcileFinished))
        await scene.patch("of-one", key="edited")
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) > before)
        reasons = operator.seen(ReconcileFinished)[before].reasons

    assert [(why.event, str(why.about)) for why in reasons] == [
        ("updated", "ConfigMap here/of-one")
    ]


async def test_each_declaration_of_a_kind_has_its_own_predicate(scene: Scene) -> None:
    controller = sm.Controller(
        Widget,
        reconcile=reconcile,
        owns=(sm.Owns(ConfigMap, when=lambda old, new: False),),
        watches=(sm.Watch(ConfigMap, to=referenced_by),),
    )
    await scene.server.create(config_map("blue", HERE, key="first"))
    await scene.paint("one", "blue")

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        before = len(operator.seen(ReconcileFinished))
        await scene.patch("of-one", key="edited")
        await is_quiet(scene, operator)
        ignored = operator.seen(ReconcileFinished)[before:]
        await scene.patch("blue", key="second")
        await is_quiet(scene, operator)
        noticed = operator.seen(ReconcileFinished)[before:]

    assert ignored == []
    assert [each.ref.name for each in noticed] == ["one"]


async def test_objects_of_the_controllers_kind_are_mapped_to_other_objects_of_the_kind(
    scene: Scene,
) -> None:
    seen: list[tuple[str, str, str]] = []

    async def note(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        seen.extend((obj.name, why.event, str(why.about)) for why in ctx.reasons)
        return sm.Done()

    def peers(obj: Widget, cached: sm.CacheReader) -> Iterable[Widget]:
        return [each for each in cached.list(Widget) if each.name != obj.name]

    controller = sm.Controller(
        Widget,
        reconcile=note,
        when=changed.generation,
        watches=(sm.Watch(Widget, to=peers),),
    )

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        seen.clear()
        await scene.paint("one", "red")
        await is_quiet(scene, operator)
        painted = sorted(seen)
        seen.clear()
        await scene.server.create(widget(HERE, "three"))
        await is_quiet(scene, operator)
        created = sorted(seen)

    about = "Widget here/one"
    assert painted == [("one", "updated", about), ("two", "updated", about)]
    assert [name for name, _, _ in created] == ["one", "three", "two"]
    assert watches_of(operator, "widgets") == 1


async def test_two_watches_of_one_kind_are_mapped_and_retried_separately(scene: Scene) -> None:
    failures: list[str] = []

    def broken(obj: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[ObjectKey]:
        if obj.name == "blue" and len(failures) < 2:
            failures.append(obj.name)
            raise RuntimeError("not yet")
        return [ObjectKey(HERE, "two")] if obj.name == "blue" else []

    controller = sm.Controller(
        Widget,
        reconcile=reconcile,
        owns=(ConfigMap,),
        watches=(sm.Watch(ConfigMap, to=broken), sm.Watch(ConfigMap, to=referenced_by)),
    )

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        before = len(operator.seen(ReconcileFinished))
        await scene.paint("one", "blue")
        await is_quiet(scene, operator)
        await scene.server.create(config_map("blue", HERE, key="first"))
        await scene.until(
            lambda: any(
                each.ref.name == "two" for each in operator.seen(ReconcileFinished)[before:]
            ),
            seconds=0.5,
        )

    assert [why.event for why in whys_of(operator, "two", since=before)] == ["mapped"]
    assert await data_of(scene, "of-one") == {"key": "first"}
    assert failures == ["blue", "blue"]


async def test_two_classes_made_for_one_unknown_kind_share_an_informer(scene: Scene) -> None:
    owned = Unstructured.of("v1", "ConfigMap")
    watched = Unstructured.of("v1", "ConfigMap")
    woken: list[str] = []

    async def note(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        woken.append(obj.name)
        return sm.Done()

    controller = sm.Controller(
        Widget,
        reconcile=note,
        owns=(owned,),
        watches=(sm.Watch(watched, to=lambda obj, cached: [ObjectKey(HERE, obj.name)]),),
    )

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        woken.clear()
        await scene.patch("one", key="value")
        await is_quiet(scene, operator)

    assert woken == ["one"]
    assert watches_of(operator, "configmaps") == 1
