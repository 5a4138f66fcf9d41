"""Speaking for others; what the real server says is in tests/real."""

from typing import Any

import pytest

from steersman.wire import Request
from steersman_cluster.apiserver.authz import Attributes, Authorizer, Impersonation
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.authn.stored_objects import StoredObjects, rule, user

AUTHENTICATION = "authentication.k8s.io"
JANE = User(name="jane")
ADMIN = User(name="admin", groups=("system:masters",))
GET_PODS = Attributes(verb="get", resource="pods", namespace="here", name="web")

OLD = rule("impersonate", "users,groups")


def impersonation(*rules: dict[str, Any], to: str = "jane") -> Impersonation:
    stored = StoredObjects()
    stored.role("impersonator", *rules)
    stored.bind("impersonator", user(to))
    return Impersonation(Authorizer(stored.store))


def request(*headers: tuple[str, str]) -> Request:
    return Request(method="GET", path="/x", headers=headers)


def speaking_for(name: str, *headers: tuple[str, str]) -> Request:
    return request(("Impersonate-User", name), *headers)


def test_most_speak_for_themselves() -> None:
    assert impersonation().impersonated_user(request(("Accept", "x")), JANE, GET_PODS) is JANE


def test_impersonation_requires_the_permission_for_every_impersonated_name_and_group() -> None:
    named = {**rule("impersonate", "users"), "resourceNames": ["kim"]}
    grouped = {**rule("impersonate", "groups"), "resourceNames": ["devs", "ops"]}
    speakers = impersonation(named, grouped)
    devs, ops, other = (("Impersonate-Group", name) for name in ("devs", "ops", "other"))

    kim = speakers.impersonated_user(speaking_for("kim", devs, ops), JANE, GET_PODS)

    assert (kim.name, kim.groups) == ("kim", ("devs", "ops", "system:authenticated"))
    for refused in (speaking_for("lea", devs), speaking_for("kim", devs, other)):
        with pytest.raises(StatusError) as refusal:
            speakers.impersonated_user(refused, JANE, GET_PODS)
        assert refusal.value.code == 403


def test_details_take_rights_of_their_own() -> None:
    details = rule("impersonate", "uids,userextras/example.com/scope", groups=AUTHENTICATION)
    headers = (
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Extra-Example.com%2fscope", "view"),
        ("impersonate-extra-example.com%2Fscope", "edit"),
    )

    kim = impersonation(OLD, details).impersonated_user(
        speaking_for("kim", *headers), JANE, GET_PODS
    )
    with pytest.raises(StatusError):
        impersonation(OLD).impersonated_user(speaking_for("kim", *headers), JANE, GET_PODS)

    assert (kim.uid, kim.extra) == ("u-1", {"example.com/scope": ("view", "edit")})


def test_an_account_is_spoken_for_with_its_groups() -> None:
    accounts = rule("impersonate", "serviceaccounts")
    name = "system:serviceaccount:here:robot"

    robot = impersonation(accounts).impersonated_user(speaking_for(name), JANE, GET_PODS)

    assert robot.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:here",
        "system:authenticated",
    )


def test_a_mode_takes_the_right_to_who_and_the_right_to_what() -> None:
    who = rule("impersonate:user-info", "users", groups=AUTHENTICATION)
    what = rule("impersonate-on:user-info:get", "pods")
    delete = Attributes(verb="delete", resource="pods", namespace="here")

    speakers = impersonation(who, what)
    kim = speakers.impersonated_user(speaking_for("kim"), JANE, GET_PODS)

    assert kim.name == "kim"
    for lacking, wanted in (
        (speakers, delete),
        (impersonation(who), GET_PODS),
        (impersonation(what), GET_PODS),
    ):
        with pytest.raises(StatusError):
            lacking.impersonated_user(speaking_for("kim"), JANE, wanted)


NODE = "system:node:n1"
AGENT = "system:serviceaccount:here:agent"


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_an_agent_speaks_for_the_node_it_runs_on(node: str) -> None:
    who = rule("impersonate:associated-node", "nodes", groups=AUTHENTICATION)
    what = rule("impersonate-on:associated-node:get", "pods")
    agent = User(name=AGENT, extra={"authentication.kubernetes.io/node-name": (node,)})
    speakers = impersonation(who, what, to=AGENT)

    if node == "n1":
        impersonated_user = speakers.impersonated_user(speaking_for(NODE), agent, GET_PODS)
        assert (impersonated_user.name, impersonated_user.groups) == (
            NODE,
            ("system:nodes", "system:authenticated"),
        )
    else:
        with pytest.raises(StatusError, match="403"):
            speakers.impersonated_user(speaking_for(NODE), agent, GET_PODS)


NEVER = [
    (("Impersonate-Group", "system:masters"), "the system:masters group is not allowed"),
    (("Impersonate-Group", ""), "the empty string group is not allowed"),
    (("Impersonate-Extra-", "x"), "the empty string key in extra is not allowed"),
    (("Impersonate-Extra-Scope", "x"), "an invalid key in extra is not allowed"),
    (("Impersonate-Extra-A.b%2fc", ""), "the empty string value in extra is not allowed"),
]


@pytest.mark.parametrize(("header", "why"), NEVER)
def test_some_things_are_never_taken_on_for_some_requests_only(
    header: tuple[str, str], why: str
) -> None:
    everything = rule("impersonate:user-info,impersonate-on:user-info:get", "*", groups="*")

    with pytest.raises(StatusError) as refusal:
        impersonation(everything).impersonated_user(speaking_for("kim", header), JANE, GET_PODS)

    assert why in refusal.value.message


def test_a_user_of_one_mode_gets_what_is_missing_in_it() -> None:
    named = {**rule("impersonate", "users"), "resourceNames": ["kim"]}
    speakers = impersonation(named)

    def refusal() -> str:
        with pytest.raises(StatusError) as refusal:
            speakers.impersonated_user(speaking_for("lea"), JANE, GET_PODS)
        return refusal.value.message

    before = refusal()
    speakers.impersonated_user(speaking_for("kim"), JANE, GET_PODS)

    assert before.startswith('pods "web" is forbidden: User "jane" cannot impersonate-on:')
    assert refusal().startswith('users "lea" is forbidden: User "jane" cannot impersonate resource')


def test_impersonation_needs_a_user_name() -> None:
    with pytest.raises(StatusError) as refusal:
        impersonation().impersonated_user(request(("Impersonate-Group", 'a"b')), ADMIN, GET_PODS)

    assert (refusal.value.code, refusal.value.message) == (
        400,
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a\\"b"},'
        " Extra:map[string][]string(nil)} without impersonating a user name",
    )
