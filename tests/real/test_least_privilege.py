"""An operator works with exactly the permissions that its controllers declare."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

import steersman as sm
from steersman.client import Client, MergePatch, find_config, open_transport
from steersman.client.access.cluster_config import Token
from steersman.clock import SystemClock
from steersman.controller import Watch
from steersman.controller.rbac import RbacRule, permissions, policy_rules, rules_by_namespace
from steersman.errors import NotFound
from steersman.kinds import Resource, core_v1, events_v1, meta_v1, rbac_v1
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings
from steersman.observe import EventNotRecorded, PermissionMissing, RequestFinished, StageReached
from steersman_cluster.testing import RealControlPlane
from tests.real.definitions import Widget, WidgetStatus, widget
from tests.real.recording_observer import RecordingObserver
from tests.real.rights import GROUP, new_account

LEASE = "least-privilege"


async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    """Call every method of the context that sends a request."""
    meta = meta_v1.ObjectMeta(name=f"first-{obj.name}")
    if obj.spec.size == 1:
        await ctx.apply_owned(core_v1.ConfigMap(metadata=meta))
    await ctx.apply_owned(
        core_v1.ConfigMap(
            metadata=meta_v1.ObjectMeta(name=f"second-{obj.name}"),
            data={"size": str(obj.spec.size)},
        )
    )
    await ctx.prune()
    await ctx.apply(service_of(obj))
    own = await ctx.live.get(core_v1.ServiceAccount, "operator")
    size = {"example.com/size": str(obj.spec.size)}
    await ctx.patch(own, MergePatch({"metadata": {"annotations": size}}))
    await ctx.apply(account_of(obj, annotations=size))
    await ctx.live.list(core_v1.ServiceAccount)
    await ctx.live.list(core_v1.ConfigMap)
    assert ctx.list(core_v1.Secret) == []
    ctx.record("Made", f"size {obj.spec.size}")
    await ctx.apply_status(obj, WidgetStatus(ready=obj.spec.size))
    return sm.Done()


async def finalize(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    """Delete the Service, which has no owner reference."""
    await ctx.delete(service_of(obj))
    return sm.Done()


def account_of(obj: Widget, **metadata: Any) -> core_v1.ServiceAccount:
    return core_v1.ServiceAccount(
        metadata=meta_v1.ObjectMeta(name="helper", namespace=obj.namespace, **metadata)
    )


def service_of(obj: Widget) -> core_v1.Service:
    return core_v1.Service(
        metadata=meta_v1.ObjectMeta(name=f"of-{obj.name}", namespace=obj.namespace),
        spec=core_v1.ServiceSpec(ports=(core_v1.ServicePort(port=80),)),
    )


CONTROLLER = sm.Controller(
    Widget,
    reconcile=reconcile,
    finalize=finalize,
    owns=(sm.Owns(core_v1.ConfigMap, verbs=("create", "patch", "delete")),),
    watches=(Watch(core_v1.Secret),),
    reads=(core_v1.ServiceAccount,),
    writes=(
        sm.Writes(core_v1.Service, verbs=("create", "patch", "delete")),
        sm.Writes(core_v1.ServiceAccount, verbs=("patch",), names=("operator",)),
        sm.Writes(core_v1.ServiceAccount, names=("helper",)),
    ),
)


async def grant(client: Client, home: str, rules: tuple[RbacRule, ...]) -> None:
    """Grant exactly these permissions to the account ``operator``."""
    subject = rbac_v1.Subject(kind="ServiceAccount", name="operator", namespace=home)
    name = f"least-{home}"
    for place, of_place in rules_by_namespace(rules).items():
        meta = meta_v1.ObjectMeta(name=name, namespace=place)
        granted = policy_rules(of_place)
        role, binding = (
            (rbac_v1.ClusterRole, rbac_v1.ClusterRoleBinding)
            if place is None
            else (rbac_v1.Role, rbac_v1.RoleBinding)
        )
        ref = rbac_v1.RoleRef(api_group=GROUP, kind=role.__name__, name=name)
        await client.create(role(metadata=meta, rules=granted))
        await client.create(binding(metadata=meta, role_ref=ref, subjects=(subject,)))


async def revoke(client: Client, home: str) -> None:
    for kind in (rbac_v1.ClusterRoleBinding, rbac_v1.ClusterRole):
        with suppress(NotFound):  # no cluster role
            await client.delete(kind, f"least-{home}")


@asynccontextmanager
async def operating(
    control_plane: RealControlPlane,
    token: str,
    home: str,
    namespaces: tuple[str, ...],
    seen: RecordingObserver,
) -> AsyncIterator[None]:
    """Run the operator during the block."""
    clock = SystemClock()
    config = find_config(
        environ={}, home=control_plane.directory, kubeconfig=control_plane.kubeconfig, observe=seen
    )
    config = replace(config, login=Token(token=token))
    environment = ManagerEnvironment(
        connect=partial(open_transport, config, clock=clock, observe=seen),
        namespace=home,
        hostname="host",
        clock=clock,
        rng=Random(0),
        observe=seen,
    )
    settings = ManagerSettings(
        namespaces=namespaces, lease_name=LEASE, health_address="", metrics_address=""
    )
    stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    manager = Manager(controllers=[CONTROLLER])
    async with asyncio.TaskGroup() as group:
        group.create_task(manager.operate(environment, settings=settings, stop=stop))
        try:
            yield
        finally:
            if not stop.done():
                stop.set_result("the test is over")


async def get_if_exists(client: Client, kind: type[Resource], name: str, namespace: str) -> Any:
    try:
        return await client.get(kind, name, namespace=namespace)
    except NotFound:
        return None


async def until(condition: Any) -> None:
    clock = SystemClock()
    async with clock.timeout(20.0):
        while not await condition():
            await clock.sleep(0.02)


@pytest.mark.parametrize("is_limited", [True, False], ids=["in one namespace", "everywhere"])
@pytest.mark.usefixtures("widgets")
async def test_the_declared_permissions_suffice_for_everything_an_operator_does(
    client: Client, control_plane: RealControlPlane, namespace: str, *, is_limited: bool
) -> None:
    namespaces = (namespace,) if is_limited else ()
    seen = RecordingObserver()
    token = await new_account(client, namespace, "operator")
    rules = permissions([CONTROLLER], lease=(namespace, LEASE), namespaces=namespaces)
    await grant(client, namespace, rules)
    await client.create(widget(namespace, "web", size=1))

    async def is_ready(size: int) -> bool:
        web = await client.get(Widget, "web", namespace=namespace)
        return web.status is not None and web.status.ready == size

    async def is_gone() -> bool:
        return await get_if_exists(client, Widget, "web", namespace) is None

    async with operating(control_plane, token, namespace, namespaces, seen):
        await until(lambda: is_ready(1))
        assert await get_if_exists(client, core_v1.ConfigMap, "first-web", namespace) is not None
        assert await get_if_exists(client, core_v1.Service, "of-web", namespace) is not None
        await client.apply(widget(namespace, "web", size=2), field_manager="test", force=True)
        await until(lambda: is_ready(2))
        assert await get_if_exists(client, core_v1.ConfigMap, "first-web", namespace) is None
        for account in ("operator", "helper"):
            written = await client.get(core_v1.ServiceAccount, account, namespace=namespace)
            assert written.annotations["example.com/size"] == "2"
        await client.delete(Widget, "web", namespace=namespace)
        await until(is_gone)
        assert await get_if_exists(client, core_v1.Service, "of-web", namespace) is None
    await revoke(client, namespace)

    events = await client.list(events_v1.Event, namespace=namespace)
    assert {event.note for event in events.items} >= {"size 1", "size 2"}
    assert "running" in {each.stage for each in seen.of(StageReached)}
    forbidden = [each for each in seen.of(RequestFinished) if each.code == 403]
    assert forbidden == []
    assert seen.of(EventNotRecorded) == []


@pytest.mark.usefixtures("widgets")
async def test_an_operator_that_lacks_a_permission_continues_when_it_is_granted(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    seen = RecordingObserver()
    token = await new_account(client, namespace, "operator")
    rules = permissions([CONTROLLER], lease=(namespace, LEASE), namespaces=(namespace,))
    (lacking,) = (rule for rule in rules if rule.resource == "configmaps")
    await grant(client, namespace, tuple(rule for rule in rules if rule is not lacking))
    await client.create(widget(namespace, "web", size=1))

    async def is_created() -> bool:
        return await get_if_exists(client, core_v1.ConfigMap, "first-web", namespace) is not None

    async def is_reported() -> bool:
        return any("configmaps" in each.what for each in seen.of(PermissionMissing))

    async with operating(control_plane, token, namespace, (namespace,), seen):
        await until(is_reported)
        assert seen.of(StageReached) == []
        name = f"least-{namespace}"
        complete = rbac_v1.Role(
            metadata=meta_v1.ObjectMeta(name=name, namespace=namespace),
            rules=policy_rules(rules_by_namespace(rules)[namespace]),
        )
        await client.apply(complete, field_manager="test", force=True)
        await until(is_created)
        await client.delete(Widget, "web", namespace=namespace)
