from typing import Any

import pytest

from steersman.names import GroupVersionKind, GroupVersionResource
from steersman_cluster.apiserver.admission.attributes import CREATE, DELETE, UPDATE
from steersman_cluster.apiserver.admission.matcher import MatchedResource, Matcher
from steersman_cluster.apiserver.meta.status_errors import StatusError
from tests.unit.apiserver.admission.reviewers import MAP, MAPS, Around, request

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
def test_a_rule_is_about_operations_on_resources(change: Any, is_meant: bool) -> None:
    matched = matching({**RULE, **change}).match(request(), Around())

    assert matched == (MatchedResource(MAPS, MAP) if is_meant else None)


@pytest.mark.parametrize(
    ("resource", "is_meant"), [("*", False), ("*/*", True), ("*/status", True), ("pods/*", False)]
)
def test_a_subresource_is_meant_only_where_it_is_named(resource: str, is_meant: bool) -> None:
    wanted = request(subresource="status", operation=UPDATE)

    matched = matching({**RULE, "resources": [resource]}).match(wanted, Around())

    assert (matched is not None) == is_meant


def test_a_namespace_is_outside_of_namespaces() -> None:
    wanted = request(resource=NAMESPACES, kind=NAMESPACE, namespace="a")
    rule = {**RULE, "resources": ["namespaces"]}

    outside = matching({**rule, "scope": "Cluster"}).match(wanted, Around())
    inside = matching({**rule, "scope": "Namespaced"}).match(wanted, Around())

    assert (outside is not None, inside is not None) == (True, False)


def test_objects_are_selected_by_what_they_are_or_were() -> None:
    labelled = {"metadata": {"labels": {"app": "web"}}}
    plain: dict[str, Any] = {"metadata": {}}
    selecting = matching(RULE, objectSelector={"matchLabels": {"app": "web"}})

    found = [
        selecting.match(request(obj=obj, old=old, operation=UPDATE), Around()) is not None
        for obj, old in ((labelled, plain), (plain, labelled), (plain, plain))
    ]

    assert found == [True, True, False]


def test_a_namespace_is_selected_by_its_labels() -> None:
    selecting = matching(RULE, namespaceSelector={"matchLabels": {"for": "us"}})
    around = Around(namespaces={"ours": {"for": "us"}, "theirs": {}})

    found = [selecting.match(request(namespace=name), around) for name in ("ours", "theirs")]

    assert found == [MatchedResource(MAPS, MAP), None]


def test_what_is_in_no_namespace_is_in_every_selected_one() -> None:
    selecting = matching(RULE, namespaceSelector={"matchLabels": {"for": "us"}})

    assert selecting.match(request(namespace=""), Around()) is not None


def test_a_namespace_that_is_missing_matters_only_to_those_who_would_be_asked() -> None:
    nowhere = request(namespace="nowhere")
    selector = {"matchLabels": {"for": "us"}}

    with pytest.raises(StatusError, match="404"):
        matching(RULE, namespaceSelector=selector).match(nowhere, Around())
    assert matching(namespaceSelector=selector).match(nowhere, Around()) is None


@pytest.mark.parametrize("operation", [CREATE, UPDATE])
def test_a_namespace_that_is_written_is_selected_by_its_new_labels(operation: str) -> None:
    rule = {**RULE, "resources": ["namespaces"]}
    selecting = matching(rule, namespaceSelector={"matchLabels": {"for": "us"}})
    around = Around(namespaces={"a": {}})
    obj = {"metadata": {"name": "a", "labels": {"for": "us"}}}
    written = request(
        resource=NAMESPACES, kind=NAMESPACE, namespace="a", obj=obj, operation=operation
    )

    assert selecting.match(written, around) is not None


def test_a_namespace_that_is_deleted_is_selected_by_its_stored_labels() -> None:
    rule = {**RULE, "resources": ["namespaces"], "operations": ["DELETE"]}
    selecting = matching(rule, namespaceSelector={"matchLabels": {"for": "us"}})
    deleted = request(
        resource=NAMESPACES, kind=NAMESPACE, namespace="a", obj=None, operation=DELETE
    )

    assert selecting.match(deleted, Around(namespaces={"a": {"for": "us"}})) is not None


def test_another_version_is_meant_where_equivalents_are() -> None:
    other = MatchedResource(
        GroupVersionResource("", "v2", "configmaps"), GroupVersionKind("", "v2", "ConfigMap")
    )
    around = Around(others=[other, MatchedResource(MAPS, MAP)])
    rule = {**RULE, "apiVersions": ["v2"]}

    exact = matching(rule, matchPolicy="Exact").match(request(), around)
    equivalent = matching(rule, matchPolicy="Equivalent").match(request(), around)

    assert (exact, equivalent) == (None, other)


def test_a_policy_is_not_about_what_it_excludes() -> None:
    excluding = {
        "resourceRules": [RULE],
        "excludeResourceRules": [{**RULE, "resourceNames": ["a"]}],
    }
    policy = Matcher.of_policy(excluding)

    found = [policy.match(request(name=name), Around()) is not None for name in ("a", "b")]

    assert found == [False, True]


def test_a_binding_without_rules_is_about_all_that_its_policy_is() -> None:
    assert Matcher.of_policy({}).match(request(), Around()) == MatchedResource(MAPS, MAP)
    assert Matcher.of_webhook({}).match(request(), Around()) is None
