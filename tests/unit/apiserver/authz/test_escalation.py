"""Prevention of privilege escalation. tests/real compares it with kube-apiserver."""

from typing import Any

import pytest

from steersman_cluster.apiserver.authz import Attributes, Authorizer, Escalation
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.authn.stored_objects import GROUP, StoredObjects, rule, user

JANE = User(name="jane", groups=("devs", "ops"))
ADMIN = User(name="admin", groups=("system:masters",))
GET_PODS, ALL_SECRETS = rule("get", "pods"), rule("get,list", "secrets,pods/log")


def written(kind: str = "roles", *, name: str = "") -> Attributes:
    namespace = "" if kind.startswith("cluster") else "here"
    return Attributes(verb="create", group=GROUP, resource=kind, namespace=namespace, name=name)


def role(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "new"}, "rules": list(rules), **more}


def binding(name: str, *, kind: str = "ClusterRole") -> dict[str, Any]:
    ref = {"apiGroup": GROUP, "kind": kind, "name": name}
    return {"metadata": {"name": "new"}, "roleRef": ref, "subjects": [user("kim")]}


@pytest.fixture
def stored() -> StoredObjects:
    """Jane may get pods."""
    stored = StoredObjects()
    stored.role("reader", GET_PODS)
    stored.bind("reader", user("jane"))
    stored.role("secrets", ALL_SECRETS)
    return stored


def check(
    stored: StoredObjects, wanted: Attributes, obj: Any, old: Any = None, *, by: User = JANE
) -> None:
    Escalation(Authorizer(stored.store)).check(by, wanted, obj, old)


def test_a_user_cannot_grant_permissions_that_the_user_lacks(stored: StoredObjects) -> None:
    check(stored, written(), role(GET_PODS))
    check(stored, written("rolebindings"), binding("reader"))

    for wanted, obj in (
        (written(), role(GET_PODS, ALL_SECRETS)),
        (written("rolebindings"), binding("secrets")),
    ):
        with pytest.raises(StatusError) as raised:
            check(stored, wanted, obj)
        assert raised.value.message == (
            f'{wanted.resource}.{GROUP} "new" is forbidden: user "jane" (groups=["devs" "ops"]) is'
            " attempting to grant RBAC permissions not currently held:\n"
            '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}\n'
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
        )


def test_an_administrator_can_grant_any_permission(stored: StoredObjects) -> None:
    check(stored, written(), role(ALL_SECRETS), by=ADMIN)


def test_the_verbs_escalate_and_bind_permit_roles_beyond_the_users_own(
    stored: StoredObjects,
) -> None:
    stored.role("maker", rule("escalate", "roles", groups=GROUP))
    stored.role(
        "binder", {**rule("bind", "clusterroles", groups=GROUP), "resourceNames": ["secrets"]}
    )
    for name in ("maker", "binder"):
        stored.bind(name, user("jane"), namespace="here")

    check(stored, written(), role(ALL_SECRETS))
    check(stored, written("rolebindings"), binding("secrets"))
    with pytest.raises(StatusError):
        check(stored, written("clusterroles"), role(ALL_SECRETS))
    with pytest.raises(StatusError):
        check(stored, written("clusterrolebindings"), binding("secrets"))


def test_a_wildcard_covers_each_resource_and_a_resource_name_only_itself(
    stored: StoredObjects,
) -> None:
    named = {**rule("get", "configmaps"), "resourceNames": ["one"]}
    stored.role("more", rule("*", "*/scale", groups="*"), named)
    stored.bind("more", user("jane"))

    check(stored, written(), role(rule("update", "deployments/scale", groups="apps"), named))
    for too_much in (
        rule("get", "configmaps"),
        {**named, "resourceNames": ["two"]},
        rule("*", "pods"),
    ):
        with pytest.raises(StatusError):
            check(stored, written(), role(too_much))


def test_a_user_cannot_grant_paths_that_the_user_lacks(stored: StoredObjects) -> None:
    stored.role("paths", {"verbs": ["get"], "nonResourceURLs": ["/a/*"]})
    stored.bind("paths", user("jane"))

    check(stored, written("clusterroles"), role({"verbs": ["get"], "nonResourceURLs": ["/a/b"]}))
    with pytest.raises(StatusError) as raised:
        check(stored, written("clusterroles"), role({"verbs": ["get"], "nonResourceURLs": ["/b"]}))

    assert raised.value.message.endswith('{NonResourceURLs:["/b"], Verbs:["get"]}')


def test_a_missing_role_cannot_be_bound(stored: StoredObjects) -> None:
    with pytest.raises(StatusError) as raised:
        check(stored, written("rolebindings"), binding("gone", kind="Role"))

    assert (raised.value.code, raised.value.message) == (
        404,
        f'rolebindings.{GROUP} "gone" not found',
    )


def test_a_rejection_names_the_missing_roles_of_the_user(stored: StoredObjects) -> None:
    stored.bind("gone", user("jane"))

    with pytest.raises(StatusError) as raised:
        check(stored, written(), role(ALL_SECRETS))

    # kube-apiserver names the requested resource here, not the missing ClusterRole.
    problem = f'roles.{GROUP} "gone" not found'
    assert raised.value.message.endswith(f"; resolution errors: [{problem}]")


def test_an_aggregation_rule_requires_cluster_admin_privileges(stored: StoredObjects) -> None:
    gathering = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}

    with pytest.raises(StatusError, match="403") as raised:
        check(stored, written("clusterroles"), role(GET_PODS, **gathering))

    assert raised.value.message.endswith(
        "must have cluster-admin privileges to use the aggregationRule"
    )


def test_any_user_can_remove_the_finalizers_of_a_role(stored: StoredObjects) -> None:
    old = role(ALL_SECRETS)
    old["metadata"]["finalizers"] = ["example.com/wait"]

    check(stored, written(name="new"), role(ALL_SECRETS), old)
