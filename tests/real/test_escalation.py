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
MAKER = [
    PODS,
    rule("create,update,patch,get", "roles", group=GROUP),
    rule("create,update,patch,get", "rolebindings", group=GROUP),
]


class Maker:
    """An account that may write roles and bindings of one namespace, and get pods there."""

    def __init__(self, cluster: ControlPlane, admin: HttpCaller, namespace: str) -> None:
        self.name = f"maker-of-{namespace}"
        self.cluster = cluster
        self.admin = admin
        self.roles = f"{RBAC}/namespaces/{namespace}"
        self.may("maker", MAKER)

    def may(self, name: str, rules: list[dict[str, Any]]) -> None:
        """Give the maker a role, and wait until the server knows it."""
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
        which = "" if method == "POST" else f"/{obj['metadata']['name']}"
        given = self.cluster.credentials.admin_token
        with open_caller(
            self.cluster, token=given, headers={"Impersonate-User": self.name}
        ) as caller:
            return caller.call(method, f"{self.roles}/{plural}{which}", obj)


def role(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "rules": list(rules)}


def binding(name: str, *, to: str, kind: str = "Role") -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": to}],
    }


@pytest.fixture
def maker(control_plane: ControlPlane, namespace: str) -> Iterator[Maker]:
    with control_plane.caller() as admin:
        yield Maker(control_plane, admin, namespace)


def not_held(maker: Maker, what: str, *rights: str) -> str:
    return (
        f'{what} is forbidden: user "{maker.name}" (groups=["system:authenticated"]) is attempting'
        " to grant RBAC permissions not currently held:\n" + "\n".join(rights)
    )


ALL_SECRETS = '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'


def test_a_role_can_be_written_by_a_user_with_its_permissions(maker: Maker) -> None:
    held = maker.write("roles", role("held", PODS))
    more = maker.write("roles", role("more", PODS, SECRETS))
    raised = maker.write("roles", role("held", SECRETS), method="PUT")

    assert held.status == 201
    sentence = not_held(maker, f'roles.{GROUP} "more"', ALL_SECRETS)
    assert (more.status, more.json()["message"]) == (403, sentence)
    sentence = not_held(maker, f'roles.{GROUP} "held"', ALL_SECRETS)
    assert (raised.status, raised.json()["message"]) == (403, sentence)


def test_a_role_can_be_bound_by_a_user_with_its_permissions(maker: Maker) -> None:
    maker.admin.call("POST", f"{maker.roles}/roles", role("held", PODS))

    held = maker.write("rolebindings", binding("held", to="kim"))
    admin = maker.write("rolebindings", binding("cluster-admin", to="kim", kind="ClusterRole"))
    gone = maker.write("rolebindings", binding("gone", to="kim", kind="ClusterRole"))

    assert held.status == 201
    assert admin.json()["message"] == not_held(
        maker,
        f'rolebindings.{GROUP} "cluster-admin"',
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
        '{NonResourceURLs:["*"], Verbs:["*"]}',
    )
    assert (gone.status, gone.json()["message"]) == (404, f'rolebindings.{GROUP} "gone" not found')


def test_a_binding_to_a_role_without_a_name_is_a_bad_request(maker: Maker) -> None:
    no_subject = {**binding("any", to="kim", kind="ClusterRole")}
    no_subject["roleRef"] = {**no_subject["roleRef"], "name": ""}

    response = maker.write("rolebindings", no_subject)

    assert (response.status, response.json()["message"]) == (400, "Name parameter required.")


def test_a_denial_names_bound_roles_that_do_not_exist(maker: Maker) -> None:
    maker.admin.call("POST", f"{maker.roles}/rolebindings", binding("lost", to=maker.name))

    message = ""
    for _ in range(MAX_REQUESTS):
        message = maker.write("roles", role("more", SECRETS)).json()["message"]
        if "resolution errors" in message:
            break

    problem = f'; resolution errors: [roles.{GROUP} "lost" not found]'
    assert message == not_held(maker, f'roles.{GROUP} "more"', ALL_SECRETS) + problem


def test_a_user_with_the_escalate_verb_writes_any_role(maker: Maker) -> None:
    maker.may("escalating", [rule("escalate", "roles", group=GROUP)])

    assert maker.write("roles", role("more", SECRETS)).status == 201


def test_a_user_with_the_bind_verb_binds_any_role(maker: Maker) -> None:
    maker.may("binding", [rule("bind", "clusterroles", group=GROUP)])

    response = maker.write("rolebindings", binding("cluster-admin", to="kim", kind="ClusterRole"))

    assert response.status == 201
