from base64 import b64encode
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from steersman_cluster.apiserver.admission.admission_requests import request_of
from steersman_cluster.apiserver.admission.admission_reviews import (
    AdmissionResponse,
    AdmissionReview,
    CallFailed,
    ReviewResponse,
    denied,
    response_of,
)
from steersman_cluster.apiserver.admission.attributes import DELETE
from steersman_cluster.apiserver.admission.matcher import MatchedResource
from steersman_cluster.apiserver.admission.webhook_configurations import Webhook, webhooks_of
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.webhooks import WebhookResponse, WebhookUnreachable
from steersman_cluster.apiserver.webhooks.addresses import WebhookAddress as Address
from tests.outbounds import Webhooks, allow, webhook
from tests.unit.apiserver.admission.admission_requests import MAP, MAPS, request

HERE = MatchedResource(MAPS, MAP)


def a_webhook(**more: Any) -> Webhook:
    about = {"name": "some", "uid": "1", "resourceVersion": "1"}
    configuration = {"kind": "Some", "metadata": about, "webhooks": [webhook("a", **more)]}
    return webhooks_of([configuration])[0]


def response_with(document: Any, *, status: int = 200, **headers: str) -> ReviewResponse:
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return ReviewResponse("the-uid", WebhookResponse(status, headers, body))


def review(**response: Any) -> Any:
    given = {"uid": "the-uid", "allowed": True, **response}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": given}


def test_a_review_contains_the_attributes_and_omits_an_empty_namespace() -> None:
    user = User(name="ann", groups=("people",), extra={"key": ("one", "two")})
    wanted = request(obj=None, old={"a": 1}, operation=DELETE, namespace="", user=user)

    sent = request_of(wanted, HERE)

    assert sent == {
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
        "name": "a",
        "operation": "DELETE",
        "userInfo": {
            "username": "ann",
            "groups": ["people"],
            "extra": {"key": ["one", "two"]},
        },
        "object": None,
        "oldObject": {"a": 1},
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }


async def test_a_response_is_stored_under_the_key_of_its_review() -> None:
    webhooks = Webhooks(a=allow)
    review = AdmissionReview(
        webhook=a_webhook(admissionReviewVersions=["v2", "v1beta1", "v1"]),
        request=request_of(request(), HERE),
        address=Address(url="https://webhooks.example.com/a"),
    )

    known = await review.send(webhooks, uid="the-uid")

    asked = known[review.key]
    assert isinstance(asked.response, WebhookResponse)
    sent = msgspec.json.decode(asked.response.body)
    assert (asked.uid, sent["request"]["uid"]) == ("the-uid", "the-uid")
    assert sent["apiVersion"] == "admission.k8s.io/v1beta1"


def test_the_key_of_a_review_differs_between_configurations_and_requests() -> None:
    first = AdmissionReview(
        webhook=a_webhook(), request=request_of(request(), HERE), address=Address(url="https://a")
    )
    changed = replace(first.webhook, identity=("Some", "1", "2", 0))

    assert replace(first, webhook=changed).key != first.key
    assert replace(first, reinvocation=True).key != first.key
    assert replace(first, request=request_of(request(name="b"), HERE)).key != first.key


def test_every_field_of_a_response_is_decoded() -> None:
    patch = b64encode(b"[]").decode()
    sent = review(warnings=["one"], patch=patch, patchType="JSONPatch", status={"code": 7})

    verdict = response_of(response_with(sent), a_webhook(), mutating=True)

    assert verdict == AdmissionResponse(
        allowed=True,
        status={"code": 7},
        warnings=["one"],
        patch=b"[]",
        patch_type="JSONPatch",
    )


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (review(uid="x"), 'expected response.uid="the-uid", got "x"'),
        ({**review(), "response": None}, "webhook response was absent"),
        (
            {"response": {"uid": "the-uid"}},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
        (
            review(patchType="JSONPatch"),
            "webhook returned response.patchType but not response.patch",
        ),
        (review(patch="W10="), "webhook returned response.patch but not response.patchType"),
        (
            review(patch="W10=", patchType=""),
            'webhook returned invalid response.patchType of ""',
        ),
    ],
)
def test_an_inconsistent_review_is_rejected(document: Any, why: str) -> None:
    with pytest.raises(CallFailed) as raised:
        response_of(response_with(document), a_webhook(), mutating=True)

    assert str(raised.value) == f"received invalid webhook response: {why}"


@pytest.mark.parametrize("more", [{"patch": "W10="}, {"patchType": "JSONPatch"}])
def test_a_validating_webhook_cannot_return_a_patch(more: Any) -> None:
    with pytest.raises(CallFailed, match=r"validating webhook may not return response\.patch"):
        response_of(response_with(review(**more)), a_webhook(), mutating=False)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (review(allowed="yes"), "string into Go struct field AdmissionResponse.response.allowed"),
        (review(warnings=[1]), "number into Go struct field AdmissionResponse.response.warnings"),
        (
            review(status={"details": "x"}),
            "string into Go struct field Status.response.status.details of type v1.StatusDetails",
        ),
        (review(status={"code": True}), "bool into Go struct field Status.response.status.code"),
        (
            review(status={"details": {"retryAfterSeconds": "x"}}),
            "string into Go struct field StatusDetails.response.status.details.retryAfterSeconds",
        ),
        ({**review(), "response": []}, "array into Go struct field AdmissionReview.response"),
        ({"kind": "Pod", "apiVersion": "v1"}, 'no kind "Pod" is registered for version "v1"'),
        ({"kind": "Status", "apiVersion": "v1"}, r"converting \(v1.Status\) to"),
        (review(patch="!!"), "illegal base64 data at input byte 0"),
    ],
)
def test_a_document_that_is_not_a_review_is_rejected(document: Any, why: str) -> None:
    with pytest.raises(CallFailed, match=rf"^failed to call webhook: .*{why}"):
        response_of(response_with(document), a_webhook(), mutating=True)


def test_an_unreachable_webhook_is_a_failed_call() -> None:
    with pytest.raises(CallFailed, match=r"^failed to call webhook: EOF$"):
        response_of(ReviewResponse("", WebhookUnreachable("EOF")), a_webhook(), mutating=True)


def test_a_v1beta1_review_is_validated_less_strictly() -> None:
    old = a_webhook(admissionReviewVersions=["v1beta1"])
    document = {"response": {"uid": "other", "allowed": True, "patch": "W10="}}

    assert response_of(response_with(document), old, mutating=True).patch_type == "JSONPatch"


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (None, 400, "denied the request without explanation"),
        ({"message": "no", "reason": "Because"}, 400, "denied the request: no"),
        ({"reason": "Because", "code": 200}, 400, "denied the request: Because"),
        ({"message": "no", "code": 418}, 418, "denied the request: no"),
        ({"message": "no", "code": 99999}, 400, "denied the request: no"),
    ],
)
def test_a_denial_contains_the_message_of_the_webhook(status: Any, code: int, message: str) -> None:
    rejection = denied(a_webhook(), status)

    assert (rejection.code, rejection.message) == (
        code,
        f'admission webhook "a.example.com" {message}',
    )


def test_webhooks_are_called_in_the_order_of_their_configuration_names() -> None:
    def configuration(name: str, *names: str) -> Any:
        about = {"name": name, "uid": name, "resourceVersion": "1"}
        return {"kind": "Some", "metadata": about, "webhooks": [webhook(each) for each in names]}

    found = webhooks_of([configuration("late", "a"), configuration("early", "c", "b")])

    assert [each.name for each in found] == ["c.example.com", "b.example.com", "a.example.com"]
