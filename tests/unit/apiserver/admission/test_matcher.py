from typing import Any

import pytest

from steersman.names import GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import CREATE, DELETE, UPDATE
from steersman_cluster.apiserver.admission.matcher import MatchedResource, Matcher
from steersman_cluster.apiserver.meta.status_errors import StatusError
from tests.unit.apiserver.admission.admission_requests import MAP, MAPS, FakeCluster, request

RULE: dict[str, Any] = {
    "operations": ["CREATE", "UPDATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}
NAMESPACES = GroupVersionResource("", "v1", "namespaces")
NAMESPACE = GroupVersionKind("", "v1", "Namespace")


def matching(*rules: Any, **more: Any) -> Matcher:
    return Matcher.of_webhook({"rules": rules, **more})


@pytest.mark.parametrize(
    ("change", "is_meant"),
    [
        ({}, True),
        ({"operations": ["*"]}, True),
        ({"operations": ["DELETE"]}, False),
        ({"apiGroups": ["*"], "apiVersions": ["*"]}, True),
        ({"apiGroups": ["apps"]}, False),
        ({"apiVersions": ["v2"]}, False),
        ({"resources": ["*"]}, True),
        ({"resources": ["*/*"]}, True),
        ({"resources": ["configmaps/*"]}, True),
        ({"resources": ["configmaps/status"]}, False),
        ({"resources": ["secrets", "configmaps"]}, True),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
    ],
)
def test_a_rule_matches_operations_and_resources(change: Any, is_meant: bool) -> None:
    matched = matching({**RULE, **change}).match(request(), FakeCluster())

    assert matched == (MatchedResource(MAPS, MAP) if is_meant else None)


@pytest.mark.parametrize(
    ("resource", "is_meant"), [("*", False), ("*/*", True), ("*/status", True), ("pods/*", False)]
)
def test_a_rule_matches_a_subresource_only_if_it_names_it(resource: str, is_meant: bool) -> None:
    wanted = request(subresource="status", operation=UPDATE)

    matched = matching({**RULE, "resources": [resource]}).match(wanted, FakeCluster())

    assert (matched is not None) == is_meant


def test_the_scope_of_a_namespace_is_cluster() -> None:
    wanted = request(resource=NAMESPACES, kind=NAMESPACE, namespace="a")
    rule = {**RULE, "resources": ["namespaces"]}

    outside = matching({**rule, "scope": "Cluster"}).match(wanted, FakeCluster())
    inside = matching({**rule, "scope": "Namespaced"}).match(wanted, FakeCluster())

    assert (outside is not None, inside is not None) == (True, False)


def test_an_object_selector_matches_the_new_or_the_old_object() -> None:
    labelled = {"metadata": {"labels": {"app": "web"}}}
    plain: dict[str, Any] = {"metadata": {}}
    selecting = matching(RULE, objectSelector={"matchLabels": {"app": "web"}})

    found = [
        selecting.match(request(obj=obj, old=old, operation=UPDATE), FakeCluster()) is not None
        for obj, old in ((labelled, plain), (plain, labelled), (plain, plain))
    ]

    assert found == [True, True, False]


def test_a_namespace_selector_matches_the_labels_of_the_namespace() -> None:
    selecting = matching(RULE, namespaceSelector={"matchLabels": {"for": "us"}})
    cluster = FakeCluster(namespaces={"selected": {"for": "us"}, "other": {}})

    found = [selecting.match(request(namespace=name), cluster) for name in ("selected", "other")]

    assert found == [MatchedResource(MAPS, MAP), None]


def test_a_namespace_selector_matches_every_cluster_scoped_object() -> None:
    selecting = matching(RULE, namespaceSelector={"matchLabels": {"for": "us"}})

    assert selecting.match(request(namespace=""), FakeCluster()) is not None


def test_a_missing_namespace_is_an_error_only_if_the_rules_match() -> None:
    nowhere = request(namespace="nowhere")
    selector = {"matchLabels": {"for": "us"}}

    with pytest.raises(StatusError, match="404"):
        matching(RULE, namespaceSelector=selector).match(nowhere, FakeCluster())
    assert matching(namespaceSelector=selector).match(nowhere, FakeCluster()) is None


@pytest.mark.parametrize("operation", [CREATE, UPDATE])
def test_a_namespace_selector_matches_the_new_labels_of_a_written_namespace(operation: str) -> None:
    rule = {**RULE, "resources": ["namespaces"]}
    selecting = matching(rule, namespaceSelector={"matchLabels": {"for": "us"}})
    cluster = FakeCluster(namespaces={"a": {}})
    obj = {"metadata": {"name": "a", "labels": {"for": "us"}}}
    written = request(
        resource=NAMESPACES, kind=NAMESPACE, namespace="a", obj=obj, operation=operation
    )

    assert selecting.match(written, cluster) is not None


def test_a_namespace_selector_matches_the_stored_labels_of_a_deleted_namespace() -> None:
    rule = {**RULE, "resources": ["namespaces"], "operations": ["DELETE"]}
    selecting = matching(rule, namespaceSelector={"matchLabels": {"for": "us"}})
    deleted = request(
        resource=NAMESPACES, kind=NAMESPACE, namespace="a", obj=None, operation=DELETE
    )

    assert selecting.match(deleted, FakeCluster(namespaces={"a": {"for": "us"}})) is not None


def test_the_equivalent_match_policy_matches_another_version() -> None:
    other = MatchedResource(
        GroupVersionResource("", "v2", "configmaps"), GroupVersionKind("", "v2", "ConfigMap")
    )
    cluster = FakeCluster(others=[other, MatchedResource(MAPS, MAP)])
    rule = {**RULE, "apiVersions": ["v2"]}

    exact = matching(rule, matchPolicy="Exact").match(request(), cluster)
    equivalent = matching(rule, matchPolicy="Equivalent").match(request(), cluster)

    assert (exact, equivalent) == (None, other)


def test_a_policy_does_not_match_excluded_resources() -> None:
    excluding = {
        "resourceRules": [RULE],
        "excludeResourceRules": [{**RULE, "resourceNames": ["a"]}],
    }
    policy = Matcher.of_policy(excluding)

    found = [policy.match(request(name=name), FakeCluster()) is not None for name in ("a", "b")]

    assert found == [False, True]


def test_a_binding_without_rules_matches_every_request() -> None:
    assert Matcher.of_policy({}).match(request(), FakeCluster()) == MatchedResource(MAPS, MAP)
    assert Matcher.of_webhook({}).match(request(), FakeCluster()) is None
