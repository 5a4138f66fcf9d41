"""Routing of paths and methods, and the responses to unknown ones."""

import pytest

from tests.embedded import EmbeddedServer

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"

NOT_FOUND = {
    ("GET", "/api/v1/gadgets"),
    ("GET", "/api/v2/pods"),
    ("GET", "/apis/apps/v1beta1/deployments"),
    ("GET", "/api/v1/pods/web"),
    ("GET", "/api/v1/namespaces/default/nodes"),
    ("GET", f"{DEPLOYMENTS}/web/nonsense"),
    ("GET", f"{DEPLOYMENTS}/web/status/more"),
    ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles"),
}


@pytest.mark.parametrize(("method", "path"), sorted(NOT_FOUND))
async def test_a_resource_that_is_not_served_is_not_found(
    method: str, path: str, api: EmbeddedServer
) -> None:
    answer = await api.ask(method, path)

    assert answer.status == 404
    assert answer.json["message"] == "the server could not find the requested resource"


NOT_ALLOWED = {
    ("POST", "/api/v1/pods"),
    ("DELETE", "/api/v1/configmaps"),
    ("PUT", DEPLOYMENTS),
    ("PATCH", DEPLOYMENTS),
    ("POST", f"{DEPLOYMENTS}/web"),
    ("POST", f"{DEPLOYMENTS}/web/scale"),
    ("DELETE", f"{DEPLOYMENTS}/web/status"),
    ("DELETE", "/api/v1/namespaces"),
    ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
    ("PUT", "/api/v1/componentstatuses/scheduler"),
}


@pytest.mark.parametrize(("method", "path"), sorted(NOT_ALLOWED))
async def test_an_unsupported_method_is_not_allowed(
    method: str, path: str, api: EmbeddedServer
) -> None:
    answer = await api.ask(method, path, {} if method != "GET" else None)

    assert (answer.status, answer.json["reason"]) == (405, "MethodNotAllowed")


async def test_a_head_request_for_an_object_is_not_allowed(api: EmbeddedServer) -> None:
    answer = await api.ask("HEAD", "/api/v1/namespaces/default")

    assert (answer.status, answer.body) == (405, b"")


BODY = {"metadata": {"generateName": "a-"}, "data": {"a": "b"}}

AGENTS = {
    "kubectl/v1.36.3 (linux/amd64)": "kubectl",
    "mine": "mine",
    "": "unknown",
    "x" * 200: "x" * 128,
}


@pytest.mark.parametrize("agent", AGENTS)
async def test_the_default_field_manager_is_the_user_agents_program(
    agent: str, api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    headers = {"user_agent": agent} if agent else {}

    created = await api.asked("POST", path, BODY, **headers)
    named = await api.asked("POST", f"{path}?fieldManager=me&dryRun=All", BODY, **headers)

    assert [each["manager"] for each in created["metadata"]["managedFields"]] == [AGENTS[agent]]
    assert [each["manager"] for each in named["metadata"]["managedFields"]] == ["me"]


ONE_ONLY = {
    "?fieldSelector=metadata.name=a": 200,
    "?fieldSelector=metadata.name=b": 403,
    "?fieldSelector=metadata.name!=b": 403,
    "": 403,
}


@pytest.mark.parametrize("query", ONE_ONLY)
async def test_permission_to_get_an_object_allows_listing_it_by_name(
    query: str, api: EmbeddedServer, namespace: str
) -> None:
    place = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"]}
    about = {"metadata": {"name": "one"}}
    await api.asked("POST", f"{place}/roles", {**about, "rules": [{**rule, "verbs": ["list"]}]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"}
    subjects = [{"kind": "User", "name": "jo"}]
    binding = {**about, "roleRef": role, "subjects": subjects}
    await api.asked("POST", f"{place}/rolebindings", binding)

    path = f"/api/v1/namespaces/{namespace}/configmaps{query}"
    answer = await api.ask("GET", path, impersonate_user="jo")

    assert answer.status == ONE_ONLY[query]
