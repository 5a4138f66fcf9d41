"""Impersonation: the required permissions, and the errors without them."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller
from tests.real.callers import open_caller
from tests.real.kubernetes_versions import needs_kubernetes

RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
AUTHENTICATION = "authentication.k8s.io"
REVIEW = f"/apis/{AUTHENTICATION}/v1/selfsubjectreviews"
PODS = "/api/v1/namespaces/default/pods"

MAX_REQUESTS = 2000

constrained = needs_kubernetes("1.36", "constrained impersonation is off by default")


def user_text(namespace: str, name: str) -> str:
    return f'User "system:serviceaccount:{namespace}:{name}"'


def rejection(
    cluster: ControlPlane, path: str, *, method: str = "GET", token: str | None, **headers: str
) -> tuple[int, str]:
    """The status and message of a request that is rejected; ``Extra_Scope`` is a header, too."""
    impersonation = {
        f"Impersonate-{name.replace('_', '-')}": value for name, value in headers.items()
    }
    with open_caller(cluster, token=token, headers=impersonation) as caller:
        response = caller.call(method, path, {} if method == "POST" else None)
        body = response.json()
        return response.status, body.get("message", "")


def user_of(cluster: ControlPlane, *, token: str | None, **headers: str) -> dict[str, Any]:
    impersonation = {
        f"Impersonate-{name.replace('_', '-')}": value for name, value in headers.items()
    }
    with open_caller(cluster, token=token, headers=impersonation) as caller:
        response = caller.call("POST", REVIEW, {})
        assert response.status == 201, response.json()
        user: dict[str, Any] = response.json()["status"]["userInfo"]
        return user


# The permissions to impersonate. Constrained impersonation has verbs of its own.
RULES = {
    "legacy": [
        {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users", "groups"]},
        {"verbs": ["create"], "apiGroups": [AUTHENTICATION], "resources": ["selfsubjectreviews"]},
    ],
    "names-only": [
        {
            "verbs": ["impersonate"],
            "apiGroups": [""],
            "resources": ["users"],
            "resourceNames": ["jane"],
        },
    ],
    "constrained": [
        {
            "verbs": ["impersonate:user-info"],
            "apiGroups": [AUTHENTICATION],
            "resources": ["users", "groups", "userextras/*", "userextras/scope"],
        },
        {
            "verbs": ["impersonate-on:user-info:create"],
            "apiGroups": [AUTHENTICATION],
            "resources": ["selfsubjectreviews"],
        },
    ],
    "none": [],
}


@pytest.fixture
def tokens(control_plane: ControlPlane, namespace: str) -> Iterator[dict[str, str]]:
    """Tokens of new accounts, each of which may impersonate by one kind of rule."""
    created: dict[str, str] = {}
    with control_plane.caller() as admin:
        for name, rules in RULES.items():
            role = {"metadata": {"name": f"{namespace}-{name}"}, "rules": rules}
            admin.call("POST", f"{RBAC}/clusterroles", role)
            admin.call("POST", f"{RBAC}/clusterrolebindings", binding(namespace, name))
            wait_for(admin, f"system:serviceaccount:{namespace}:{name}", rules)
            accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
            admin.call("POST", accounts, {"metadata": {"name": name}})
            response = admin.call("POST", f"{accounts}/{name}/token", {})
            created[name] = response.json()["status"]["token"]
        yield created
        for name in RULES:
            for kind in ("clusterroles", "clusterrolebindings"):
                admin.call("DELETE", f"{RBAC}/{kind}/{namespace}-{name}")


def binding(namespace: str, name: str) -> dict[str, Any]:
    return {
        "metadata": {"name": f"{namespace}-{name}"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": f"{namespace}-{name}"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }


def wait_for(admin: HttpCaller, user: str, rules: list[dict[str, Any]]) -> None:
    """Wait until kube-apiserver's RBAC cache has the role."""
    for rule in rules[:1]:
        what = {"verb": rule["verbs"][0], "group": rule["apiGroups"][0], "name": "jane"}
        spec = {"user": user, "resourceAttributes": {**what, "resource": rule["resources"][0]}}
        for _ in range(MAX_REQUESTS):
            path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
            if admin.call("POST", path, {"spec": spec}).json()["status"]["allowed"]:
                return


def on(verb: str, resource: str) -> str:
    where = 'in API group "" in the namespace "default"'
    return f'{{}} cannot impersonate-on:{verb} resource "{resource}" {where}'


ACCOUNT = "system:serviceaccount:default:x"
CANNOT = [
    (PODS, {"User": "jane"}, f"pods is forbidden: {on('user-info:list', 'pods')}"),
    (
        f"{PODS}/x/log",
        {"User": "jane", "Group": "g"},
        f'pods "x" is forbidden: {on("user-info:get", "pods/log")}',
    ),
    (
        "/healthz",
        {"User": "jane"},
        'forbidden: {} cannot impersonate-on:user-info:get path "/healthz"',
    ),
    (
        PODS,
        {"User": "system:node:n1"},
        f"pods is forbidden: {on('arbitrary-node:list', 'pods')}",
    ),
    (PODS, {"User": ACCOUNT}, f"pods is forbidden: {on('serviceaccount:list', 'pods')}"),
    (
        PODS,
        {"User": ACCOUNT, "Group": "g"},
        'serviceaccounts "x" is forbidden: {} cannot impersonate resource "serviceaccounts"'
        ' in API group "" in the namespace "default"',
    ),
    (
        PODS,
        {"User": "system:serviceaccount:no"},
        f"pods is forbidden: {on('user-info:list', 'pods')}",
    ),
]


