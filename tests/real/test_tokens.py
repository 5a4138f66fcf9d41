"""Tokens of service accounts: their claims, their users, and their lifetimes."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller
from tests.real.callers import open_caller
from tests.real.webhook_comparison import until

AUTHENTICATION = "/apis/authentication.k8s.io/v1"
ISSUER = "https://kubernetes.default.svc"
LIMITED_RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"


@pytest.fixture
def admin(control_plane: ControlPlane) -> Iterator[HttpCaller]:
    with control_plane.caller() as caller:
        yield caller


@pytest.fixture
def token_path(admin: HttpCaller, namespace: str) -> str:
    """The path of the token subresource of a service account."""
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    admin.call("POST", accounts, {"metadata": {"name": "robot"}})
    return f"{accounts}/robot/token"


def token_of(admin: HttpCaller, path: str, **spec: Any) -> str:
    response = admin.call("POST", path, {"spec": spec})
    assert response.status == 201, response.json()
    token: str = response.json()["status"]["token"]
    return token


def claims_of(token: str) -> Any:
    return json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))


def review(admin: HttpCaller, token: str, **spec: Any) -> Any:
    response = admin.call(
        "POST", f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": token, **spec}}
    )
    assert response.status == 201, response.json()
    return response.json()["status"]


def wait_for_rejection(admin: HttpCaller, token: str) -> Any:
    """The review of a revoked token. kube-apiserver caches a successful review for 10 s."""
    until(lambda: "error" in review(admin, token))
    return review(admin, token)


def bound_to(kind: str, name: str, **more: str) -> dict[str, Any]:
    return {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, **more}}


def pod(name: str, account: str) -> dict[str, Any]:
    spec = {
        "serviceAccountName": account,
        "nodeName": "missing-node",
        "containers": [{"name": "main", "image": "image"}],
    }
    return {"metadata": {"name": name}, "spec": spec}


def test_a_token_has_its_accounts_audience_and_lifetime(
    admin: HttpCaller, token_path: str, namespace: str
) -> None:
    response = admin.call("POST", token_path, {}).json()

    claims = claims_of(response["status"]["token"])
    uid = response["metadata"]["uid"]
    account = {"name": "robot", "uid": uid}
    assert claims["kubernetes.io"] == {"namespace": namespace, "serviceaccount": account}
    assert claims["sub"] == f"system:serviceaccount:{namespace}:robot"
    assert (claims["aud"], claims["iss"]) == ([ISSUER], ISSUER)
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["nbf"] == claims["iat"]
    assert response["spec"] == {
        "audiences": [ISSUER],
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    [owner] = response["metadata"]["managedFields"]
    assert owner["subresource"] == "token"
    assert owner["fieldsV1"] == {"f:spec": {"f:expirationSeconds": {}}}


def test_the_user_of_a_bound_token_is_the_account_with_the_pods_name_and_uid(
    admin: HttpCaller, token_path: str, namespace: str, control_plane: ControlPlane
) -> None:
    created = admin.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod("web", "robot")).json()
    token = token_of(admin, token_path, **bound_to("Pod", "web"))

    with open_caller(control_plane, token=token) as bearer:
        user = bearer.call("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}).json()["status"]

    claims = claims_of(token)
    assert claims["kubernetes.io"]["node"] == {"name": "missing-node"}
    assert user["userInfo"] == {
        "username": f"system:serviceaccount:{namespace}:robot",
        "uid": claims["kubernetes.io"]["serviceaccount"]["uid"],
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            "system:authenticated",
        ],
        "extra": {
            "authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"],
            "authentication.kubernetes.io/node-name": ["missing-node"],
            "authentication.kubernetes.io/pod-name": ["web"],
            "authentication.kubernetes.io/pod-uid": [created["metadata"]["uid"]],
        },
    }


def test_a_token_of_an_hour_for_a_kubelet_is_valid_for_a_year(
    admin: HttpCaller, token_path: str, namespace: str
) -> None:
    admin.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod("web", "robot"))

    claims = claims_of(
        token_of(admin, token_path, expirationSeconds=3607, **bound_to("Pod", "web"))
    )

    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


INVALID_SPECS: list[tuple[dict[str, Any], int, str]] = [
    (
        {"expirationSeconds": 599},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value:'
        " 599: may not specify a duration less than 10 minutes",
    ),
    (
        {"expirationSeconds": 2**32 + 1},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value:'
        " 4294967297: may not specify a duration larger than 2^32 seconds",
    ),
    (bound_to("Pod", "gone"), 404, 'pods "gone" not found'),
    (bound_to("Secret", "gone"), 404, 'secrets "gone" not found'),
    (bound_to("Node", "gone"), 404, 'nodes "gone" not found'),
    (bound_to("ConfigMap", "x"), 400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
    ({"boundObjectRef": {}}, 400, "cannot bind token to object of type /, Kind="),
    (
        bound_to("Pod", "other"),
        400,
        'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount'
        " name.",
    ),
    (
        bound_to("Pod", "web", uid="wrong"),
        409,
        'Operation cannot be fulfilled on Pod "web": the UID in the bound object reference (wrong)'
        " does not match the UID in record. The object might have been deleted and then recreated",
    ),
]


@pytest.mark.parametrize(("spec", "status", "message"), INVALID_SPECS)
def test_an_invalid_token_request_is_rejected(
    spec: dict[str, Any],
    status: int,
    message: str,
    admin: HttpCaller,
    token_path: str,
    namespace: str,
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    admin.call("POST", pods, pod("web", "robot"))
    admin.call("POST", pods, pod("other", "other"))

    response = admin.call("POST", token_path, {"spec": spec})

    assert (response.status, response.json()["message"]) == (status, message)


INVALID_METADATA: list[tuple[dict[str, str], int, str]] = [
    (
        {"name": "other"},
        422,
        'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value:'
        ' "other": must match the service account name if specified',
    ),
    (
        {"namespace": "other"},
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
]


@pytest.mark.parametrize(("metadata", "status", "message"), INVALID_METADATA)
def test_a_token_request_has_the_name_of_its_account_or_none(
    metadata: dict[str, str], status: int, message: str, admin: HttpCaller, token_path: str
) -> None:
    response = admin.call("POST", token_path, {"metadata": metadata})

    assert (response.status, response.json()["message"]) == (status, message)


def test_a_missing_account_has_no_token(admin: HttpCaller, token_path: str) -> None:
    response = admin.call("POST", token_path.replace("robot", "missing"), {})

    assert (response.status, response.json()["message"]) == (
        404,
        'serviceaccounts "missing" not found',
    )


def test_a_token_for_another_audience_is_rejected_by_the_server(
    admin: HttpCaller, token_path: str, control_plane: ControlPlane
) -> None:
    token = token_of(admin, token_path, audiences=["them"])

    with open_caller(control_plane, token=token) as bearer:
        response = bearer.call("POST", f"{AUTHENTICATION}/selfsubjectreviews", {})

    assert response.status == 401
    assert review(admin, token) == {
        "user": {},
        "error": '[invalid bearer token, token audiences ["them"] is invalid for the target'
        f' audiences ["{ISSUER}"]]',
    }
    for_audience = review(admin, token, audiences=["them", "us"])
    assert (for_audience["authenticated"], for_audience["audiences"]) == (True, ["them"])


def test_a_token_is_invalid_after_the_deletion_of_its_bound_object(
    admin: HttpCaller, token_path: str, namespace: str
) -> None:
    secrets = f"/api/v1/namespaces/{namespace}/secrets"
    admin.call("POST", secrets, {"metadata": {"name": "key"}})
    token = token_of(admin, token_path, **bound_to("Secret", "key"))

    admin.call("DELETE", f"{secrets}/key")

    assert wait_for_rejection(admin, token) == {
        "user": {},
        "error": "[invalid bearer token, service account token has been invalidated]",
    }


def test_a_token_of_a_deleted_or_recreated_account_is_invalid(
    admin: HttpCaller, token_path: str, control_plane: ControlPlane
) -> None:
    first, second, third = (token_of(admin, token_path) for _ in range(3))
    account = token_path.removesuffix("/token")

    admin.call("DELETE", account)
    deleted = wait_for_rejection(admin, first)
    with open_caller(control_plane, token=third) as bearer:
        response = bearer.call("POST", f"{AUTHENTICATION}/selfsubjectreviews", {})
    admin.call("POST", account.removesuffix("/robot"), {"metadata": {"name": "robot"}})
    recreated = review(admin, second)

    assert response.status == 401
    assert deleted["error"] == '[invalid bearer token, serviceaccounts "robot" not found]'
    assert "does not match claim" in recreated["error"]


def test_a_modified_token_is_invalid(admin: HttpCaller, token_path: str) -> None:
    head, claims, signature = token_of(admin, token_path).split(".")
    other = "A" if signature[0] != "A" else "B"

    changed = review(admin, f"{head}.{claims}.{other}{signature[1:]}")
    made_up = review(admin, "a.b.c")

    failure = "go-jose/go-jose: error in cryptographic primitive"
    assert changed == {"user": {}, "error": f"[invalid bearer token, {failure}]"}
    assert made_up == {"user": {}, "error": "invalid bearer token"}


def test_a_token_review_returns_the_user(admin: HttpCaller, control_plane: ControlPlane) -> None:
    credentials = control_plane.credentials

    assert review(admin, credentials.limited_token) == {
        "authenticated": True,
        "user": {"username": "limited", "uid": "limited", "groups": ["system:authenticated"]},
        "audiences": [ISSUER],
    }
    assert review(admin, credentials.limited_token, audiences=["them"]) == {
        "user": {},
        "error": "invalid bearer token",
    }


def test_a_token_review_without_a_token_is_rejected(admin: HttpCaller) -> None:
    response = admin.call("POST", f"{AUTHENTICATION}/tokenreviews", {})

    assert (response.status, response.json()["message"]) == (
        400,
        "token is required for TokenReview in authentication",
    )


def test_a_client_certificate_takes_precedence_over_a_token(control_plane: ControlPlane) -> None:
    for token in (control_plane.credentials.limited_token, "unknown-token", None):
        with open_caller(control_plane, token=token, certificate=True) as caller:
            response = caller.call("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}).json()

        assert response["status"]["userInfo"]["username"] == "certificate"


HEADERS = [("Basic {}", None), ("{}", None), ("Bearer", None), ("Bearer  {}", None),
           ("bearer {}", "limited"), ("Bearer {} more", "limited")]  # fmt: skip


@pytest.mark.parametrize(("header", "user"), HEADERS)
def test_a_header_without_a_token_is_anonymous(
    header: str, user: str | None, control_plane: ControlPlane
) -> None:
    headers = {"Authorization": header.format(control_plane.credentials.limited_token)}

    with open_caller(control_plane, headers=headers) as caller:
        response = caller.call("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}).json()

    if user is None:
        assert 'User "system:anonymous" cannot create' in response["message"]
    else:
        assert response["status"]["userInfo"]["username"] == user


def test_a_rules_review_contains_the_rules_of_all_users(control_plane: ControlPlane) -> None:
    with open_caller(control_plane, token=control_plane.credentials.limited_token) as caller:
        response = caller.call("POST", LIMITED_RULES, {"spec": {"namespace": "default"}}).json()
        without_namespace = caller.call("POST", LIMITED_RULES, {}).json()

    assert (response["metadata"], response["spec"]) == ({}, {})
    assert response["status"]["incomplete"] is False
    assert response["status"]["resourceRules"] == [
        {
            "verbs": ["create"],
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        },
        {
            "verbs": ["create"],
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"],
        },
    ]
    urls = [each["nonResourceURLs"] for each in response["status"]["nonResourceRules"]]
    assert ["/healthz", "/livez", "/readyz", "/version", "/version/"] in urls
    assert without_namespace["message"] == "no namespace on request"
