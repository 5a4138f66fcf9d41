"""Permissions from roles and bindings, checked with SubjectAccessReviews."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller

RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
NAMESPACE, OTHER_NAMESPACE = "rights", "default"

# The number of requests before giving up; kube-apiserver's RBAC cache is updated with a delay.
MAX_REQUESTS = 2000


def rule(verbs: str, groups: str, resources: str, *names: str) -> dict[str, Any]:
    """``rule("get,list", ",apps", "pods")``: the first group is the core group."""
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


# Each cluster role is bound by one binding of the same name.
CLUSTER_BINDINGS = {
    "reader": [user("ann")],
    "logs": [group("devs")],
    "any-status": [account("robot", NAMESPACE)],
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
# Bindings in one namespace: of cluster roles, of its roles, and of a missing role.
NAMESPACE_BINDINGS = {
    ("ClusterRole", "reader"): [user("bob")],
    ("ClusterRole", "health"): [user("bob")],
    ("Role", "secrets"): [user("bob"), account("robot", OTHER_NAMESPACE)],
    ("Role", "services"): [group(f"system:serviceaccounts:{NAMESPACE}")],
    ("Role", "missing"): [user("kim")],
}


def resource(verb: str, target: str, *, namespace: str = "", **more: str) -> dict[str, Any]:
    """``resource("get", "apps/deployments/scale")``; without a slash, the core group."""
    group_name, slash, rest = target.partition("/")
    name, _, subresource = (rest if slash else target).partition("/")
    attributes = {"verb": verb, "group": group_name if slash else "", "resource": name}
    return {
        "resourceAttributes": {
            **attributes,
            "subresource": subresource,
            "namespace": namespace,
            **more,
        }
    }


def path(verb: str, url: str) -> dict[str, Any]:
    return {"nonResourceAttributes": {"verb": verb, "path": url}}


def cluster_reason(role: str, subject: str) -> str:
    return f'RBAC: allowed by ClusterRoleBinding "{role}" of ClusterRole "{role}" to {subject}'


def namespace_reason(kind: str, role: str, subject: str) -> str:
    binding = f"{kind.lower()}-{role}/{NAMESPACE}"
    return f'RBAC: allowed by RoleBinding "{binding}" of {kind} "{role}" to {subject}'


def user_info(name: str, *groups: str) -> dict[str, Any]:
    return {"user": name, "groups": list(groups)}


ROBOT = user_info(f"system:serviceaccount:{NAMESPACE}:robot", f"system:serviceaccounts:{NAMESPACE}")
OTHER_ROBOT = user_info(f"system:serviceaccount:{OTHER_NAMESPACE}:robot")
ANN, BOB, DAN = user_info("ann"), user_info("bob"), user_info("dan")
MISSING = f'RBAC: clusterrole.{GROUP} "missing" not found'
MISSING_ROLE = f'RBAC: role.{GROUP} "missing" not found'
DENIED, ALLOWED = False, True

# User, request, allowed, reason.
CASES: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
    (ANN, resource("get", "pods"), ALLOWED, cluster_reason("reader", 'User "ann"')),
    (
        ANN,
        resource("get", "pods", namespace=NAMESPACE),
        ALLOWED,
        cluster_reason("reader", 'User "ann"'),
    ),
    (ANN, resource("watch", "pods", name="x"), ALLOWED, cluster_reason("reader", 'User "ann"')),
    (ANN, resource("delete", "pods"), DENIED, ""),
    (ANN, resource("*", "pods"), DENIED, ""),
    (ANN, resource("get", "*"), DENIED, ""),
    (ANN, resource("get", "/pods/log"), DENIED, ""),
    (ANN, resource("get", "apps/pods"), DENIED, ""),
    (ANN, resource("get", ""), DENIED, ""),
    (ANN, path("get", "/api"), DENIED, ""),
    (user_info("Ann"), resource("get", "pods"), DENIED, ""),
    (user_info("x", "ann"), resource("get", "pods"), DENIED, ""),
    (
        user_info("x", "devs"),
        resource("get", "/pods/log"),
        ALLOWED,
        cluster_reason("logs", 'Group "devs"'),
    ),
    (user_info("x", "devs"), resource("get", "pods"), DENIED, ""),
    (user_info("devs"), resource("get", "/pods/log"), DENIED, ""),
    (
        ROBOT,
        resource("update", "apps/deployments/status"),
        ALLOWED,
        cluster_reason("any-status", f'ServiceAccount "robot/{NAMESPACE}"'),
    ),
    (
        ROBOT,
        resource("update", "/pods/status", namespace=OTHER_NAMESPACE),
        ALLOWED,
        cluster_reason("any-status", f'ServiceAccount "robot/{NAMESPACE}"'),
    ),
    (ROBOT, resource("update", "pods"), DENIED, ""),
    (ROBOT, resource("update", "status"), DENIED, ""),
    (OTHER_ROBOT, resource("update", "/pods/status"), DENIED, ""),
    (
        OTHER_ROBOT,
        resource("get", "secrets", namespace=NAMESPACE),
        ALLOWED,
        namespace_reason("Role", "secrets", f'ServiceAccount "robot/{OTHER_NAMESPACE}"'),
    ),
    (
        ROBOT,
        resource("anything", "services", namespace=NAMESPACE),
        ALLOWED,
        namespace_reason("Role", "services", f'Group "system:serviceaccounts:{NAMESPACE}"'),
    ),
    (ROBOT, resource("get", "services"), DENIED, ""),
    (
        BOB,
        resource("list", "pods", namespace=NAMESPACE),
        ALLOWED,
        namespace_reason("ClusterRole", "reader", 'User "bob"'),
    ),
    (BOB, resource("list", "pods", namespace=OTHER_NAMESPACE), DENIED, ""),
    (BOB, resource("list", "pods"), DENIED, ""),
    (
        BOB,
        resource("get", "secrets", namespace=NAMESPACE),
        ALLOWED,
        namespace_reason("Role", "secrets", 'User "bob"'),
    ),
    (
        BOB,
        resource("get", "secrets", namespace=NAMESPACE, name="x"),
        ALLOWED,
        namespace_reason("Role", "secrets", 'User "bob"'),
    ),
    # A RoleBinding grants no access to non-resource URLs.
    (BOB, path("get", "/healthz"), DENIED, ""),
    (
        user_info("cat"),
        resource("patch", "apps/deployments"),
        ALLOWED,
        cluster_reason("apps", 'User "cat"'),
    ),
    (
        user_info("cat"),
        resource("x", "apps/deployments/scale"),
        ALLOWED,
        cluster_reason("apps", 'User "cat"'),
    ),
    (user_info("cat"), resource("get", "apps/"), ALLOWED, cluster_reason("apps", 'User "cat"')),
    (user_info("cat"), resource("get", "batch/jobs"), DENIED, ""),
    (user_info("cat"), path("get", "/apis/apps"), DENIED, ""),
    (
        DAN,
        resource("get", "configmaps", name="one"),
        ALLOWED,
        cluster_reason("named", 'User "dan"'),
    ),
    (
        DAN,
        resource("get", "configmaps", name="two", namespace=NAMESPACE),
        ALLOWED,
        cluster_reason("named", 'User "dan"'),
    ),
    (DAN, resource("get", "configmaps", name="three"), DENIED, ""),
    (DAN, resource("get", "configmaps"), DENIED, ""),
    (DAN, resource("create", "configmaps"), DENIED, ""),
    (
        DAN,
        resource("create", "configmaps", name="one"),
        ALLOWED,
        cluster_reason("named", 'User "dan"'),
    ),
    (user_info("eve"), path("get", "/healthz"), ALLOWED, cluster_reason("health", 'User "eve"')),
    (user_info("eve"), path("get", "/healthz/"), DENIED, ""),
    (
        user_info("eve"),
        path("get", "/metrics/slis"),
        ALLOWED,
        cluster_reason("health", 'User "eve"'),
    ),
    (user_info("eve"), path("get", "/metrics"), DENIED, ""),
    (user_info("eve"), path("post", "/healthz"), DENIED, ""),
    (
        user_info("fay"),
        path("get", "/anything"),
        ALLOWED,
        cluster_reason("all-paths", 'User "fay"'),
    ),
    (user_info("fay"), path("get", ""), ALLOWED, cluster_reason("all-paths", 'User "fay"')),
    (user_info("fay"), resource("get", "pods"), DENIED, ""),
    (user_info("max"), path("head", "/a/b"), ALLOWED, cluster_reason("many-stars", 'User "max"')),
    (user_info("gus"), resource("get", "/pods/log"), DENIED, ""),
    (
        user_info("gus"),
        resource("get", "/pods/*"),
        ALLOWED,
        cluster_reason("slash-star", 'User "gus"'),
    ),
    (user_info("gil"), resource("get", "pods"), DENIED, ""),
    (
        user_info("hal"),
        resource("get", "a.b/c/scale"),
        ALLOWED,
        cluster_reason("scaler", 'User "hal"'),
    ),
    (user_info("hal"), resource("get", "a.b/c/status"), DENIED, ""),
    (
        user_info("ida"),
        resource("get", "apps/deployments"),
        ALLOWED,
        cluster_reason("two-groups", 'User "ida"'),
    ),
    (
        user_info("ida"),
        resource("get", "deployments"),
        ALLOWED,
        cluster_reason("two-groups", 'User "ida"'),
    ),
    (user_info("ida"), resource("get", "batch/pods"), DENIED, ""),
    (
        user_info("mia"),
        resource("list", "secrets"),
        ALLOWED,
        cluster_reason("two-rules", 'User "mia"'),
    ),
    (user_info("mia"), resource("list", "pods"), DENIED, ""),
    (
        user_info("mia", "testers"),
        resource("get", "pods"),
        ALLOWED,
        cluster_reason("two-rules", 'Group "testers"'),
    ),
    (user_info("liz"), resource("get", "pods"), DENIED, ""),
    (user_info("jim"), resource("get", "pods"), DENIED, MISSING),
    (user_info("jim"), path("get", "/x"), DENIED, MISSING),
    (user_info("kim"), resource("get", "pods", namespace=NAMESPACE), DENIED, MISSING_ROLE),
    (user_info("kim"), resource("get", "pods"), DENIED, ""),
    (user_info("", "system:masters"), resource("x", "y/z/w", namespace="q", name="r"), ALLOWED, ""),
    (user_info("x", "system:masters"), path("x", "/y"), ALLOWED, ""),
]


def bindings() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, subjects in CLUSTER_BINDINGS.items():
        yield f"{RBAC}/clusterrolebindings", _binding(name, "ClusterRole", name, subjects)
    for (kind, role), subjects in NAMESPACE_BINDINGS.items():
        made = _binding(f"{kind.lower()}-{role}", kind, role, subjects)
        yield f"{RBAC}/namespaces/{NAMESPACE}/rolebindings", made


def _binding(name: str, kind: str, role: str, subjects: list[dict[str, str]]) -> dict[str, Any]:
    ref = {"apiGroup": GROUP, "kind": kind, "name": role}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": subjects}


def created_objects() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}
    for name, rules in CLUSTER_ROLES.items():
        yield f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules}
    for name, rules in ROLES.items():
        yield f"{RBAC}/namespaces/{NAMESPACE}/roles", {"metadata": {"name": name}, "rules": rules}
    yield from bindings()


def review_status(
    admin: HttpCaller, user: dict[str, Any], request: dict[str, Any]
) -> dict[str, Any]:
    response = admin.call("POST", REVIEWS, {"spec": {**user, **request}})
    assert response.status == 201, response.json()
    status: dict[str, Any] = response.json()["status"]
    return status


@pytest.fixture(scope="module")
def admin(control_plane: ControlPlane) -> Iterator[HttpCaller]:
    """An administrator's client, while the roles and bindings exist."""
    with control_plane.caller() as caller:
        for where, obj in created_objects():
            response = caller.call("POST", where, obj)
            assert response.status == 201, response.json()
        last = user_info(f"system:serviceaccount:{OTHER_NAMESPACE}:robot"), user_info("max")
        wanted = resource("get", "secrets", namespace=NAMESPACE), path("get", "/a/")
        for _ in range(MAX_REQUESTS):
            if all(
                review_status(caller, *each)["allowed"] for each in zip(last, wanted, strict=True)
            ):
                break
        yield caller
        for where, obj in created_objects():
            caller.call("DELETE", f"{where}/{obj['metadata']['name']}")


def label(review: Any) -> str:
    """The test ID of a row."""
    user, request, *_ = review
    [attributes] = request.values()
    return (
        f"{user['user']} {' '.join(filter(None, user['groups']))} {' '.join(attributes.values())}"
    )


@pytest.mark.parametrize("review", CASES, ids=label)
def test_a_permission_has_the_reason_that_the_real_server_gives(
    review: Any, admin: HttpCaller
) -> None:
    user, request, allowed, reason = review

    status = review_status(admin, user, request)

    assert status == {"allowed": allowed, **({"reason": reason} if reason else {})}
