"""Permissions from roles and bindings, checked with SubjectAccessReviews."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller

RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
HERE, ELSEWHERE = "rights", "default"

# How often to ask whether a role is known; a real server takes milliseconds.
MAX_REQUESTS = 2000


def rule(verbs: str, groups: str, resources: str, *names: str) -> dict[str, Any]:
    """``rule("get,list", ",apps", "pods")``: the first group is the one without a name."""
    return {
        "verbs": verbs.split(","),
        "apiGroups": groups.split(","),
        "resources": resources.split(","),
        "resourceNames": list(names),
    }


def paths(verbs: str, *urls: str) -> dict[str, Any]:
    return {"verbs": verbs.split(","), "nonResourceURLs": list(urls)}


CLUSTER_ROLES = {
    "reader": [rule("get,list,watch", "", "pods")],
    "logs": [rule("get", "", "pods/log")],
    "any-status": [rule("update", "*", "*/status")],
    "apps": [rule("*", "apps", "*")],
    "named": [rule("get,update,delete,create", "", "configmaps", "one", "two")],
    "health": [paths("get", "/healthz", "/metrics/*")],
    "all-paths": [paths("get", "*")],
    "slash-star": [rule("get", "", "pods/*")],
    "star-slash": [rule("get", "", "*/")],
    "scaler": [rule("*", "*", "*/scale")],
    "two-groups": [rule("get", ",apps", "pods,deployments")],
    "two-rules": [rule("get", "", "pods"), rule("list", "", "secrets")],
    "empty": [],
    "many-stars": [paths("*", "/a/**")],
}
ROLES = {
    "secrets": [rule("get,list", "", "secrets")],
    "services": [rule("*", "", "services")],
}


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def account(name: str, namespace: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


# Each role is bound once, by a binding of its name.
EVERYWHERE = {
    "reader": [user("ann")],
    "logs": [group("devs")],
    "any-status": [account("robot", HERE)],
    "apps": [user("cat")],
    "named": [user("dan")],
    "health": [user("eve")],
    "all-paths": [user("fay")],
    "slash-star": [user("gus")],
    "star-slash": [user("gil")],
    "scaler": [user("hal")],
    "two-groups": [user("ida")],
    "two-rules": [user("no-other"), group("testers"), user("mia")],
    "empty": [user("liz")],
    "many-stars": [user("max")],
    "missing": [user("jim")],
}
# The rest in one namespace: a cluster's role there, roles of its own, and one that is not there.
BOUND_HERE = {
    ("ClusterRole", "reader"): [user("bob")],
    ("ClusterRole", "health"): [user("bob")],
    ("Role", "secrets"): [user("bob"), account("robot", ELSEWHERE)],
    ("Role", "services"): [group(f"system:serviceaccounts:{HERE}")],
    ("Role", "missing"): [user("kim")],
}


def asked(verb: str, resource: str, *, namespace: str = "", **more: str) -> dict[str, Any]:
    """``asked("get", "apps/deployments/scale")``; without a slash, the group without a name."""
    group_name, slash, rest = resource.partition("/")
    name, _, subresource = (rest if slash else resource).partition("/")
    about = {"verb": verb, "group": group_name if slash else "", "resource": name}
    return {
        "resourceAttributes": {
            **about,
            "subresource": subresource,
            "namespace": namespace,
            **more,
        }
    }


def path(verb: str, url: str) -> dict[str, Any]:
    return {"nonResourceAttributes": {"verb": verb, "path": url}}


def everywhere(role: str, subject: str) -> str:
    return f'RBAC: allowed by ClusterRoleBinding "{role}" of ClusterRole "{role}" to {subject}'


def here(kind: str, role: str, subject: str) -> str:
    binding = f"{kind.lower()}-{role}/{HERE}"
    return f'RBAC: allowed by RoleBinding "{binding}" of {kind} "{role}" to {subject}'


def known(name: str, *groups: str) -> dict[str, Any]:
    return {"user": name, "groups": list(groups)}


ROBOT = known(f"system:serviceaccount:{HERE}:robot", f"system:serviceaccounts:{HERE}")
STRANGER = known(f"system:serviceaccount:{ELSEWHERE}:robot")
ANN, BOB, DAN = known("ann"), known("bob"), known("dan")
MISSING = f'RBAC: clusterrole.{GROUP} "missing" not found'
MISSING_HERE = f'RBAC: role.{GROUP} "missing" not found'
NO, YES = False, True

# Who, what, whether, and why.
RIGHTS: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
    (ANN, asked("get", "pods"), YES, everywhere("reader", 'User "ann"')),
    (ANN, asked("get", "pods", namespace=HERE), YES, everywhere("reader", 'User "ann"')),
    (ANN, asked("watch", "pods", name="x"), YES, everywhere("reader", 'User "ann"')),
    (ANN, asked("delete", "pods"), NO, ""),
    (ANN, asked("*", "pods"), NO, ""),
    (ANN, asked("get", "*"), NO, ""),
    (ANN, asked("get", "/pods/log"), NO, ""),
    (ANN, asked("get", "apps/pods"), NO, ""),
    (ANN, asked("get", ""), NO, ""),
    (ANN, path("get", "/api"), NO, ""),
    (known("Ann"), asked("get", "pods"), NO, ""),
    (known("x", "ann"), asked("get", "pods"), NO, ""),
    (known("x", "devs"), asked("get", "/pods/log"), YES, everywhere("logs", 'Group "devs"')),
    (known("x", "devs"), asked("get", "pods"), NO, ""),
    (known("devs"), asked("get", "/pods/log"), NO, ""),
    (
        ROBOT,
        asked("update", "apps/deployments/status"),
        YES,
        everywhere("any-status", f'ServiceAccount "robot/{HERE}"'),
    ),
    (
        ROBOT,
        asked("update", "/pods/status", namespace=ELSEWHERE),
        YES,
        everywhere("any-status", f'ServiceAccount "robot/{HERE}"'),
    ),
    (ROBOT, asked("update", "pods"), NO, ""),
    (ROBOT, asked("update", "status"), NO, ""),
    (STRANGER, asked("update", "/pods/status"), NO, ""),
    (
        STRANGER,
        asked("get", "secrets", namespace=HERE),
        YES,
        here("Role", "secrets", f'ServiceAccount "robot/{ELSEWHERE}"'),
    ),
    (
        ROBOT,
        asked("anything", "services", namespace=HERE),
        YES,
        here("Role", "services", f'Group "system:serviceaccounts:{HERE}"'),
    ),
    (ROBOT, asked("get", "services"), NO, ""),
    (BOB, asked("list", "pods", namespace=HERE), YES, here("ClusterRole", "reader", 'User "bob"')),
    (BOB, asked("list", "pods", namespace=ELSEWHERE), NO, ""),
    (BOB, asked("list", "pods"), NO, ""),
    (BOB, asked("get", "secrets", namespace=HERE), YES, here("Role", "secrets", 'User "bob"')),
    (
        BOB,
        asked("get", "secrets", namespace=HERE, name="x"),
        YES,
        here("Role", "secrets", 'User "bob"'),
    ),
    # A path is in no namespace: what a binding there gives is worth nothing.
    (BOB, path("get", "/healthz"), NO, ""),
    (known("cat"), asked("patch", "apps/deployments"), YES, everywhere("apps", 'User "cat"')),
    (known("cat"), asked("x", "apps/deployments/scale"), YES, everywhere("apps", 'User "cat"')),
    (known("cat"), asked("get", "apps/"), YES, everywhere("apps", 'User "cat"')),
    (known("cat"), asked("get", "batch/jobs"), NO, ""),
    (known("cat"), path("get", "/apis/apps"), NO, ""),
    (DAN, asked("get", "configmaps", name="one"), YES, everywhere("named", 'User "dan"')),
    (
        DAN,
        asked("get", "configmaps", name="two", namespace=HERE),
        YES,
        everywhere("named", 'User "dan"'),
    ),
    (DAN, asked("get", "configmaps", name="three"), NO, ""),
    (DAN, asked("get", "configmaps"), NO, ""),
    (DAN, asked("create", "configmaps"), NO, ""),
    (DAN, asked("create", "configmaps", name="one"), YES, everywhere("named", 'User "dan"')),
    (known("eve"), path("get", "/healthz"), YES, everywhere("health", 'User "eve"')),
    (known("eve"), path("get", "/healthz/"), NO, ""),
    (known("eve"), path("get", "/metrics/slis"), YES, everywhere("health", 'User "eve"')),
    (known("eve"), path("get", "/metrics"), NO, ""),
    (known("eve"), path("post", "/healthz"), NO, ""),
    (known("fay"), path("get", "/anything"), YES, everywhere("all-paths", 'User "fay"')),
    (known("fay"), path("get", ""), YES, everywhere("all-paths", 'User "fay"')),
    (known("fay"), asked("get", "pods"), NO, ""),
    (known("max"), path("head", "/a/b"), YES, everywhere("many-stars", 'User "max"')),
    (known("gus"), asked("get", "/pods/log"), NO, ""),
    (known("gus"), asked("get", "/pods/*"), YES, everywhere("slash-star", 'User "gus"')),
    (known("gil"), asked("get", "pods"), NO, ""),
    (known("hal"), asked("get", "a.b/c/scale"), YES, everywhere("scaler", 'User "hal"')),
    (known("hal"), asked("get", "a.b/c/status"), NO, ""),
    (known("ida"), asked("get", "apps/deployments"), YES, everywhere("two-groups", 'User "ida"')),
    (known("ida"), asked("get", "deployments"), YES, everywhere("two-groups", 'User "ida"')),
    (known("ida"), asked("get", "batch/pods"), NO, ""),
    (known("mia"), asked("list", "secrets"), YES, everywhere("two-rules", 'User "mia"')),
    (known("mia"), asked("list", "pods"), NO, ""),
    (
        known("mia", "testers"),
        asked("get", "pods"),
        YES,
        everywhere("two-rules", 'Group "testers"'),
    ),
    (known("liz"), asked("get", "pods"), NO, ""),
    (known("jim"), asked("get", "pods"), NO, MISSING),
    (known("jim"), path("get", "/x"), NO, MISSING),
    (known("kim"), asked("get", "pods", namespace=HERE), NO, MISSING_HERE),
    (known("kim"), asked("get", "pods"), NO, ""),
    (known("", "system:masters"), asked("x", "y/z/w", namespace="q", name="r"), YES, ""),
    (known("x", "system:masters"), path("x", "/y"), YES, ""),
]


def bindings() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, subjects in EVERYWHERE.items():
        yield f"{RBAC}/clusterrolebindings", _binding(name, "ClusterRole", name, subjects)
    for (kind, role), subjects in BOUND_HERE.items():
        made = _binding(f"{kind.lower()}-{role}", kind, role, subjects)
        yield f"{RBAC}/namespaces/{HERE}/rolebindings", made


def _binding(name: str, kind: str, role: str, subjects: list[dict[str, str]]) -> dict[str, Any]:
    ref = {"apiGroup": GROUP, "kind": kind, "name": role}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": subjects}


def written() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "/api/v1/namespaces", {"metadata": {"name": HERE}}
    for name, rules in CLUSTER_ROLES.items():
        yield f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules}
    for name, rules in ROLES.items():
        yield f"{RBAC}/namespaces/{HERE}/roles", {"metadata": {"name": name}, "rules": rules}
    yield from bindings()


def reviewed(admin: HttpCaller, who: dict[str, Any], what: dict[str, Any]) -> dict[str, Any]:
    response = admin.call("POST", REVIEWS, {"spec": {**who, **what}})
    assert response.status == 201, response.json()
    status: dict[str, Any] = response.json()["status"]
    return status


@pytest.fixture(scope="module")
def admin(control_plane: ControlPlane) -> Iterator[HttpCaller]:
    """Asks about the rights above, which are gone afterwards."""
    with control_plane.caller() as caller:
        for where, obj in written():
            response = caller.call("POST", where, obj)
            assert response.status == 201, response.json()
        last = known(f"system:serviceaccount:{ELSEWHERE}:robot"), known("max")
        wanted = asked("get", "secrets", namespace=HERE), path("get", "/a/")
        for _ in range(MAX_REQUESTS):
            if all(reviewed(caller, *each)["allowed"] for each in zip(last, wanted, strict=True)):
                break
        yield caller
        for where, obj in written():
            caller.call("DELETE", f"{where}/{obj['metadata']['name']}")


def label(right: Any) -> str:
    """A name for a row."""
    who, what, *_ = right
    [about] = what.values()
    return f"{who['user']} {' '.join(filter(None, who['groups']))} {' '.join(about.values())}"


@pytest.mark.parametrize("right", RIGHTS, ids=label)
def test_a_permission_has_the_reason_that_the_real_server_gives(
    right: Any, admin: HttpCaller
) -> None:
    who, what, allowed, reason = right

    status = reviewed(admin, who, what)

    assert status == {"allowed": allowed, **({"reason": reason} if reason else {})}