@constrained
@pytest.mark.parametrize(("path", "headers", "message"), CANNOT)
def test_a_denial_names_the_permission_for_constrained_impersonation(
    path: str,
    headers: dict[str, str],
    message: str,
    control_plane: ControlPlane,
    namespace: str,
    tokens: dict[str, str],
) -> None:
    response = rejection(control_plane, path, token=tokens["none"], **headers)

    assert response == (403, message.format(user_text(namespace, "none")))


@needs_kubernetes("1.36", "impersonated groups are checked before the UID")
def test_each_impersonated_attribute_needs_a_permission(
    control_plane: ControlPlane, namespace: str, tokens: dict[str, str]
) -> None:
    token, who = tokens["names-only"], user_text(namespace, "names-only")
    # After a legacy impersonation, the denial names the missing legacy permission.
    user_of(control_plane, token=token, User="jane")

    def message_for(**headers: str) -> str:
        return rejection(control_plane, REVIEW, method="POST", token=token, **headers)[1]

    assert message_for(User="joe") == (
        f'users "joe" is forbidden: {who} cannot impersonate resource "users" in API group ""'
        " at the cluster scope"
    )
    assert message_for(User="jane", Group="devs") == (
        f'groups "devs" is forbidden: {who} cannot impersonate resource "groups" in API group ""'
        " at the cluster scope"
    )
    assert message_for(User="jane", Uid="1", Group="devs") == (
        f'uids.{AUTHENTICATION} "1" is forbidden: {who} cannot impersonate resource "uids"'
        f' in API group "{AUTHENTICATION}" at the cluster scope'
    )
    assert message_for(User="jane", Extra_Scope="view") == (
        f'userextras.{AUTHENTICATION} "view" is forbidden: {who} cannot impersonate resource'
        f' "userextras/scope" in API group "{AUTHENTICATION}" at the cluster scope'
    )


def test_a_denial_names_the_impersonated_user(
    control_plane: ControlPlane, tokens: dict[str, str]
) -> None:
    status, message = rejection(control_plane, PODS, token=tokens["legacy"], User="jane")

    assert (status, message) == (
        403,
        'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the'
        ' namespace "default"',
    )


@constrained
def test_a_permission_to_impersonate_can_be_limited_to_some_requests(
    control_plane: ControlPlane, namespace: str, tokens: dict[str, str]
) -> None:
    token, who = tokens["constrained"], user_text(namespace, "constrained")

    user = user_of(control_plane, token=token, User="kim", Group="devs")
    other_path = rejection(control_plane, PODS, token=token, User="kim")
    administrators = rejection(
        control_plane, REVIEW, method="POST", token=token, User="kim", Group="system:masters"
    )
    invalid_key = rejection(
        control_plane, REVIEW, method="POST", token=token, User="kim", Extra_Scope="x"
    )

    assert user == {"username": "kim", "groups": ["devs", "system:authenticated"]}
    assert other_path[1] == (
        f"pods is forbidden: {who} cannot impersonate-on:user-info:list resource"
        ' "pods" in API group "" in the namespace "default"'
    )
    assert administrators[1] == (
        f'groups.{AUTHENTICATION} "system:masters" is forbidden: {who} cannot'
        f' impersonate:user-info resource "groups" in API group "{AUTHENTICATION}" at the cluster'
        " scope: impersonating the system:masters group is not allowed"
    )
    assert (
        "impersonating an invalid key in extra is not allowed: extra.key: Invalid value"
        in invalid_key[1]
    )


GROUPS = [
    ({"User": "jane"}, ["system:authenticated"]),
    ({"User": "jane", "Group": "devs"}, ["devs", "system:authenticated"]),
    ({"User": "jane", "Group": "system:masters"}, ["system:masters", "system:authenticated"]),
    (
        {"User": "system:anonymous", "Group": "system:authenticated"},
        ["system:authenticated", "system:unauthenticated"],
    ),
    (
        {"User": "system:serviceaccount:a:b"},
        ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"],
    ),
    ({"User": "system:serviceaccount:a:b", "Group": "z"}, ["z", "system:authenticated"]),
    ({"User": "system:serviceaccount:A_:b"}, ["system:authenticated"]),
    ({"User": "system:node:n1"}, ["system:authenticated"]),
]


@pytest.mark.parametrize(("headers", "groups"), GROUPS)
def test_implicit_groups_are_added_to_an_impersonated_user(
    headers: dict[str, str], groups: list[str], control_plane: ControlPlane
) -> None:
    token = control_plane.credentials.admin_token

    assert user_of(control_plane, token=token, **headers)["groups"] == groups


UNAUTHENTICATED = [
    ({"Group": "g"}, 'UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)'),
    ({"Uid": "u"}, 'UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)'),
    (
        {"Extra_Foo": "x"},
        'UID:"", Groups:[]string(nil), Extra:map[string][]string{"foo":[]string{"x"}}',
    ),
]


@needs_kubernetes("1.36", "an impersonation without a user is an internal error")
@pytest.mark.parametrize(("headers", "attributes"), UNAUTHENTICATED)
def test_impersonated_groups_and_extras_require_a_user(
    headers: dict[str, str], attributes: str, control_plane: ControlPlane
) -> None:
    token = control_plane.credentials.admin_token

    response = rejection(control_plane, PODS, token=token, **headers)

    requested = f'requested &user.DefaultInfo{{Name:"", {attributes}}}'
    assert response == (400, f"{requested} without impersonating a user name")
