"""Authorization by roles and bindings. tests/real compares it with kube-apiserver."""

import pytest

from steersman_cluster.apiserver.authz import Attributes, Authorizer, Decision, denied
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.authn.stored_objects import GROUP, StoredObjects, rule, user

JANE = User(name="jane", groups=("devs",))
GET_PODS = Attributes(verb="get", resource="pods", namespace="here")


@pytest.fixture
def stored() -> StoredObjects:
    return StoredObjects()


def test_a_changed_role_or_binding_applies_to_the_next_request(stored: StoredObjects) -> None:
    authorizer = Authorizer(stored.store)
    answers = [authorizer.decide(JANE, GET_PODS).allowed]

    stored.bind("reader", user("jane"))
    answers.append(authorizer.decide(JANE, GET_PODS).allowed)
    stored.role("reader", rule("get", "pods"))
    answers.append(authorizer.decide(JANE, GET_PODS).allowed)
    stored.role("reader", rule("list", "pods"))
    answers.append(authorizer.decide(JANE, GET_PODS).allowed)
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", user("kim"))
    answers.append(authorizer.decide(JANE, GET_PODS).allowed)

    assert answers == [False, False, True, False, False]


def test_system_masters_is_allowed_everything_without_a_reason(stored: StoredObjects) -> None:
    admin = User(name="x", groups=("system:masters",))

    assert Authorizer(stored.store).decide(admin, GET_PODS) == Decision(True)


def test_a_role_binding_grants_a_cluster_role_in_its_namespace_only(stored: StoredObjects) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", user("jane"), namespace="here")
    authorizer = Authorizer(stored.store)

    there = Attributes(verb="get", resource="pods", namespace="there")

    assert authorizer.decide(JANE, GET_PODS) == Decision(
        True,
        'RBAC: allowed by RoleBinding "reader/here" of ClusterRole "reader" to User "jane"',
    )
    assert authorizer.decide(JANE, there) == Decision(False)


def test_a_service_account_without_a_namespace_is_ignored(stored: StoredObjects) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", {"kind": "ServiceAccount", "name": "robot"})
    nowhere = User(name="system:serviceaccount::robot")

    assert not Authorizer(stored.store).decide(nowhere, GET_PODS).allowed


def test_the_namespace_of_a_service_account_defaults_to_that_of_the_binding(
    stored: StoredObjects,
) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", {"kind": "ServiceAccount", "name": "robot"}, namespace="here")
    robot = User(name="system:serviceaccount:here:robot")

    decision = Authorizer(stored.store).decide(robot, GET_PODS)

    assert decision.reason.endswith('to ServiceAccount "robot/here"')


def test_each_missing_role_is_reported_once(stored: StoredObjects) -> None:
    stored.bind("gone", user("jane"))
    stored.bind("gone", user("jane"), namespace="here")
    stored.bind("lost", user("jane"), namespace="here", kind="Role")

    decision = Authorizer(stored.store).decide(JANE, GET_PODS)

    assert decision == Decision(
        False, f'RBAC: [clusterrole.{GROUP} "gone" not found, role.{GROUP} "lost" not found]'
    )


def test_rules_are_listed_with_the_missing_roles(stored: StoredObjects) -> None:
    everywhere, here = rule("get", "pods"), rule("list", "secrets")
    stored.role("reader", everywhere)
    stored.bind("reader", {"kind": "Group", "name": "devs"})
    stored.role("secrets", here, namespace="here")
    stored.bind("secrets", user("jane"), namespace="here", kind="Role")
    stored.bind("gone", user("jane"))
    authorizer = Authorizer(stored.store)

    granted = authorizer.rules_for(JANE, "here")

    assert granted.rules == [everywhere, here]
    assert granted.problem == f'clusterrole.{GROUP} "gone" not found'
    assert authorizer.rules_for(JANE, "there").rules == [everywhere]


def test_the_caches_of_the_authorizer_are_bounded(stored: StoredObjects) -> None:
    authorizer = Authorizer(stored.store)

    for number in range(3000):
        authorizer.decide(User(name=f"user-{number}"), GET_PODS)

    remembered = [each for each in vars(authorizer).values() if isinstance(each, dict)]
    assert all(len(each) <= 1000 for each in remembered)


def test_a_rejection_escapes_html() -> None:
    odd = User(name="<b>&")

    rejection = denied(odd, Attributes(verb="get", path="/x"), why="RBAC: because")

    assert rejection.message == (
        'forbidden: User "&lt;b&gt;&amp;" cannot get path "/x": RBAC: because'
    )


def test_always_allow_mode_does_not_read_roles(stored: StoredObjects) -> None:
    authorizer = Authorizer(stored.store, modes=("AlwaysAllow",))

    assert authorizer.decide(JANE, GET_PODS) == Decision(True)
    assert authorizer.decide(JANE, Attributes(verb="get", path="/metrics")).allowed
    assert authorizer.rules_for(JANE, "here").rules[0]["verbs"] == ["*"]


def test_bindings_are_ignored_without_rbac_mode(stored: StoredObjects) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", user("jane"))

    assert not Authorizer(stored.store, modes=("Node",)).decide(JANE, GET_PODS).allowed


def test_node_mode_grants_the_role_system_node_to_nodes(stored: StoredObjects) -> None:
    stored.role("system:node", rule("get", "pods"))
    authorizer = Authorizer(stored.store, modes=("Node", "RBAC"))
    node = User(name="system:node:one", groups=("system:nodes",))

    assert authorizer.decide(node, GET_PODS).allowed
    assert not authorizer.decide(User(name="system:node:one"), GET_PODS).allowed
    assert not Authorizer(stored.store).decide(node, GET_PODS).allowed
