"""Privilege escalation; what the real server says is in tests/real."""

from typing import Any

import pytest

from steersman_cluster.apiserver.authz import Attributes, Authorizer, Escalation
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.authn.kept import GROUP, Kept, rule, user

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
def kept() -> Kept:
    """Jane may get pods."""
    kept = Kept()
    kept.role("reader", GET_PODS)
    kept.bind("reader", user("jane"))
    kept.role("secrets", ALL_SECRETS)
    return kept


def check(kept: Kept, wanted: Attributes, obj: Any, old: Any = None, *, by: User = JANE) -> None:
    Escalation(Authorizer(kept.store)).check(by, wanted, obj, old)


def test_a_user_cannot_grant_rights_that_they_do_not_have(kept: Kept) -> None:
    check(kept, written(), role(GET_PODS))
    check(kept, written("rolebindings"), binding("reader"))

    for wanted, obj in (
        (written(), role(GET_PODS, ALL_SECRETS)),
        (written("rolebindings"), binding("secrets")),
    ):
        with pytest.raises(StatusError) as refusal:
            check(kept, wanted, obj)
        assert refusal.value.message == (
            f'{wanted.resource}.{GROUP} "new" is forbidden: user "jane" (groups=["devs" "ops"]) is'
            " attempting to grant RBAC permissions not currently held:\n"
            '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}\n'
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
        )


def test_administrators_grant_anything(kept: Kept) -> None:
    check(kept, written(), role(ALL_SECRETS), by=ADMIN)


def test_some_may_write_and_bind_roles_beyond_their_own(kept: Kept) -> None:
    kept.role("maker", rule("escalate", "roles", groups=GROUP))
    kept.role(
        "binder", {**rule("bind", "clusterroles", groups=GROUP), "resourceNames": ["secrets"]}
    )
    for name in ("maker", "binder"):
        kept.bind(name, user("jane"), namespace="here")

    check(kept, written(), role(ALL_SECRETS))
    check(kept, written("rolebindings"), binding("secrets"))
    with pytest.raises(StatusError):
        check(kept, written("clusterroles"), role(ALL_SECRETS))
    with pytest.raises(StatusError):
        check(kept, written("clusterrolebindings"), binding("secrets"))


def test_a_right_to_everything_covers_each_thing_and_a_named_one_only_itself(kept: Kept) -> None:
    named = {**rule("get", "configmaps"), "resourceNames": ["one"]}
    kept.role("more", rule("*", "*/scale", groups="*"), named)
    kept.bind("more", user("jane"))

    check(kept, written(), role(rule("update", "deployments/scale", groups="apps"), named))
    for too_much in (
        rule("get", "configmaps"),
        {**named, "resourceNames": ["two"]},
        rule("*", "pods"),
    ):
        with pytest.raises(StatusError):
            check(kept, written(), role(too_much))


def test_paths_are_rights_like_others(kept: Kept) -> None:
    kept.role("paths", {"verbs": ["get"], "nonResourceURLs": ["/a/*"]})
    kept.bind("paths", user("jane"))

    check(kept, written("clusterroles"), role({"verbs": ["get"], "nonResourceURLs": ["/a/b"]}))
    with pytest.raises(StatusError) as refusal:
        check(kept, written("clusterroles"), role({"verbs": ["get"], "nonResourceURLs": ["/b"]}))

    assert refusal.value.message.endswith('{NonResourceURLs:["/b"], Verbs:["get"]}')


def test_a_role_that_is_not_there_cannot_be_bound(kept: Kept) -> None:
    with pytest.raises(StatusError) as refusal:
        check(kept, written("rolebindings"), binding("gone", kind="Role"))

    assert (refusal.value.code, refusal.value.message) == (
        404,
        f'rolebindings.{GROUP} "gone" not found',
    )


def test_what_is_missing_may_be_in_a_role_that_is_not_there(kept: Kept) -> None:
    kept.bind("gone", user("jane"))

    with pytest.raises(StatusError) as refusal:
        check(kept, written(), role(ALL_SECRETS))

    # The server takes what it reads on the way for what was asked for.
    problem = f'roles.{GROUP} "gone" not found'
    assert refusal.value.message.endswith(f"; resolution errors: [{problem}]")


def test_what_gathers_other_roles_takes_every_right(kept: Kept) -> None:
    gathering = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}

    with pytest.raises(StatusError, match="403") as refusal:
        check(kept, written("clusterroles"), role(GET_PODS, **gathering))

    assert refusal.value.message.endswith(
        "must have cluster-admin privileges to use the aggregationRule"
    )


def test_a_role_loses_its_finalizers_by_any_user(kept: Kept) -> None:
    old = role(ALL_SECRETS)
    old["metadata"]["finalizers"] = ["example.com/wait"]

    check(kept, written(name="new"), role(ALL_SECRETS), old)
