"""Access reviews: requests about permissions, and their responses."""

from typing import Any

import pytest

from steersman_cluster.apiserver.authn import Authenticator, ServiceAccountTokens
from steersman_cluster.apiserver.authz import Authorizer
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.registry.access_reviews import AccessReviews
from tests.unit.apiserver.authn.stored_objects import GROUP, StoredObjects, rule, user

JANE = User(name="jane", uid="u-1", groups=("devs",), extra={"b": ("2",), "a": ("1",)})
MAY_GET = {"verb": "get", "resource": "pods"}


def reviews() -> AccessReviews:
    stored = StoredObjects()
    stored.role("reader", rule("get", "pods"), {"verbs": ["get"], "nonResourceURLs": ["/x"]})
    stored.bind("reader", user("jane"))
    stored.bind("gone", user("jane"))
    known = Authenticator({"canary": JANE}, ServiceAccountTokens(stored.store))
    return AccessReviews(known, Authorizer(stored.store), clock=stored.clock)


def info(plural: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    review = {"kind": "Any", "apiVersion": "x/v1", "metadata": metadata, "spec": spec}
    return reviews().review(plural, review, user=JANE)


def rejected_fields(plural: str, spec: dict[str, Any], **metadata: Any) -> list[tuple[str, str]]:
    """Return the invalid fields with their errors."""
    with pytest.raises(StatusError) as raised:
        info(plural, spec, **metadata)
    assert raised.value.message.startswith('.authorization.k8s.io "" is invalid: ')
    causes = (raised.value.details or {})["causes"]
    return [(cause["field"], cause["message"]) for cause in causes]


def test_access_reviews_cover_the_users_own_permissions_and_those_of_others() -> None:
    reason = 'RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" to User "jane"'
    yes = {"allowed": True, "reason": reason}
    resource, path = {"resourceAttributes": MAY_GET}, {"nonResourceAttributes": {"path": "/x"}}

    about_me = info("selfsubjectaccessreviews", resource)
    about_jane = info("subjectaccessreviews", {"user": "jane", **resource})
    about_kim = info("subjectaccessreviews", {"user": "kim", **path})

    assert about_me["status"] == about_jane["status"] == yes
    assert about_kim["status"] == {"allowed": False}


def test_a_review_is_about_a_resource_or_a_path() -> None:
    both = {"resourceAttributes": MAY_GET, "nonResourceAttributes": {"path": "/x"}}

    assert rejected_fields("selfsubjectaccessreviews", {}) == [
        (
            "spec.resourceAttributes",
            "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must"
            " be specified",
        )
    ]
    assert rejected_fields("selfsubjectaccessreviews", both) == [
        (
            "spec.nonResourceAttributes",
            'Invalid value: {"Path":"/x","Verb":""}: cannot be specified in combination with'
            " resourceAttributes",
        )
    ]


def test_a_review_needs_a_subject() -> None:
    assert rejected_fields("subjectaccessreviews", {"resourceAttributes": MAY_GET}) == [
        ("spec.user", 'Invalid value: "": at least one of user or group must be specified')
    ]


def test_a_review_has_no_name_and_no_labels() -> None:
    spec = {"resourceAttributes": MAY_GET}

    [(field, why)] = rejected_fields("selfsubjectaccessreviews", spec, name="x", managedFields=[{}])

    assert field == "metadata"
    assert why == 'Invalid value: {"name":"x","managedFields":[{}]}: must be empty'


def test_a_review_in_a_namespace_is_about_that_namespace() -> None:
    spec = {"user": "jane", "resourceAttributes": {**MAY_GET, "namespace": "there"}}
    path = {"user": "jane", "nonResourceAttributes": {"path": "/x"}}

    assert rejected_fields("localsubjectaccessreviews", spec, namespace="here") == [
        (
            "spec.resourceAttributes.namespace",
            'Invalid value: "there": must match metadata.namespace',
        )
    ]
    assert [
        field for field, _ in rejected_fields("localsubjectaccessreviews", path, namespace="here")
    ] == ["spec.nonResourceAttributes"]
    assert info("localsubjectaccessreviews", spec, namespace="there")["status"]["allowed"]


def test_a_selector_is_text_or_requirements_and_ignored_if_invalid() -> None:
    def spec(**selector: Any) -> dict[str, Any]:
        return {"resourceAttributes": {**MAY_GET, "labelSelector": selector}}

    where = "spec.resourceAttributes.labelSelector"
    requirements = [{"key": "a", "operator": "Exists"}]

    assert rejected_fields("selfsubjectaccessreviews", spec())[0][0] == f"{where}.requirements"
    both = rejected_fields(
        "selfsubjectaccessreviews", spec(rawSelector="a", requirements=requirements)
    )
    assert both[0][0] == f"{where}.rawSelector"
    status = info("selfsubjectaccessreviews", spec(rawSelector="!!"))["status"]
    assert status["allowed"]
    assert status["evaluationError"] == f"{where} ignored due to parse error"


def test_a_self_subject_review_returns_the_user() -> None:
    answer = info("selfsubjectreviews", {}, name="left out")

    assert answer["metadata"] == {"creationTimestamp": "2026-01-01T00:00:00Z"}
    assert answer["status"] == {
        "userInfo": {
            "username": "jane",
            "uid": "u-1",
            "groups": ["devs"],
            "extra": {"a": ["1"], "b": ["2"]},
        }
    }


def test_a_self_subject_rules_review_lists_the_users_rules() -> None:
    answer = info("selfsubjectrulesreviews", {"namespace": "here"}, name="left out")

    assert answer == {
        "kind": "Any",
        "apiVersion": "x/v1",
        "metadata": {},
        "spec": {},
        "status": {
            "resourceRules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}],
            "incomplete": False,
            "evaluationError": f'clusterrole.{GROUP} "gone" not found',
        },
    }


def test_a_token_review_returns_the_user_or_an_error() -> None:
    known = info("tokenreviews", {"token": "canary"})["status"]
    unknown = info("tokenreviews", {"token": "other"})["status"]
    elsewhere = info("tokenreviews", {"token": "canary", "audiences": ["them"]})["status"]

    assert (known["authenticated"], known["user"]["username"]) == (True, "jane")
    assert known["audiences"] == ["https://kubernetes.default.svc"]
    assert unknown == elsewhere == {"user": {}, "error": "invalid bearer token"}


@pytest.mark.parametrize(
    ("plural", "why"),
    [
        ("tokenreviews", "token is required for TokenReview in authentication"),
        ("selfsubjectrulesreviews", "no namespace on request"),
    ],
)
def test_an_empty_review_is_rejected(plural: str, why: str) -> None:
    with pytest.raises(StatusError) as raised:
        info(plural, {})

    assert (raised.value.code, raised.value.message) == (400, why)
