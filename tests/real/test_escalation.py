"""Escalation: only users with a role's permissions, or an explicit one, may write or bind it."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from tests.real.callers import open_caller

GROUP = "rbac.authorization.k8s.io"
RBAC = f"/apis/{GROUP}/v1"
MAX_REQUESTS = 2000


def rule(verbs: str, resource: str, *, group: str = "") -> dict[str, Any]:
    return {"verbs": verbs.split(","), "apiGroups": [group], "resources": [resource]}


PODS, SECRETS = rule("get", "pods"), rule("get,list", "secrets")
USER_RULES = [
    PODS,
    rule("create,update,patch,get", "roles", group=GROUP),
    rule("create,update,patch,get", "rolebindings", group=GROUP),
]


class LimitedUser:
    """A user with permissions for pods, roles and role bindings in one namespace."""

    def __init__(self, cluster: ControlPlane, admin: HttpCaller, namespace: str) -> None:
        self.name = f"user-of-{namespace}"
        self.cluster = cluster
        self.admin = admin
        self.roles = f"{RBAC}/namespaces/{namespace}"
        self.grant("user", USER_RULES)

    def grant(self, name: str, rules: list[dict[str, Any]]) -> None:
        """Grant the user a role, and wait until the server applies it."""
        self.admin.call("POST", f"{self.roles}/roles", role(name, *rules))
        self.admin.call("POST", f"{self.roles}/rolebindings", binding(name, to=self.name))
        last = rules[-1]
        wanted = {
            "verb": last["verbs"][0],
            "group": last["apiGroups"][0],
            "resource": last["resources"][0],
            "namespace": self.roles.rpartition("/")[2],
        }
        spec = {"user": self.name, "resourceAttributes": wanted}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        for _ in range(MAX_REQUESTS):
            if self.admin.call("POST", path, {"spec": spec}).json()["status"]["allowed"]:
                break

    def write(self, plural: str, obj: dict[str, Any], *, method: str = "POST") -> HttpResponse:
        suffix = "" if method == "POST" else f"/{obj['metadata']['name']}"
        token = self.cluster.credentials.admin_token
        with open_caller(
            self.cluster, token=token, headers={"Impersonate-User": self.name}
        ) as caller:
            return caller.call(method, f"{self.roles}/{plural}{suffix}", obj)


def role(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "rules": list(rules)}


def binding(name: str, *, to: str, kind: str = "Role") -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": to}],
    }


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str) -> Iterator[LimitedUser]:
    with control_plane.caller() as admin:
        yield LimitedUser(control_plane, admin, namespace)


def escalation_error(user: LimitedUser, what: str, *rights: str) -> str:
    return (
        f'{what} is forbidden: user "{user.name}" (groups=["system:authenticated"]) is attempting'
        " to grant RBAC permissions not currently held:\n" + "\n".join(rights)
    )


ALL_SECRETS = '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'


def test_a_role_can_be_written_by_a_user_with_its_permissions(user: LimitedUser) -> None:
    allowed = user.write("roles", role("allowed", PODS))
    escalating_role = user.write("roles", role("escalating-role", PODS, SECRETS))
    escalating_update = user.write("roles", role("allowed", SECRETS), method="PUT")

    assert allowed.status == 201
    message = escalation_error(user, f'roles.{GROUP} "escalating-role"', ALL_SECRETS)
    assert (escalating_role.status, escalating_role.json()["message"]) == (403, message)
    message = escalation_error(user, f'roles.{GROUP} "allowed"', ALL_SECRETS)
    assert (escalating_update.status, escalating_update.json()["message"]) == (403, message)


def test_a_role_can_be_bound_by_a_user_with_its_permissions(user: LimitedUser) -> None:
    user.admin.call("POST", f"{user.roles}/roles", role("allowed", PODS))

    allowed = user.write("rolebindings", binding("allowed", to="kim"))
    admin = user.write("rolebindings", binding("cluster-admin", to="kim", kind="ClusterRole"))
    missing_role = user.write("rolebindings", binding("missing", to="kim", kind="ClusterRole"))

    assert allowed.status == 201
    assert admin.json()["message"] == escalation_error(
        user,
        f'rolebindings.{GROUP} "cluster-admin"',
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
        '{NonResourceURLs:["*"], Verbs:["*"]}',
    )
    assert (missing_role.status, missing_role.json()["message"]) == (
        404,
        f'rolebindings.{GROUP} "missing" not found',
    )


def test_a_binding_to_a_role_without_a_name_is_a_bad_request(user: LimitedUser) -> None:
    no_subject = {**binding("any", to="kim", kind="ClusterRole")}
    no_subject["roleRef"] = {**no_subject["roleRef"], "name": ""}

    response = user.write("rolebindings", no_subject)

    assert (response.status, response.json()["message"]) == (400, "Name parameter required.")


def test_a_denial_names_bound_roles_that_do_not_exist(user: LimitedUser) -> None:
    user.admin.call("POST", f"{user.roles}/rolebindings", binding("lost", to=user.name))

    message = ""
    for _ in range(MAX_REQUESTS):
        message = user.write("roles", role("escalating-role", SECRETS)).json()["message"]
        if "resolution errors" in message:
            break

    problem = f'; resolution errors: [roles.{GROUP} "lost" not found]'
    assert (
        message == escalation_error(user, f'roles.{GROUP} "escalating-role"', ALL_SECRETS) + problem
    )


def test_a_user_with_the_escalate_verb_writes_any_role(user: LimitedUser) -> None:
    user.grant("escalating", [rule("escalate", "roles", group=GROUP)])

    assert user.write("roles", role("escalating-role", SECRETS)).status == 201


def test_a_user_with_the_bind_verb_binds_any_role(user: LimitedUser) -> None:
    user.grant("binding", [rule("bind", "clusterroles", group=GROUP)])

    response = user.write("rolebindings", binding("cluster-admin", to="kim", kind="ClusterRole"))

    assert response.status == 201
