"""Impersonation. tests/real compares it with kube-apiserver."""

from typing import Any

import pytest

from steersman.wire import Request
from steersman_cluster.apiserver.authz import Attributes, Authorizer, ImpersonationHandler
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.authn.stored_objects import StoredObjects, rule, user

AUTHENTICATION = "authentication.k8s.io"
JANE = User(name="jane")
ADMIN = User(name="admin", groups=("system:masters",))
GET_PODS = Attributes(verb="get", resource="pods", namespace="here", name="web")

OLD = rule("impersonate", "users,groups")


def impersonation(*rules: dict[str, Any], to: str = "jane") -> ImpersonationHandler:
    stored = StoredObjects()
    stored.role("impersonator", *rules)
    stored.bind("impersonator", user(to))
    return ImpersonationHandler(Authorizer(stored.store))


def request(*headers: tuple[str, str]) -> Request:
    return Request(method="GET", path="/x", headers=headers)


def impersonating(name: str, *headers: tuple[str, str]) -> Request:
    return request(("Impersonate-User", name), *headers)


def test_a_request_without_impersonation_headers_keeps_its_user() -> None:
    assert impersonation().impersonated_user(request(("Accept", "x")), JANE, GET_PODS) is JANE


def test_impersonation_requires_the_permission_for_every_impersonated_name_and_group() -> None:
    named = {**rule("impersonate", "users"), "resourceNames": ["kim"]}
    grouped = {**rule("impersonate", "groups"), "resourceNames": ["devs", "ops"]}
    policy = impersonation(named, grouped)
    devs, ops, other = (("Impersonate-Group", name) for name in ("devs", "ops", "other"))

    kim = policy.impersonated_user(impersonating("kim", devs, ops), JANE, GET_PODS)

    assert (kim.name, kim.groups) == ("kim", ("devs", "ops", "system:authenticated"))
    for forbidden in (impersonating("lea", devs), impersonating("kim", devs, other)):
        with pytest.raises(StatusError) as raised:
            policy.impersonated_user(forbidden, JANE, GET_PODS)
        assert raised.value.code == 403


def test_impersonated_uids_and_extras_require_their_own_permissions() -> None:
    details = rule("impersonate", "uids,userextras/example.com/scope", groups=AUTHENTICATION)
    headers = (
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Extra-Example.com%2fscope", "view"),
        ("impersonate-extra-example.com%2Fscope", "edit"),
    )

    kim = impersonation(OLD, details).impersonated_user(
        impersonating("kim", *headers), JANE, GET_PODS
    )
    with pytest.raises(StatusError):
        impersonation(OLD).impersonated_user(impersonating("kim", *headers), JANE, GET_PODS)

    assert (kim.uid, kim.extra) == ("u-1", {"example.com/scope": ("view", "edit")})


def test_an_impersonated_service_account_has_its_groups() -> None:
    accounts = rule("impersonate", "serviceaccounts")
    name = "system:serviceaccount:here:robot"

    robot = impersonation(accounts).impersonated_user(impersonating(name), JANE, GET_PODS)

    assert robot.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:here",
        "system:authenticated",
    )


def test_constrained_impersonation_requires_both_permissions() -> None:
    who = rule("impersonate:user-info", "users", groups=AUTHENTICATION)
    what = rule("impersonate-on:user-info:get", "pods")
    delete = Attributes(verb="delete", resource="pods", namespace="here")

    policy = impersonation(who, what)
    kim = policy.impersonated_user(impersonating("kim"), JANE, GET_PODS)

    assert kim.name == "kim"
    for lacking, wanted in (
        (policy, delete),
        (impersonation(who), GET_PODS),
        (impersonation(what), GET_PODS),
    ):
        with pytest.raises(StatusError):
            lacking.impersonated_user(impersonating("kim"), JANE, wanted)


NODE = "system:node:n1"
AGENT = "system:serviceaccount:here:agent"


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_service_account_can_impersonate_the_node_of_its_pod(node: str) -> None:
    who = rule("impersonate:associated-node", "nodes", groups=AUTHENTICATION)
    what = rule("impersonate-on:associated-node:get", "pods")
    agent = User(name=AGENT, extra={"authentication.kubernetes.io/node-name": (node,)})
    policy = impersonation(who, what, to=AGENT)

    if node == "n1":
        impersonated_user = policy.impersonated_user(impersonating(NODE), agent, GET_PODS)
        assert (impersonated_user.name, impersonated_user.groups) == (
            NODE,
            ("system:nodes", "system:authenticated"),
        )
    else:
        with pytest.raises(StatusError, match="403"):
            policy.impersonated_user(impersonating(NODE), agent, GET_PODS)


NEVER = [
    (("Impersonate-Group", "system:masters"), "the system:masters group is not allowed"),
    (("Impersonate-Group", ""), "the empty string group is not allowed"),
    (("Impersonate-Extra-", "x"), "the empty string key in extra is not allowed"),
    (("Impersonate-Extra-Scope", "x"), "an invalid key in extra is not allowed"),
    (("Impersonate-Extra-A.b%2fc", ""), "the empty string value in extra is not allowed"),
]


@pytest.mark.parametrize(("header", "why"), NEVER)
def test_constrained_impersonation_rejects_forbidden_headers(
    header: tuple[str, str], why: str
) -> None:
    everything = rule("impersonate:user-info,impersonate-on:user-info:get", "*", groups="*")

    with pytest.raises(StatusError) as raised:
        impersonation(everything).impersonated_user(impersonating("kim", header), JANE, GET_PODS)

    assert why in raised.value.message


def test_a_rejection_refers_to_the_mode_that_the_user_last_used() -> None:
    named = {**rule("impersonate", "users"), "resourceNames": ["kim"]}
    policy = impersonation(named)

    def rejection() -> str:
        with pytest.raises(StatusError) as raised:
            policy.impersonated_user(impersonating("lea"), JANE, GET_PODS)
        return raised.value.message

    before = rejection()
    policy.impersonated_user(impersonating("kim"), JANE, GET_PODS)

    assert before.startswith('pods "web" is forbidden: User "jane" cannot impersonate-on:')
    assert rejection().startswith(
        'users "lea" is forbidden: User "jane" cannot impersonate resource'
    )


def test_impersonation_needs_a_user_name() -> None:
    with pytest.raises(StatusError) as raised:
        impersonation().impersonated_user(request(("Impersonate-Group", 'a"b')), ADMIN, GET_PODS)

    assert (raised.value.code, raised.value.message) == (
        400,
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a\\"b"},'
        " Extra:map[string][]string(nil)} without impersonating a user name",
    )
