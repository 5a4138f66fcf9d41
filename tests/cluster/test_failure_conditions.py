"""A condition of the object reports why its reconcile fails."""

import asyncio
from typing import Any

import pytest

import steersman as sm
from steersman import changed
from steersman.client import MergePatch, wait_for
from steersman.controller.ownership.managed_fields import fields_in
from steersman.controller.writer.applied_state import entry_of
from steersman.errors import Invalid, Permanent, Unreachable
from steersman.kinds import Condition, Unstructured, events_v1, meta_v1
from steersman.kinds.apiextensions_v1 import CustomResourceSubresources
from steersman.observe import ReconcileFinished
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, operating
from tests.real.definitions import (
    ANYTHING,
    GROUP,
    AnyWidget,
    Widget,
    WidgetSpec,
    WidgetStatus,
    definition,
    install,
    version,
)

TOO_LARGE = MergePatch({"spec": {"size": 11}})
GOOD = Condition(type="Ready", status="True", reason="Fits")

Gadget = Unstructured.of(f"{GROUP}/v1", "Gadget")
GADGETS = definition(
    "Gadget",
    "gadgets",
    version(spec=ANYTHING, status=ANYTHING, subresources=CustomResourceSubresources(status={})),
)


def widget(size: int) -> Widget:
    return Widget(metadata=meta_v1.ObjectMeta(name="one"), spec=WidgetSpec(size=size))


async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    """Fail for a large Widget, and fail permanently for a larger one."""
    if obj.spec.size > 20:
        raise Permanent("a size of 20 is the most there is; choose a smaller one")
    if obj.spec.size > 10:
        raise RuntimeError("another message")
    await ctx.apply_status(obj, WidgetStatus(ready=obj.spec.size).with_condition(GOOD))
    return sm.Done()


CONTROLLER = sm.Controller(Widget, reconcile=reconcile, when=changed.generation, condition="Ready")


async def run_operator(cluster: Cluster, controller: sm.Controller[Widget] = CONTROLLER) -> None:
    await cluster.install(Widget)
    await cluster.run_operator(controller)


def failures_in(operator: Operator) -> int:
    return [each.outcome for each in operator.seen(ReconcileFinished)].count("failed")


def conditions(obj: Widget) -> list[tuple[str, str, str | None]]:
    conditions = (obj.status and obj.status.conditions) or ()
    return [(each.type, each.status, each.reason) for each in conditions]


async def until_reported(cluster: Cluster, *reasons: str) -> Widget:
    return await wait_for(
        cluster.client,
        Widget,
        "one",
        lambda found: [reason for _, _, reason in conditions(found)] == [*reasons],
        namespace=cluster.namespace,
        within_seconds=10.0,
    )


async def test_the_condition_of_an_object_says_why_its_reconcile_failed(cluster: Cluster) -> None:
    await run_operator(cluster)

    await cluster.apply(widget(size=30))
    await cluster.settle()

    one = await cluster.get(Widget, "one")
    (event,) = await cluster.list(events_v1.Event)
    assert one.status is not None
    (condition,) = one.status.conditions or (None,)
    assert condition is not None
    assert (condition.status, condition.reason) == ("False", "Permanent")
    assert condition.message == "a size of 20 is the most there is; choose a smaller one"
    assert condition.message == event.note
    assert condition.last_transition_time is not None


async def test_the_condition_is_true_after_the_reconcile_succeeds(cluster: Cluster) -> None:
    await run_operator(cluster)
    await cluster.apply(widget(size=11))
    await until_reported(cluster, "ReconcileFailed")

    await cluster.apply(widget(size=10))
    await cluster.settle()

    assert conditions(await cluster.get(Widget, "one")) == [("Ready", "True", "Fits")]


async def test_the_rest_of_the_status_stays_while_a_reconcile_fails(cluster: Cluster) -> None:
    await run_operator(cluster)
    await cluster.apply(widget(size=3))
    await cluster.settle()

    await cluster.apply(widget(size=30))
    await cluster.settle()

    one = await cluster.get(Widget, "one")
    assert one.status is not None
    assert one.status.ready == 3


async def test_status_fields_of_another_manager_keep_their_owner(cluster: Cluster) -> None:
    await run_operator(cluster)
    await cluster.apply(widget(size=3))
    await cluster.settle()
    other = {"type": "Painted", "status": "True", "reason": "Blue"}
    ours = {"type": "Ready", "status": "True", "reason": "Fits"}
    await cluster.patch(
        Widget, "one", MergePatch({"status": {"conditions": [ours, other]}}), subresource="status"
    )

    await cluster.apply(widget(size=30))
    await cluster.settle()

    one = await cluster.get(Widget, "one")
    ours_now = entry_of(one, CONTROLLER.field_manager, "status")
    assert ours_now is not None
    assert conditions(one) == [("Ready", "False", "Permanent"), ("Painted", "True", "Blue")]
    assert "Painted" not in str(fields_in(ours_now.fields))


