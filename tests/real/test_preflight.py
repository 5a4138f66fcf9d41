"""Generated roles are sufficient, and the preflight reports a removed permission."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import yaml

from steersman.client import Client
from steersman.clock import SystemClock
from steersman.controller import Context, Controller, Outcome, Watch
from steersman.controller.rbac import RbacRule, permissions, policy_rules, rules_by_namespace
from steersman.kinds import apps_v1, core_v1, meta_v1, rbac_v1
from steersman.manager.preflight import missing_permissions
from steersman.observe import PermissionMissing, ignore
from steersman_cluster.testing import RealControlPlane
from tests.real.clients import connected
from tests.real.recording_observer import RecordingObserver
from tests.real.rights import GROUP, new_account


async def reconcile(obj: Any, ctx: Context) -> Outcome:
    raise NotImplementedError


CONTROLLER = Controller(
    core_v1.Service,
    reconcile=reconcile,
    finalize=reconcile,
    owns=(apps_v1.Deployment,),
    watches=(Watch(core_v1.ConfigMap),),
    reads=(core_v1.Secret,),
    writes=(core_v1.Namespace,),
)


def required_rules(namespace: str, *namespaces: str) -> tuple[RbacRule, ...]:
    return permissions([CONTROLLER], lease=(namespace, "operator"), namespaces=namespaces)


@asynccontextmanager
async def operator_with(
    client: Client, control_plane: RealControlPlane, home: str, rules: Sequence[RbacRule]
) -> AsyncIterator[Client]:
    """A client of an account with exactly these permissions."""
    token = await new_account(client, home, "operator")
    subject = rbac_v1.Subject(kind="ServiceAccount", name="operator", namespace=home)
    name = f"operator-of-{home}"
    for place, of_place in rules_by_namespace(rules).items():
        granted = policy_rules(of_place)
        meta = meta_v1.ObjectMeta(name=name, namespace=place)
        if place is None:
            await client.create(rbac_v1.ClusterRole(metadata=meta, rules=granted))
            ref = rbac_v1.RoleRef(api_group=GROUP, kind="ClusterRole", name=name)
            await client.create(
                rbac_v1.ClusterRoleBinding(metadata=meta, role_ref=ref, subjects=(subject,))
            )
        else:
            await client.create(rbac_v1.Role(metadata=meta, rules=granted))
            ref = rbac_v1.RoleRef(api_group=GROUP, kind="Role", name=name)
            await client.create(
                rbac_v1.RoleBinding(metadata=meta, role_ref=ref, subjects=(subject,))
            )
    async with connected(control_plane, observe=ignore, token=token) as operator:
        yield operator
    if None in rules_by_namespace(rules):
        await client.delete(rbac_v1.ClusterRoleBinding, name)
        await client.delete(rbac_v1.ClusterRole, name)


async def missing_after_update(
    operator: Client, rules: Sequence[RbacRule], seen: RecordingObserver, *, number: int
) -> tuple[RbacRule, ...]:
    """The missing permissions, once kube-apiserver's RBAC cache has the roles."""
    clock = SystemClock()
    async with clock.timeout(30.0):
        while len(await missing_permissions(operator, rules, observe=ignore)) > number:
            await clock.sleep(0.05)
    return await missing_permissions(operator, rules, observe=seen)


async def test_a_cluster_role_with_the_declared_permissions_suffices(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    rules = required_rules(namespace)

    async with operator_with(client, control_plane, namespace, rules) as operator:
        assert await missing_after_update(operator, rules, seen, number=0) == ()

    assert seen.of(PermissionMissing) == []


async def test_roles_in_the_namespaces_suffice_for_an_operator_limited_to_them(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    rules = required_rules(namespace, namespace)

    async with operator_with(client, control_plane, namespace, rules) as operator:
        assert await missing_after_update(operator, rules, seen, number=0) == ()
        everywhere = await missing_after_update(
            operator, required_rules(namespace), seen, number=100
        )

    assert {rule.resource for rule in everywhere if rule.is_needed} == {
        "configmaps",
        "deployments",
        "secrets",
        "services",
    }


async def test_a_missing_permission_is_named_with_the_rule_that_grants_it(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    rules = required_rules(namespace, namespace)
    (removed,) = (rule for rule in rules if rule.resource == "deployments")
    remaining = [rule for rule in rules if rule is not removed]

    async with operator_with(client, control_plane, namespace, remaining) as operator:
        assert await missing_after_update(operator, rules, seen, number=1) == (removed,)
        (missing,) = seen.of(PermissionMissing)
        (reported,) = yaml.safe_load(missing.rule)
        name = f"operator-of-{namespace}"
        role = await client.get(rbac_v1.Role, name, namespace=namespace)
        granted = rbac_v1.PolicyRule(
            api_groups=tuple(reported["apiGroups"]),
            resources=tuple(reported["resources"]),
            verbs=tuple(reported["verbs"]),
        )
        complete = rbac_v1.Role(
            metadata=meta_v1.ObjectMeta(name=name, namespace=namespace),
            rules=(*(role.rules or ()), granted),
        )
        await client.apply(complete, field_manager="test", force=True)
        assert await missing_after_update(operator, rules, seen, number=0) == ()

    assert missing.what == (
        "get, list, watch, create, patch deployments.apps in namespace " + namespace
    )


async def test_an_account_without_permissions_lacks_all_declared_ones(
    client: Client, control_plane: RealControlPlane, namespace: str, seen: RecordingObserver
) -> None:
    rules = required_rules(namespace)

    async with operator_with(client, control_plane, namespace, ()) as operator:
        assert await missing_permissions(operator, rules, observe=seen) == rules

    assert len(seen.of(PermissionMissing)) == len(rules)
