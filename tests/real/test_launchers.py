"""The launchers handle flags as the real programs do."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from difflib import unified_diff
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from steersman.clock import SystemClock
from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.testing import (
    Binaries,
    RealControlPlane,
    find_binaries,
    running_real_control_plane,
)
from steersman_cluster.testing.calls import HttpCaller, HttpResponse

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
PODS = "/api/v1/namespaces/default/pods"

_PLACEHOLDERS = {
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"): "<time>",
    re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"): "<uid>",
    re.compile(r"(?<=kube-api-access-)\w{5}"): "<generated>",
    re.compile(r'(?<="resourceVersion":")\d+'): "<version>",
    re.compile(r"127\.0\.0\.1:\d+"): "<address>",
    re.compile(r'(?<="targetPort":)\d+'): '"<port>"',
}


def rsa_key(directory: Path) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = directory / "accounts.key"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.fixture(scope="module")
def planes(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RealControlPlane, RealControlPlane]]:
    """The real programs and the launchers, started with the same flags."""
    directory = tmp_path_factory.mktemp("flags")
    launchers = write_assets(directory / "assets", search_path="").directory
    key = rsa_key(directory)
    flags = {
        "disable-admission-plugins": "DefaultTolerationSeconds",
        "authorization-mode": "Node,RBAC",
        "anonymous-auth": "false",
        "api-audiences": "one,two",
        "service-account-issuer": "https://issuer.example",
        "service-account-key-file": key,
        "service-account-signing-key-file": key,
        "service-cluster-ip-range": "10.96.0.0/28",
        "service-node-port-range": "31000-31003",
    }
    binaries = (
        find_binaries(environ=os.environ),
        Binaries(directory=launchers, from_assets=True),
    )
    with ExitStack() as stack:
        real, embedded = (
            stack.enter_context(
                running_real_control_plane(each, clock=SystemClock(), api_server_flags=flags)
            )
            for each in binaries
        )
        yield real, embedded


def comparable(response: HttpResponse) -> Any:
    text = response.body.decode()
    for pattern, placeholder in _PLACEHOLDERS.items():
        text = pattern.sub(placeholder, text)
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text


def call_both(
    planes: tuple[RealControlPlane, RealControlPlane], method: str, path: str, body: Any = None
) -> HttpResponse:
    """The response of both servers, which must be the same."""
    responses: list[HttpResponse] = []
    for plane in planes:
        with plane.caller() as server:
            responses.append(server.call(method, path, body, accept="*/*"))
    real, embedded = map(comparable, responses)
    assert embedded == real, difference(real, embedded)
    return responses[1]


def difference(*responses: Any) -> str:
    real, embedded = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in responses)
    return "\n".join(unified_diff(real, embedded, "real", "embedded", n=8, lineterm=""))


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "image"}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def test_a_pod_needs_a_service_account_and_gets_a_token_volume(
    planes: tuple[RealControlPlane, RealControlPlane],
) -> None:
    missing = call_both(planes, "POST", PODS, pod("missing", serviceAccountName="missing"))
    assert missing.status == 403

    account = {"metadata": {"name": "robot"}, "imagePullSecrets": [{"name": "pull"}]}
    assert call_both(planes, "POST", ACCOUNTS, account).status == 201
    created = call_both(planes, "POST", PODS, pod("mounted", serviceAccountName="robot")).json()
    assert created["spec"]["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]
    assert "tolerations" not in created["spec"]

    own = [{"name": "own", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]
    mounted_elsewhere = pod(
        "elsewhere", serviceAccountName="robot", imagePullSecrets=[{"name": "mine"}]
    )
    mounted_elsewhere["spec"]["volumes"] = [{"name": "own", "emptyDir": {}}]
    mounted_elsewhere["spec"]["containers"][0]["volumeMounts"] = own
    assert call_both(planes, "POST", PODS, mounted_elsewhere).status == 201
    bare = pod("bare", serviceAccountName="robot", automountServiceAccountToken=False)
    assert call_both(planes, "POST", PODS, bare).status == 201


def test_a_service_account_can_limit_the_secrets_of_its_pods(
    planes: tuple[RealControlPlane, RealControlPlane],
) -> None:
    metadata = {
        "name": "strict",
        "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"},
    }
    account = {"metadata": metadata, "secrets": [{"name": "known"}]}
    assert call_both(planes, "POST", ACCOUNTS, account).status == 201
    for name, secret, status in (("a", "known", 201), ("b", "unknown", 403)):
        wanted = pod(name, serviceAccountName="strict")
        wanted["spec"]["containers"][0]["envFrom"] = [{"secretRef": {"name": secret}}]
        assert call_both(planes, "POST", PODS, wanted).status == status
    pulling = pod("c", serviceAccountName="strict", imagePullSecrets=[{"name": "unknown"}])
    assert call_both(planes, "POST", PODS, pulling).status == 403


def test_a_mirror_pod_has_neither_service_account_nor_secrets(
    planes: tuple[RealControlPlane, RealControlPlane],
) -> None:
    for name, spec in (
        ("account", {"serviceAccountName": "robot"}),
        ("secret", {"imagePullSecrets": [{"name": "pull"}]}),
    ):
        mirror = pod(f"mirror-{name}", nodeName="node", **spec)
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "mirror"}
        assert call_both(planes, "POST", PODS, mirror).status == 403


def test_addresses_and_ports_of_services_are_from_their_ranges(
    planes: tuple[RealControlPlane, RealControlPlane],
) -> None:
    services = "/api/v1/namespaces/default/services"
    kubernetes = call_both(planes, "GET", f"{services}/kubernetes").json()
    assert kubernetes["spec"]["clusterIP"] == "10.96.0.1"
    wanted = {
        "type": "NodePort",
        "clusterIP": "10.96.0.3",
        "ports": [{"port": 1, "nodePort": 31002}],
    }
    service = {"metadata": {"name": "within"}, "spec": wanted}
    assert call_both(planes, "POST", services, service).status == 201
    for outside in ({"clusterIP": "10.0.0.9"}, {"ports": [{"port": 1, "nodePort": 30000}]}):
        wrong = {
            "metadata": {"name": "outside"},
            "spec": {**wanted, "clusterIP": "10.96.0.4"} | outside,
        }
        assert call_both(planes, "POST", services, wrong).status == 422


def test_tokens_name_their_issuer_and_their_subject(
    planes: tuple[RealControlPlane, RealControlPlane],
) -> None:
    document = call_both(planes, "GET", "/.well-known/openid-configuration").json()
    assert document["issuer"] == "https://issuer.example"
    (key,) = call_both(planes, "GET", "/openid/v1/jwks").json()["keys"]
    assert key["alg"] == "RS256"
    # Both have the same key: each verifies the other's tokens, and lacks only the service account.
    for signer, reader in (planes, reversed(planes)):
        with signer.caller() as signer_api, reader.caller() as reader_api:
            signer_api.call("POST", ACCOUNTS, {"metadata": {"name": "signed"}})
            token = signer_api.call("POST", f"{ACCOUNTS}/signed/token", {}).json()
            assert token["spec"]["audiences"] == ["one", "two"]
            review = {"spec": {"token": token["status"]["token"]}}
            path = "/apis/authentication.k8s.io/v1/tokenreviews"
            own = signer_api.call("POST", path, review).json()["status"]
            assert (own["authenticated"], own["audiences"]) == (True, ["one", "two"])
            foreign = reader_api.call("POST", path, review).json()["status"]
            assert re.search(r"not found|does not match claim", foreign["error"])


def test_anonymous_requests_are_rejected(
    planes: tuple[RealControlPlane, RealControlPlane],
) -> None:
    responses: list[tuple[int, str]] = []
    for plane in planes:
        host, _, port = plane.url.removeprefix("https://").partition(":")
        connection = HTTPSConnection(host, int(port), context=plane._tls)
        with HttpCaller(connection, headers={}) as anonymous:
            responses.append(comparable(anonymous.call("GET", "/healthz")))

    assert responses[1] == responses[0]
    assert responses[1][0] == 401
