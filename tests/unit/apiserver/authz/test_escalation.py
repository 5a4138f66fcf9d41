"""Privilege escalation; what the real server says is in tests/real."""

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
        with pytest.raises(StatusError) as refusal:
            check(stored, wanted, obj)
        assert refusal.value.message == (
            f'{wanted.resource}.{GROUP} "new" is forbidden: user "jane" (groups=["devs" "ops"]) is'
            " attempting to grant RBAC permissions not currently held:\n"
            '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}\n'
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
        )


def test_administrators_grant_anything(stored: StoredObjects) -> None:
    check(stored, written(), role(ALL_SECRETS), by=ADMIN)


def test_some_may_write_and_bind_roles_beyond_their_own(stored: StoredObjects) -> None:
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


def test_a_right_to_everything_covers_each_thing_and_a_named_one_only_itself(
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


def test_paths_are_rights_like_others(stored: StoredObjects) -> None:
    stored.role("paths", {"verbs": ["get"], "nonResourceURLs": ["/a/*"]})
    stored.bind("paths", user("jane"))

    check(stored, written("clusterroles"), role({"verbs": ["get"], "nonResourceURLs": ["/a/b"]}))
    with pytest.raises(StatusError) as refusal:
        check(stored, written("clusterroles"), role({"verbs": ["get"], "nonResourceURLs": ["/b"]}))

    assert refusal.value.message.endswith('{NonResourceURLs:["/b"], Verbs:["get"]}')


def test_a_role_that_is_not_there_cannot_be_bound(stored: StoredObjects) -> None:
    with pytest.raises(StatusError) as refusal:
        check(stored, written("rolebindings"), binding("gone", kind="Role"))

    assert (refusal.value.code, refusal.value.message) == (
        404,
        f'rolebindings.{GROUP} "gone" not found',
    )


def test_what_is_missing_may_be_in_a_role_that_is_not_there(stored: StoredObjects) -> None:
    stored.bind("gone", user("jane"))

    with pytest.raises(StatusError) as refusal:
        check(stored, written(), role(ALL_SECRETS))

    # The server takes what it reads on the way for what was asked for.
    problem = f'roles.{GROUP} "gone" not found'
    assert refusal.value.message.endswith(f"; resolution errors: [{problem}]")


def test_what_gathers_other_roles_takes_every_right(stored: StoredObjects) -> None:
    gathering = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}

    with pytest.raises(StatusError, match="403") as refusal:
        check(stored, written("clusterroles"), role(GET_PODS, **gathering))

    assert refusal.value.message.endswith(
        "must have cluster-admin privileges to use the aggregationRule"
    )


def test_a_role_loses_its_finalizers_by_any_user(stored: StoredObjects) -> None:
    old = role(ALL_SECRETS)
    old["metadata"]["finalizers"] = ["example.com/wait"]

    check(stored, written(name="new"), role(ALL_SECRETS), old)
