"""Rights, as roles and bindings give them; what the real server says is in tests/real."""

import pytest

from steersman_cluster.apiserver.authz import Attributes, Authorizer, Decision, denied
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.authn.stored_objects import GROUP, StoredObjects, rule, user

JANE = User(name="jane", groups=("devs",))
GET_PODS = Attributes(verb="get", resource="pods", namespace="here")


@pytest.fixture
def stored() -> StoredObjects:
    return StoredObjects()


def test_a_changed_role_or_binding_counts_from_the_next_request_on(stored: StoredObjects) -> None:
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


def test_administrators_may_everything_for_no_reason_that_is_kept(stored: StoredObjects) -> None:
    admin = User(name="x", groups=("system:masters",))

    assert Authorizer(stored.store).decide(admin, GET_PODS) == Decision(True)


def test_a_binding_in_a_namespace_gives_a_clusters_role_there_only(stored: StoredObjects) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", user("jane"), namespace="here")
    authorizer = Authorizer(stored.store)

    there = Attributes(verb="get", resource="pods", namespace="there")

    assert authorizer.decide(JANE, GET_PODS) == Decision(
        True,
        'RBAC: allowed by RoleBinding "reader/here" of ClusterRole "reader" to User "jane"',
    )
    assert authorizer.decide(JANE, there) == Decision(False)


def test_an_account_of_no_namespace_is_no_account(stored: StoredObjects) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", {"kind": "ServiceAccount", "name": "robot"})
    nowhere = User(name="system:serviceaccount::robot")

    assert not Authorizer(stored.store).decide(nowhere, GET_PODS).allowed


def test_an_account_is_in_the_namespace_of_the_binding_unless_that_says_otherwise(
    stored: StoredObjects,
) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", {"kind": "ServiceAccount", "name": "robot"}, namespace="here")
    robot = User(name="system:serviceaccount:here:robot")

    decision = Authorizer(stored.store).decide(robot, GET_PODS)

    assert decision.reason.endswith('to ServiceAccount "robot/here"')


def test_roles_that_are_not_there_are_reported_once(stored: StoredObjects) -> None:
    stored.bind("gone", user("jane"))
    stored.bind("gone", user("jane"), namespace="here")
    stored.bind("lost", user("jane"), namespace="here", kind="Role")

    decision = Authorizer(stored.store).decide(JANE, GET_PODS)

    assert decision == Decision(
        False, f'RBAC: [clusterrole.{GROUP} "gone" not found, role.{GROUP} "lost" not found]'
    )


def test_what_is_granted_is_listed_with_what_is_missing(stored: StoredObjects) -> None:
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


def test_what_is_remembered_has_an_end(stored: StoredObjects) -> None:
    authorizer = Authorizer(stored.store)

    for number in range(3000):
        authorizer.decide(User(name=f"user-{number}"), GET_PODS)

    remembered = [each for each in vars(authorizer).values() if isinstance(each, dict)]
    assert all(len(each) <= 1000 for each in remembered)


def test_a_refusal_cannot_pass_for_a_page() -> None:
    odd = User(name="<b>&")

    refusal = denied(odd, Attributes(verb="get", path="/x"), why="RBAC: because")

    assert refusal.message == (
        'forbidden: User "&lt;b&gt;&amp;" cannot get path "/x": RBAC: because'
    )


def test_always_allow_needs_no_roles(stored: StoredObjects) -> None:
    authorizer = Authorizer(stored.store, modes=("AlwaysAllow",))

    assert authorizer.decide(JANE, GET_PODS) == Decision(True)
    assert authorizer.decide(JANE, Attributes(verb="get", path="/metrics")).allowed
    assert authorizer.rules_for(JANE, "here").rules[0]["verbs"] == ["*"]


def test_without_rbac_bindings_give_nothing(stored: StoredObjects) -> None:
    stored.role("reader", rule("get", "pods"))
    stored.bind("reader", user("jane"))

    assert not Authorizer(stored.store, modes=("Node",)).decide(JANE, GET_PODS).allowed


def test_a_node_may_what_the_role_of_nodes_says(stored: StoredObjects) -> None:
    stored.role("system:node", rule("get", "pods"))
    authorizer = Authorizer(stored.store, modes=("Node", "RBAC"))
    node = User(name="system:node:one", groups=("system:nodes",))

    assert authorizer.decide(node, GET_PODS).allowed
    assert not authorizer.decide(User(name="system:node:one"), GET_PODS).allowed
    assert not Authorizer(stored.store).decide(node, GET_PODS).allowed
