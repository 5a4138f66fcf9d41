"""Tokens, webhook responses and annotations that cannot be decoded are rejected."""

from base64 import b64encode, urlsafe_b64encode
from typing import Any

import msgspec
import pytest

from steersman_cluster.apiserver import WebhookResponse
from tests.embedded import APPLY, EmbeddedServer, config_map
from tests.outbounds import Webhooks, allow, webhook
from tests.unit.apiserver.authn.test_account_tokens import part

MAPS = "/api/v1/namespaces/default/configmaps"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v2/namespaces/default/things"

#: As deep as the recursion limit of Python, and much deeper.
DEPTHS = (250, 900, 100_000)


def abyss(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


class Answers(Webhooks):
    """Webhooks whose responses are bytes, with the uid of the review inserted."""

    def __init__(self, answer: bytes, *, status: int = 200) -> None:
        super().__init__(one=allow)
        self.answer = answer
        self.status = status

    async def post(self, url: str, body: bytes, **more: Any) -> WebhookResponse:
        request = msgspec.json.decode(body)["request"]
        return WebhookResponse(
            self.status,
            {"content-type": "application/json"},
            self.answer.replace(b"UID", request["uid"].encode()),
        )


@pytest.mark.parametrize("issuer", [["https://kubernetes.default.svc"], {}, 7, None, True])
async def test_a_token_whose_issuer_is_not_a_string_is_unauthorized(issuer: object) -> None:
    api = EmbeddedServer()
    token = f"{part({'alg': 'RS256'})}.{part({'iss': issuer})}.{part('x')}"

    answer = await api.ask("GET", MAPS, token=token)

    assert (answer.status, answer.json["reason"]) == (401, "Unauthorized")
    assert api.observed == []


async def test_a_token_that_is_nested_too_deeply_is_unauthorized() -> None:
    api = EmbeddedServer()
    claims = urlsafe_b64encode(b'{"iss":' + abyss(100_000) + b"}").decode().rstrip("=")

    answer = await api.ask("GET", MAPS, token=f"{part({})}.{claims}.{part('x')}")

    assert (answer.status, answer.json["reason"]) == (401, "Unauthorized")
    assert api.observed == []


def version(name: str, *, storage: bool) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


DEFINITION = {
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [version("v1", storage=True), version("v2", storage=False)],
        "conversion": {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"url": "https://webhooks.example.com/one"},
                "conversionReviewVersions": ["v1"],
            },
        },
    },
}


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("depth", DEPTHS)
async def test_a_conversion_that_is_nested_too_deeply_is_an_internal_error(
    depth: int, status: int
) -> None:
    answer = (
        b'{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"UID"'
        b',"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"example.com/v2"'
        b',"kind":"Thing","metadata":{"name":"a","namespace":"default"},"spec":%b}]}}'
    )
    api = EmbeddedServer(outbound=Answers(answer % abyss(depth), status=status))
    await api.asked("POST", DEFINITIONS, DEFINITION)
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    await api.asked("POST", THINGS.replace("v2", "v1"), thing)

    got = await api.ask("GET", f"{THINGS}/a")

    assert got.status == 500
    assert got.json["message"].startswith("conversion webhook for example.com/v1, Kind=Thing")
    assert api.observed == []


def reviewed(**response: object) -> bytes:
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "UID", "allowed": True, **response},
    }
    return msgspec.json.encode(review)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("field", [b"status", b"auditAnnotations", b"warnings", b"extra"])
async def test_an_admission_response_that_is_nested_too_deeply_is_an_internal_error(
    field: bytes, depth: int
) -> None:
    answer = reviewed().replace(b'"allowed"', b'"%b":{"a":%b},"allowed"' % (field, abyss(depth)))

    await expect_failed_call(answer)


@pytest.mark.parametrize("depth", DEPTHS)
async def test_a_patch_of_a_webhook_that_is_nested_too_deeply_is_an_internal_error(
    depth: int,
) -> None:
    patch = b'[{"op":"add","path":"/data/a","value":%b}]' % abyss(depth)

    await expect_failed_call(
        reviewed(patchType="JSONPatch", patch=b64encode(patch).decode()),
        why="received undecodable patch in webhook response: exceeded max depth",
    )


async def test_a_patch_of_a_webhook_that_nests_an_object_step_by_step_is_an_internal_error() -> (
    None
):
    steps = [
        {"op": "add", "path": "/data" + "/a" * level, "value": {"a": {}}} for level in range(1, 400)
    ]
    patch = b64encode(msgspec.json.encode(steps)).decode()

    await expect_failed_call(reviewed(patchType="JSONPatch", patch=patch), why="exceeded max depth")


async def expect_failed_call(answer: bytes, *, why: str = "exceeded max depth") -> None:
    api = EmbeddedServer(outbound=Answers(answer))
    hooks = {"metadata": {"name": "some"}, "webhooks": [webhook("one")]}
    await api.asked("POST", f"{REGISTRATION}/mutatingwebhookconfigurations", hooks)

    got = await api.ask("POST", MAPS, config_map("a", a="b"))

    assert (got.status, got.json["reason"]) == (500, "InternalError")
    assert why in got.json["message"]
    assert api.observed == []


async def test_an_annotation_that_is_nested_too_deeply_does_not_fail_an_apply() -> None:
    api = EmbeddedServer()
    deep = {"kubectl.kubernetes.io/last-applied-configuration": abyss(100_000).decode()}
    about = {"name": "a", "annotations": deep}
    await api.asked("POST", MAPS, {"metadata": about, "data": {"a": "b"}})

    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    answer = await api.ask(
        "PATCH", f"{MAPS}/a?fieldManager=kubectl&force=true", applied, sends=APPLY
    )

    assert answer.status == 200
