"""What a path and a query ask for."""

import pytest

from steersman.names import GroupResource
from steersman.wire import Request
from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info
from tests.unit.apiserver.urls import asking

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
    # A namespace is in itself, as far as rights go.
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
def test_a_path_says_which_resource_and_where(path: str) -> None:
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
def test_a_method_is_a_verb_of_one_object_or_of_many(method: str, path: str) -> None:
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
def test_a_list_may_be_a_watch(query: str) -> None:
    assert asking(f"/api/v1/pods?{query}").verb == WATCHES[query]


def test_of_an_option_that_is_there_several_times_the_first_counts() -> None:
    info = asking("/api/v1/pods?limit=1&limit=2&pretty=&verbose=false")

    assert info.option("limit") == "1"
    assert info.option("continue") == ""
    assert info.flag("pretty")
    assert not info.flag("verbose")
    assert not info.flag("missing")


def test_a_resource_is_the_same_in_every_version() -> None:
    old, new = asking("/apis/apps/v1beta1/deployments"), asking("/apis/apps/v1/deployments")

    assert old.group_resource == new.group_resource == GroupResource("apps", "deployments")
