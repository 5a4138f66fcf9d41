"""Mistakes of an operator are logged, counted and shown on the object; and it recovers."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

import steersman as sm
from steersman.client import Client, MergePatch
from steersman.clock import SystemClock
from steersman.errors import BadOutcome, Forbidden, Invalid, NotOurs
from steersman.kinds import CustomResource, Part, coordination_v1, core_v1, meta_v1, rbac_v1
from steersman.kinds.apiextensions_v1 import (
    CustomResourceDefinition,
    CustomResourceSubresources,
)
from steersman.observe import (
    LeaderChanged,
    LeadershipGained,
    ReconcileFinished,
    StageReached,
    TriggerFailed,
    WatchFailed,
)
from steersman.units import MicroTime
from steersman_cluster.testing import ControlPlane
from tests.real.definitions import GROUP, Widget, definition, install, of_type, version, widget
from tests.real.objects import config_map
from tests.real.operators import Operator, running_operator, wait_for_event
from tests.real.rights import GROUP as RBAC
from tests.real.rights import new_account

ConfigMap = core_v1.ConfigMap

pytestmark = pytest.mark.usefixtures("widgets")


async def make_config_map(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    meta = meta_v1.ObjectMeta(name=f"of-{obj.name}")
    await ctx.apply_owned(ConfigMap(metadata=meta, data={"size": str(obj.spec.size)}))
    return sm.Done()


def owning(**rest: Any) -> sm.Controller[Widget]:
    return sm.Controller(Widget, reconcile=make_config_map, owns=(ConfigMap,), **rest)


def first_error(operator: Operator) -> Exception | None:
    return next(each.error for each in operator.of(ReconcileFinished) if each.error)


def errors_counted(operator: Operator, controller: str = "widget") -> float:
    return operator.metric_value("controller_runtime_reconcile_errors_total", controller=controller)


async def test_a_reconcile_that_returns_the_wrong_thing(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> Any:
        return sm.Done() if obj.spec.color else {"requeue": True}

    await client.create(widget(namespace, "web"))

    async with running_operator(
        control_plane, namespace, sm.Controller(Widget, reconcile=reconcile)
    ) as operator:
        await operator.wait_for_reconcile("web", "failed")
        event = await wait_for_event(client, namespace, "web", "BadOutcome")
        patch = MergePatch({"spec": {"color": "red"}})
        await client.patch(Widget, "web", patch, namespace=namespace)
        await operator.wait_for_reconcile("web", "done")

    error = first_error(operator)
    assert isinstance(error, BadOutcome)
    assert f"for Widget {namespace}/web. Return sm.Done()" in str(error)
    assert (event.type, event.note) == ("Warning", str(error))
    assert errors_counted(operator) >= 1


async def test_a_mapping_that_raises(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    is_broken = True
    read: list[str | None] = []

    def users(obj: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[Widget]:
        if is_broken and obj.name == "settings":
            raise KeyError("password=hunter2")
        return cached.list(Widget)

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        found = ctx.get(ConfigMap, "settings")
        read.append((found.data or {}).get("key") if found else None)
        return sm.Done()

    controller = sm.Controller(
        Widget, reconcile=reconcile, watches=(sm.Watch(ConfigMap, to=users),)
    )
    await client.create(widget(namespace, "web"))
    async with running_operator(control_plane, namespace, controller) as operator:
        await operator.wait_for_reconcile("web")
        await operator.wait_until_quiet()
        await client.create(config_map(namespace, "settings", key="value"))
        failed = await operator.seen.first(TriggerFailed)
        event = await wait_for_event(client, namespace, "settings", "MappingFailed")
        assert "value" not in read
        # No client changes the ConfigMap again.
        is_broken = False
        await operator.until(lambda: "value" in read)

    assert (failed.role, str(failed.ref)) == ("mapping", f"ConfigMap {namespace}/settings")
    assert "users" in failed.function
    assert event.type == "Warning"
    assert "hunter2" not in str(event.note)
    assert operator.metric_value(
        "steersman_controller_trigger_failures_total", controller="widget", role="mapping"
    ) == len(operator.of(TriggerFailed))


async def test_a_child_that_another_object_owns(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    other = await client.create(config_map(namespace, "other"))
    other_owner = meta_v1.OwnerReference(
        api_version="v1", kind="ConfigMap", name="other", uid=other.uid, controller=True
    )
    meta = meta_v1.ObjectMeta(name="of-web", namespace=namespace, owner_references=(other_owner,))
    await client.create(ConfigMap(metadata=meta, data={"size": "7"}))
    await client.create(widget(namespace, "web"))

    async with running_operator(control_plane, namespace, owning()) as operator:
        await operator.wait_for_reconcile("web", "failed")
        event = await wait_for_event(client, namespace, "web", "NotOurs")
        kept = await client.get(ConfigMap, "of-web", namespace=namespace)
        await client.delete(ConfigMap, "of-web", namespace=namespace)
        await operator.wait_for_reconcile("web", "done")

    error = first_error(operator)
    assert isinstance(error, NotOurs)
    assert f"is controlled by ConfigMap {namespace}/other" in str(error)
    assert (event.type, event.note) == ("Warning", str(error))
    assert kept.data == {"size": "7"}
    created = await client.get(ConfigMap, "of-web", namespace=namespace)
    assert created.data == {"size": "1"}
    assert errors_counted(operator) >= 1


class GadgetStatus(Part):
    """The status of a Gadget."""

    phase: str | None = None


class Gadget(CustomResource[Part, GadgetStatus], group=GROUP, version="v1"):
    """A kind whose definition changes."""


def gadgets(*phases: str) -> CustomResourceDefinition:
    """The definition of Gadgets with these phases."""
    status = of_type("object", properties={"phase": of_type("string", enum=phases)})
    return definition(
        "Gadget",
        "gadgets",
        version(
            spec=of_type("object"),
            status=status,
            subresources=CustomResourceSubresources(status={}),
        ),
    )


@pytest.fixture
async def strict_gadgets(client: Client) -> AsyncIterator[None]:
    """Define Gadgets whose only phase is Pending."""
    await install(client, gadgets("Pending"))
    yield
    await client.delete(CustomResourceDefinition, f"gadgets.{GROUP}")


async def test_a_status_that_the_schema_rejects(
    client: Client, control_plane: ControlPlane, namespace: str, strict_gadgets: None
) -> None:
    async def reconcile(obj: Gadget, ctx: sm.Context) -> sm.Outcome:
        await ctx.apply_status(obj, GadgetStatus(phase="Running"))
        return sm.Done()

    meta = meta_v1.ObjectMeta(name="web", namespace=namespace)
    await client.create(Gadget(metadata=meta, spec=Part()))

    async with running_operator(
        control_plane, namespace, sm.Controller(Gadget, reconcile=reconcile)
    ) as operator:
        await operator.wait_for_reconcile("web", "failed")
        event = await wait_for_event(client, namespace, "web", "Invalid")
        await install(client, gadgets("Pending", "Running"))
        await operator.wait_for_reconcile("web", "done")

    error = first_error(operator)
    assert isinstance(error, Invalid)
    assert "status.phase" in str(error)
    assert (event.type, event.note) == ("Warning", str(error))
    now = await client.get(Gadget, "web", namespace=namespace)
    assert now.status == GadgetStatus(phase="Running")
    assert errors_counted(operator, "gadget") >= 1


def rule(*verbs: str, of: str, group: str = "") -> rbac_v1.PolicyRule:
    return rbac_v1.PolicyRule(api_groups=(group,), resources=(of,), verbs=verbs)


async def grant(client: Client, namespace: str, *rules: rbac_v1.PolicyRule) -> None:
    """Grant exactly these rules to the account ``operator`` in its namespace."""
    meta = meta_v1.ObjectMeta(name="operator", namespace=namespace)
    await client.apply(rbac_v1.Role(metadata=meta, rules=rules), field_manager="test")
    subject = rbac_v1.Subject(kind="ServiceAccount", name="operator", namespace=namespace)
    ref = rbac_v1.RoleRef(api_group=RBAC, kind="Role", name="operator")
    binding = rbac_v1.RoleBinding(metadata=meta, role_ref=ref, subjects=(subject,))
    await client.apply(binding, field_manager="test")


async def test_a_permission_that_is_missing_during_reconcile(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    token = await new_account(client, namespace, "operator")
    reads = (
        rule("get", "list", "watch", of="configmaps"),
        rule("get", "list", "watch", of="widgets", group=GROUP),
        rule("create", "patch", of="events", group="events.k8s.io"),
    )
    await grant(client, namespace, *reads)
    await client.create(widget(namespace, "web"))

    async with running_operator(control_plane, namespace, owning(), token=token) as operator:
        await operator.wait_for_reconcile("web", "failed")
        event = await wait_for_event(client, namespace, "web", "Forbidden")
        writes = rule("create", "patch", of="configmaps")
        await grant(client, namespace, *reads, writes)
        await operator.wait_for_reconcile("web", "done")

    error = first_error(operator)
    assert isinstance(error, Forbidden)
    assert "configmaps" in str(error)
    assert (event.type, event.note) == ("Warning", str(error))
    assert errors_counted(operator) >= 1
    await client.get(ConfigMap, "of-web", namespace=namespace)


def watch_failures(operator: Operator, resource: str) -> list[WatchFailed]:
    return [each for each in operator.of(WatchFailed) if each.resource == resource]


async def test_a_kind_that_is_forbidden_until_permission_is_granted(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    token = await new_account(client, namespace, "operator")
    rest = (
        rule("get", "list", "watch", of="widgets", group=GROUP),
        rule("create", "patch", of="events", group="events.k8s.io"),
    )
    await grant(client, namespace, *rest)
    await client.create(widget(namespace, "web"))

    async with running_operator(control_plane, namespace, owning(), token=token) as operator:
        # kube-apiserver's RBAC cache is updated with a delay: the first failure may be another one.
        await operator.until(lambda: watch_failures(operator, "configmaps"))
        stages = [each.stage for each in operator.of(StageReached)]
        children = rule("get", "list", "watch", "create", "patch", of="configmaps")
        await grant(client, namespace, *rest, children)
        await operator.wait_for_reconcile("web", "done")

    assert isinstance(watch_failures(operator, "configmaps")[0].error, Forbidden)
    assert stages == ["permissions checked"]
    assert (
        operator.metric_value(
            "steersman_watch_failures_total", resource="configmaps", error="Forbidden"
        )
        >= 1
    )
    await client.get(ConfigMap, "of-web", namespace=namespace)


async def test_a_lease_held_by_a_dead_process(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    meta = meta_v1.ObjectMeta(name="operator", namespace=namespace)
    now = MicroTime.of(SystemClock().now())
    spec = coordination_v1.LeaseSpec(
        holder_identity="dead_1", lease_duration_seconds=2, acquire_time=now, renew_time=now
    )
    await client.create(coordination_v1.Lease(metadata=meta, spec=spec))
    await client.create(widget(namespace, "web"))

    async with running_operator(
        control_plane,
        namespace,
        owning(),
        leader_election=True,
        lease_name="operator",
        lease_seconds=2,
        renew_seconds=1.5,
        retry_seconds=0.2,
    ) as operator:
        seen = await operator.seen.first(LeaderChanged)
        stages = [each.stage for each in operator.of(StageReached)]
        gained = await operator.seen.first(LeadershipGained)
        await operator.wait_for_reconcile("web", "done")
        leads = operator.metric_value("leader_election_master_status", name="operator")

    assert seen.holder == "dead_1"
    assert "running" not in stages
    assert gained.waited_seconds > 1.5
    assert leads == 1
    assert operator.metric_value("steersman_manager_leader_changes_total", name="operator") >= 1
