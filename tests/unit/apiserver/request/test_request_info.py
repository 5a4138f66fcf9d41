"""Parsing of paths and queries into RequestInfo."""

import pytest

from steersman.names import GroupResource
from steersman.wire import Request
from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info
from tests.unit.apiserver.urls import request_info

POD = {"version": "v1", "resource": "pods"}
WEB = {"group": "apps", "version": "v1", "resource": "deployments"}

PATHS: dict[str, dict[str, object]] = {
    "/api/v1/pods": {"verb": "list", **POD},
    "/api/v1/pods/web": {"verb": "get", "name": "web", **POD},
    "/api/v1/namespaces/a/pods": {"verb": "list", "namespace": "a", **POD},
    "/api/v1/namespaces/a/pods/web": {"verb": "get", "namespace": "a", "name": "web", **POD},
    "/api/v1/namespaces/a/pods/web/status": {
        "verb": "get",
        "namespace": "a",
        "name": "web",
        "subresource": "status",
        **POD,
    },
    "/api/v1/namespaces/a/pods/web/proxy/x/y": {
        "verb": "get",
        "namespace": "a",
        "name": "web",
        "subresource": "proxy",
        "rest": ("x", "y"),
        **POD,
    },
    "/apis/apps/v1/namespaces/a/deployments/web/scale": {
        "verb": "get",
        "namespace": "a",
        "name": "web",
        "subresource": "scale",
        **WEB,
    },
    "/api/v1/namespaces": {"verb": "list", "version": "v1", "resource": "namespaces"},
    # For authorization, a namespace is in itself.
    "/api/v1/namespaces/a": {
        "verb": "get",
        "version": "v1",
        "resource": "namespaces",
        "namespace": "a",
        "name": "a",
    },
    "/api/v1/namespaces/a/status": {
        "verb": "get",
        "version": "v1",
        "resource": "namespaces",
        "namespace": "a",
        "name": "a",
        "subresource": "status",
    },
    "/": {"verb": "get"},
    "/api": {"verb": "get"},
    "/api/v1": {"verb": "get"},
    "/apis/apps": {"verb": "get"},
    "/apis/apps/v1": {"verb": "get"},
    "/healthz": {"verb": "get"},
    "/openapi/v3/apis/apps/v1": {"verb": "get"},
    "//api//v1///pods": {"verb": "list", **POD},
}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_determines_resource_namespace_and_name(path: str) -> None:
    info = parse_request_info(Request(method="GET", path=path))

    assert info == RequestInfo(path=path, **PATHS[path])  # type: ignore[arg-type]


VERBS = {
    ("GET", "/api/v1/pods"): "list",
    ("HEAD", "/api/v1/pods"): "list",
    ("POST", "/api/v1/pods"): "create",
    ("DELETE", "/api/v1/pods"): "deletecollection",
    ("GET", "/api/v1/pods/web"): "get",
    ("HEAD", "/api/v1/pods/web"): "get",
    ("PUT", "/api/v1/pods/web"): "update",
    ("PATCH", "/api/v1/pods/web"): "patch",
    ("DELETE", "/api/v1/pods/web"): "delete",
    ("POST", "/api/v1/pods/web/eviction"): "create",
    ("OPTIONS", "/api/v1/pods"): "options",
    ("POST", "/version"): "post",
}


@pytest.mark.parametrize(("method", "path"), VERBS)
def test_the_verb_depends_on_the_method_and_the_path(method: str, path: str) -> None:
    assert parse_request_info(Request(method=method, path=path)).verb == VERBS[method, path]


WATCHES = {
    "watch=1": "watch",
    "watch=true": "watch",
    "watch": "watch",
    "watch=0": "list",
    "watch=false": "list",
    "watch=perhaps": "watch",
    "watch=false&watch=true": "list",
}


@pytest.mark.parametrize("query", WATCHES)
def test_the_watch_parameter_turns_a_list_into_a_watch(query: str) -> None:
    assert request_info(f"/api/v1/pods?{query}").verb == WATCHES[query]


def test_the_first_of_several_values_of_an_option_counts() -> None:
    info = request_info("/api/v1/pods?limit=1&limit=2&pretty=&verbose=false")

    assert info.option("limit") == "1"
    assert info.option("continue") == ""
    assert info.flag("pretty")
    assert not info.flag("verbose")
    assert not info.flag("missing")


def test_the_group_resource_is_the_same_in_every_version() -> None:
    old, new = (
        request_info("/apis/apps/v1beta1/deployments"),
        request_info("/apis/apps/v1/deployments"),
    )

    assert old.group_resource == new.group_resource == GroupResource("apps", "deployments")
