"""Discovery documents. tests/real compares those of built-in kinds with kube-apiserver's."""

import pytest

from steersman_cluster.apiserver.discovery import Discovery
from steersman_cluster.apiserver.meta.group_versions import GroupVersionInfo
from steersman_cluster.apiserver.meta.status_errors import StatusError
from tests.unit.apiserver.discovery.sample_documents import (
    AGGREGATED,
    SCALE,
    ZOO,
    content,
    custom,
    discovery,
)


def test_a_document_is_created_once_when_it_is_first_requested() -> None:
    served = discovery()

    first = served.find("/apis", accept=AGGREGATED)

    assert first is not None
    assert served.find("/apis", accept=AGGREGATED) is first


def test_an_etag_changes_exactly_when_its_document_does() -> None:
    before = discovery().find("/apis", accept=AGGREGATED)
    same = discovery().find("/apis", accept=AGGREGATED)
    after = discovery(custom()).find("/apis", accept=AGGREGATED)

    assert before is not None
    assert same is not None
    assert after is not None
    assert before.etag == same.etag
    assert before.etag != after.etag


def test_groups_and_versions_are_listed_in_order_of_preference() -> None:
    versions = ["foo10", "v1", "v2alpha1", "v10", "foo1", "v1beta1", "v2"]
    served = discovery(*(custom(version=version) for version in versions))

    groups = {group["name"]: group for group in content(served.find("/apis"))["groups"]}

    assert list(groups)[:3] == ["apiregistration.k8s.io", "apps", "events.k8s.io"]
    assert list(groups)[-1] == ZOO
    assert groups["autoscaling"]["preferredVersion"]["version"] == "v2"
    assert [each["version"] for each in groups[ZOO]["versions"]] == [
        "v10",
        "v2",
        "v1",
        "v1beta1",
        "v2alpha1",
        "foo1",
        "foo10",
    ]


def test_a_registered_group_version_is_listed_even_if_remote() -> None:
    claims = {
        ("away.example.com", "v1"): GroupVersionInfo(1000, 15, remote=True),
        ("empty.example.com", "v1"): GroupVersionInfo(2000, 15, remote=False),
        (ZOO, "v0"): GroupVersionInfo(1000, 200, remote=False),
    }
    served = Discovery([custom()], server_address="", claims=claims)

    groups = content(served.find("/apis"))["groups"]
    aggregated = content(served.find("/apis", accept=AGGREGATED))["items"]

    assert [each["name"] for each in groups] == ["empty.example.com", "away.example.com", ZOO]
    assert [each["version"] for each in groups[-1]["versions"]] == ["v0", "v1"]
    assert {
        each["metadata"]["name"]: [(v["version"], v["freshness"]) for v in each["versions"]]
        for each in aggregated
    } == {"away.example.com": [("v1", "Stale")], ZOO: [("v1", "Current")]}
    assert served.find("/apis/away.example.com/v1") is None


def test_a_custom_kind_is_listed_with_its_subresources() -> None:
    served = discovery(custom(version="v2"))

    listed = content(served.find(f"/apis/{ZOO}/v2"))

    assert listed["apiVersion"] == "v1"
    assert listed["groupVersion"] == f"{ZOO}/v2"
    assert listed["resources"] == [
        {
            "name": "zebras",
            "singularName": "zebra",
            "namespaced": True,
            "kind": "Zebra",
            "verbs": [
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch",
            ],
            "shortNames": ["zb"],
            "categories": ["all"],
            "storageVersionHash": custom(version="v1").storage_version_hash,
        },
        {
            "name": "zebras/status",
            "singularName": "",
            "namespaced": True,
            "kind": "Zebra",
            "verbs": ["get", "patch", "update"],
        },
        {
            "name": "zebras/scale",
            "singularName": "",
            "namespaced": True,
            "group": "autoscaling",
            "version": "v1",
            "kind": "Scale",
            "verbs": ["get", "patch", "update"],
        },
    ]


def test_only_custom_kinds_have_a_group_in_aggregated_discovery() -> None:
    served = discovery(custom())

    groups = {
        group["metadata"].get("name"): group["versions"][0]
        for group in content(served.find("/apis", accept=AGGREGATED))["items"]
    }

    zebras = groups[ZOO]["resources"][0]
    assert zebras["responseKind"] == {"group": ZOO, "version": "v1", "kind": "Zebra"}
    assert zebras["subresources"][1]["responseKind"] == {
        "group": SCALE.group,
        "version": SCALE.version,
        "kind": SCALE.kind,
    }
    assert groups[ZOO]["freshness"] == "Current"
    apps = {each["resource"]: each for each in groups["apps"]["resources"]}
    assert apps["deployments"]["responseKind"] == {"group": "", "version": "", "kind": "Deployment"}


def test_an_aggregated_document_can_be_cached() -> None:
    found = discovery().find("/api", accept=AGGREGATED)

    assert found is not None
    assert found.headers == {
        "Cache-Control": "public",
        "Content-Type": AGGREGATED,
        "Etag": found.etag,
        "Vary": "Accept",
    }


def test_a_classic_document_is_not_cached() -> None:
    found = discovery().find("/api/v1")

    assert found is not None
    assert found.headers == {
        "Cache-Control": "no-cache, private",
        "Content-Type": "application/json",
    }


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "APIGroupList"),
        ("*/*", "APIGroupList"),
        ("application/*", "APIGroupList"),
        ("application/json;q=0.5", "APIGroupList"),
        (AGGREGATED, "APIGroupDiscoveryList"),
        (f"application/json, {AGGREGATED}", "APIGroupDiscoveryList"),
        (f"{AGGREGATED.replace('v2', 'v2beta1')},{AGGREGATED};q=0.9", "APIGroupDiscoveryList"),
        (f"{AGGREGATED.replace('v2', 'v3')},application/json", "APIGroupList"),
    ],
)
def test_the_format_of_a_document_depends_on_the_accept_header(accept: str, kind: str) -> None:
    assert content(discovery().find("/apis", accept=accept))["kind"] == kind


@pytest.mark.parametrize("accept", ["text/html", AGGREGATED.replace("v2", "v2beta1")])
def test_an_unsupported_accept_header_is_not_acceptable(accept: str) -> None:
    with pytest.raises(StatusError) as raised:
        discovery().find("/apis", accept=accept)

    assert raised.value.code == 406


@pytest.mark.parametrize(
    "path",
    ["/api/v2", "/apis/nope", "/apis/apps/v9", "/apis//v1", "/apis/", "/nope", "/api/v1/pods"],
)
def test_an_unknown_path_has_no_document(path: str) -> None:
    assert discovery().find(path) is None


def test_the_version_is_that_of_a_supported_kubernetes() -> None:
    version = content(discovery().find("/version"))

    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")


def test_the_root_document_lists_every_path() -> None:
    paths = content(discovery(custom()).find("/"))["paths"]

    assert {"/api", "/api/v1", "/apis", f"/apis/{ZOO}/v1", "/healthz", "/version"} <= set(paths)
    assert paths == sorted(paths)


def test_the_api_document_contains_the_address_of_the_server() -> None:
    assert content(discovery().find("/api"))["serverAddressByClientCIDRs"] == [
        {"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}
    ]
