"""Two controllers of one kind do not change each other's fields, status and finalizers."""

import asyncio

import pytest

import steersman as sm
from steersman.client import Client, MergePatch, wait_until_gone
from steersman.kinds import core_v1, meta_v1
from steersman.observe import FieldConflictFound, HotLoop, ReconcileFinished
from steersman_cluster.testing import ControlPlane
from tests.real.definitions import Widget, WidgetStatus, widget
from tests.real.operators import Operator, running_operator, wait_for_object

ConfigMap = core_v1.ConfigMap

pytestmark = pytest.mark.usefixtures("widgets")


class WidgetController:
    """A controller that applies fields of a shared ConfigMap, a status condition and a child."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.may_finalize = asyncio.Event()
        self.data = {name: "1"}

    async def reconcile(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        meta = meta_v1.ObjectMeta(name="shared", namespace=obj.namespace, labels=self.data)
        await ctx.apply(ConfigMap(metadata=meta, data=self.data))
        meta = meta_v1.ObjectMeta(name=f"{self.name}-{obj.name}")
        await ctx.apply_owned(ConfigMap(metadata=meta, data={"size": str(obj.spec.size)}))
        seen = sm.Condition.when(True, f"Reconciled-{self.name}", yes="Done", no="NotYet")
        ready = obj.spec.size if self.name == "left" else None
        await ctx.apply_status(obj, WidgetStatus(ready=ready).with_condition(seen))
        return sm.Done()

    async def finalize(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done() if self.may_finalize.is_set() else sm.Later(after_seconds=0.1)

    @property
    def controller(self) -> sm.Controller[Widget]:
        return sm.Controller(
            Widget,
            reconcile=self.reconcile,
            finalize=self.finalize,
            owns=(ConfigMap,),
            name=self.name,
        )


def have_both_reconciled(operator: Operator, *, after: int = 0) -> bool:
    done = {each.controller for each in operator.of(ReconcileFinished)[after:] if not each.error}
    return done == {"left", "right"}


def parts(obj: Widget) -> tuple[int | None, set[str]]:
    """The number of ready replicas, and the types of the conditions."""
    assert obj.status is not None
    return obj.status.ready, {each.type for each in obj.status.conditions or ()}


async def test_each_controller_writes_only_its_own_fields_status_and_children(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    left, right = WidgetController("left"), WidgetController("right")
    await client.create(widget(namespace, "web", size=3))

    async with running_operator(
        control_plane, namespace, left.controller, right.controller
    ) as operator:
        await operator.until(lambda: have_both_reconciled(operator))
        await operator.wait_until_quiet()
        shared = await client.get(ConfigMap, "shared", namespace=namespace)
        web = await client.get(Widget, "web", namespace=namespace)
        writes = len(operator.writes)
        await client.patch(Widget, "web", MergePatch({"spec": {"size": 5}}), namespace=namespace)
        await wait_for_object(
            client, Widget, "web", lambda obj: parts(obj)[0] == 5, namespace=namespace
        )
        await operator.wait_until_quiet()
        now = await client.get(Widget, "web", namespace=namespace)
        left.may_finalize.set()
        right.may_finalize.set()

    assert shared.data == shared.labels == {"left": "1", "right": "1"}
    assert parts(web) == (3, {"Reconciled-left", "Reconciled-right"})
    assert set(web.metadata.finalizers or ()) == {"toys.example.com/left", "toys.example.com/right"}
    assert parts(now) == (5, {"Reconciled-left", "Reconciled-right"})
    # Each controller writes its child; the left one also writes the status.
    assert len(operator.writes) - writes == 3
    for name in ("left-web", "right-web"):
        child = await client.get(ConfigMap, name, namespace=namespace)
        assert child.data == {"size": "5"}
    assert operator.of(FieldConflictFound) == []
    assert operator.of(HotLoop) == []


async def test_a_field_that_one_controller_gives_up_is_removed_and_the_others_stay(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    left, right = WidgetController("left"), WidgetController("right")
    await client.create(widget(namespace, "web"))

    async with running_operator(
        control_plane, namespace, left.controller, right.controller
    ) as operator:
        await operator.until(lambda: have_both_reconciled(operator))
        left.data = {"other": "2"}
        await client.patch(Widget, "web", MergePatch({"spec": {"size": 5}}), namespace=namespace)
        shared = await wait_for_object(
            client,
            ConfigMap,
            "shared",
            lambda obj: "other" in (obj.data or {}),
            namespace=namespace,
        )
        left.may_finalize.set()
        right.may_finalize.set()

    assert shared.data == shared.labels == {"other": "2", "right": "1"}


async def test_the_object_is_removed_after_both_controllers_have_cleaned_up(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    left, right = WidgetController("left"), WidgetController("right")
    await client.create(widget(namespace, "web"))

    async with running_operator(
        control_plane, namespace, left.controller, right.controller
    ) as operator:
        await operator.until(lambda: have_both_reconciled(operator))
        await client.delete(Widget, "web", namespace=namespace)
        left.may_finalize.set()
        held = await wait_for_object(
            client,
            Widget,
            "web",
            lambda obj: len(obj.metadata.finalizers or ()) == 1,
            namespace=namespace,
        )
        reconciles = operator.reconcile_count
        await operator.until(lambda: operator.reconcile_count > reconciles + 2)
        still = await client.get(Widget, "web", namespace=namespace)
        right.may_finalize.set()
        await wait_until_gone(client, Widget, "web", namespace=namespace, within_seconds=20.0)

    assert held.metadata.finalizers == still.metadata.finalizers == ("toys.example.com/right",)