async def test_the_same_failure_is_reported_once(scene: Scene) -> None:
    await scene.server.patch(Widget, "one", TOO_LARGE, namespace=HERE)

    async with operating(scene, CONTROLLER) as operator:
        await scene.until(lambda: failures_in(operator) == 10, seconds=1.0)

    asked = [f"{each.method} {each.path}" for each in operator.transports[0].requests]
    about_one = [each for each in asked if "/widgets/one" in each]
    assert [each.split()[0] for each in about_one] == ["GET", "PATCH"]


async def test_a_failure_with_changing_messages_is_reported_once_per_retry(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        raise Invalid(wanted="make", code=422, reason="Invalid", message=f"no {len(looks())}")

    def looks() -> list[ReconcileFinished]:
        return [each for each in operator.seen(ReconcileFinished) if each.ref.name == "one"]

    controller = sm.Controller(Widget, reconcile=reconcile, condition="Ready")
    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(looks()) >= 12, seconds=0.1)

    tried = [each for each in looks() if each.reasons[0].event in ("initial", "retry")]
    written = [each for each in operator.writes if each.endswith("/widgets/one/status")]
    assert len(tried) > 1
    assert len(written) == len(tried)


async def test_a_permanent_failure_is_reported_after_the_server_recovers(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if not ctx.failures:
            operator.transports[0].fixed_response = Unreachable("gone for a moment")
        raise Permanent("never")

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1, condition="Ready")
    async with operating(scene, controller) as operator:
        await scene.until(lambda: failures_in(operator) >= 1, seconds=1.0)
        operator.transports[0].fixed_response = None
        await scene.until(lambda: len(operator.writes) >= 2, seconds=1.0)
        await scene.settle()

    one = await scene.server.get(Widget, "one", namespace=HERE)
    assert conditions(one) == [("Ready", "False", "Permanent")]


async def test_an_unreachable_server_sets_no_condition(cluster: Cluster) -> None:
    async def fail_once(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if not ctx.failures:
            raise Unreachable("no answer")
        return sm.Done()

    await run_operator(cluster, sm.Controller(Widget, reconcile=fail_once, condition="Ready"))

    await cluster.apply(widget(size=3))
    await cluster.settle()

    assert conditions(await cluster.get(Widget, "one")) == []


async def test_unstructured_objects_have_conditions(cluster: Cluster) -> None:
    async def fail(obj: sm.Unstructured, ctx: sm.Context) -> sm.Outcome:
        raise Permanent("never")

    await cluster.install(Widget)
    await cluster.run_operator(sm.Controller(AnyWidget, reconcile=fail, condition="Ready"))

    await cluster.apply(widget(size=3))
    await cluster.settle()

    assert conditions(await cluster.get(Widget, "one")) == [("Ready", "False", "Permanent")]


@pytest.mark.parametrize("conditions", ["Ready", ["Ready"], [None], {"Ready": True}], ids=repr)
async def test_malformed_conditions_do_not_stop_the_operator(scene: Scene, conditions: Any) -> None:
    async def fail(obj: sm.Unstructured, ctx: sm.Context) -> sm.Outcome:
        raise Permanent("never")

    await install(scene.server, GADGETS)
    one = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget"}
    await scene.server.create(Gadget({**one, "metadata": {"name": "one", "namespace": HERE}}))
    status = scene.server.status(Gadget, "one", namespace=HERE)
    await status.patch(MergePatch({"status": {"conditions": conditions}}))

    async with operating(scene, sm.Controller(Gadget, reconcile=fail, condition="Ready")) as us:
        await scene.until(lambda: us.seen(ReconcileFinished))

    gadget = await scene.server.get(Gadget, "one", namespace=HERE)
    (said,) = gadget.get("status", "conditions")
    assert (said["type"], said["status"], said["reason"]) == ("Ready", "False", "Permanent")


async def test_an_error_raised_during_cancellation_sets_no_condition(scene: Scene) -> None:
    looks: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        looks.append(obj.name)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("not now") from None
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1, condition="Ready")
    async with operating(scene, controller):
        await scene.until(lambda: looks)

    assert conditions(await scene.server.get(Widget, looks[0], namespace=HERE)) == []


async def ups_and_downs(cluster: Cluster) -> None:
    for size in (30, 3, 40):
        await cluster.apply(widget(size=size))
        await cluster.settle()


async def test_the_condition_is_written_wherever_the_operator_crashes() -> None:
    await survives_crashes(
        Scenario(operator=lambda: [CONTROLLER], kinds=[Widget], steps=ups_and_downs)
    )
