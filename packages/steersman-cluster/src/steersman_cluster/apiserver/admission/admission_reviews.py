"""AdmissionReviews: the request to a webhook, and the checks of its response."""

from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from steersman_cluster.apiserver.admission.webhook_configurations import Webhook
from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.webhooks import (
    WebhookResponse,
    WebhookTransport,
    WebhookUnreachable,
)
from steersman_cluster.apiserver.webhooks.addresses import WebhookAddress as Address
from steersman_cluster.apiserver.webhooks.responses import BadResponse, check_kind, document

_GROUP = "admission.k8s.io"
_REVIEW = "AdmissionReview"
_JSON_PATCH = "JSONPatch"
_MIN_REFUSAL = 400
# The highest status code of HTTP.
_LAST_CODE = 999

# The fields of a response, with their types in Python and in Go.
_FIELDS: Mapping[str, tuple[type, str]] = {
    "uid": (str, "types.UID"),
    "allowed": (bool, "bool"),
    "status": (dict, "v1.Status"),
    "patch": (str, "[]uint8"),
    "patchType": (str, "v1.PatchType"),
    "auditAnnotations": (dict, "map[string]string"),
    "warnings": (list, "[]string"),
}
_STATUS_FIELDS: Mapping[str, tuple[type, str]] = {
    "code": (int, "int32"),
    "details": (dict, "v1.StatusDetails"),
    "message": (str, "string"),
    "metadata": (dict, "v1.ListMeta"),
    "reason": (str, "v1.StatusReason"),
}


class CallFailed(Exception):
    """A webhook was not called, did not respond, or sent an invalid response.

    The message is worded as in kube-apiserver.
    """


class ReviewResponse(NamedTuple):
    """The uid of one AdmissionReview, and the webhook's response or the error of the call."""

    uid: str
    response: WebhookResponse | WebhookUnreachable


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionReview:
    """One AdmissionReview request to one webhook."""

    webhook: Webhook
    request: Object  # without the uid
    address: Address
    reinvocation: bool = False

    @property
    def key(self) -> Hashable:
        """The key under which the webhook's response is stored."""
        return self.webhook.identity, self.reinvocation, msgspec.json.encode(self.request)

    async def send(
        self, outbound: WebhookTransport, *, uid: str
    ) -> Mapping[Hashable, ReviewResponse]:
        """Send the review as the request ``uid``, and return the outcome under the review's key.

        A failed call is returned, too, not raised.
        """
        review = {
            "kind": "AdmissionReview",
            "apiVersion": f"{_GROUP}/{self.webhook.review_version}",
            "request": {"uid": uid, **self.request},
        }
        response: WebhookResponse | WebhookUnreachable
        try:
            response = await self.address.post(
                outbound,
                msgspec.json.encode(review),
                timeout_seconds=self.webhook.timeout_seconds,
            )
        except WebhookUnreachable as undelivered:
            response = undelivered
        return {self.key: ReviewResponse(uid, response)}

    def __repr__(self) -> str:
        return f"<AdmissionReview by {self.webhook.name}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionResponse:
    """The response of a webhook to one AdmissionReview."""

    allowed: bool
    status: Object | None = None
    warnings: list[str] = field(default_factory=list[str])
    patch: bytes = b""
    patch_type: str = ""


def response_of(received: ReviewResponse, webhook: Webhook, *, mutating: bool) -> AdmissionResponse:
    """Return the AdmissionResponse of ``webhook`` that is in ``received``, after checking it.

    Raises ``CallFailed`` if the call failed or the response is invalid.
    """
    if isinstance(received.response, WebhookUnreachable):
        raise CallFailed(f"failed to call webhook: {received.response.why}")
    try:
        review = document(received.response)
        version = webhook.review_version
        check_kind(review, group=_GROUP, version=version, kind=_REVIEW)
        response = _response(review.get("response"))
    except BadResponse as problem:
        raise CallFailed(f"failed to call webhook: {problem}") from None
    try:
        return _checked(response, review, uid=received.uid, version=version, mutating=mutating)
    except BadResponse as problem:
        raise CallFailed(f"received invalid webhook response: {problem}") from None


def _response(written: Any) -> Object | None:
    """Return ``written`` after a check of its field types.

    Raises ``BadResponse`` if a field has the wrong type.
    """
    if written is None:
        return None
    if not isinstance(written, dict):
        where = "struct field AdmissionReview.response of type v1.AdmissionResponse"
        raise BadResponse(cannot_unmarshal(written, where))
    _check_types(written, _FIELDS, "AdmissionResponse.response")
    status: Object = written.get("status") or {}
    _check_types(status, _STATUS_FIELDS, "Status.response.status")
    details: Object = status.get("details") or {}
    _check_types(
        details, {"retryAfterSeconds": (int, "int32")}, "StatusDetails.response.status.details"
    )
    warnings: list[Any] = written.get("warnings") or []
    for each in warnings:
        if not isinstance(each, str | None):
            raise _mismatch(each, "AdmissionResponse.response.warnings", "string")
    return written


def _check_types(within: Object, fields: Mapping[str, tuple[type, str]], where: str) -> None:
    for name, (wanted, called) in fields.items():
        value = within.get(name)
        is_other = not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))
        if value is not None and is_other:
            raise _mismatch(value, f"{where}.{name}", called)


def _mismatch(value: Any, where: str, called: str) -> BadResponse:
    return BadResponse(cannot_unmarshal(value, f"struct field {where} of type {called}"))


def _checked(
    response: Object | None, review: Object, *, uid: str, version: str, mutating: bool
) -> AdmissionResponse:
    if response is None:
        raise BadResponse("webhook response was absent")
    patch, patch_type = _patch(response), response.get("patchType")
    if version != "v1":
        # In v1beta1, Kubernetes does not check that the uid is that of the request.
        patch_type = _JSON_PATCH if patch else None
    else:
        _check_form(response, review, uid=uid)
        if not mutating and patch:
            raise BadResponse("validating webhook may not return response.patch")
        if not mutating and patch_type is not None:
            raise BadResponse("validating webhook may not return response.patchType")
        if patch and patch_type is None:
            raise BadResponse("webhook returned response.patch but not response.patchType")
        if not patch and patch_type is not None:
            raise BadResponse("webhook returned response.patchType but not response.patch")
        if patch_type == "":
            raise BadResponse('webhook returned invalid response.patchType of ""')
    return AdmissionResponse(
        allowed=bool(response.get("allowed")),
        status=response.get("status"),
        warnings=[each or "" for each in response.get("warnings") or ()],
        patch=patch,
        patch_type=patch_type or "",
    )


def _patch(response: Object) -> bytes:
    written = response.get("patch") or ""
    try:
        return b64decode(written, validate=True)
    except (NoBase64, ValueError):
        good = next(
            (index for index in range(len(written)) if written[index] not in _BASE64), len(written)
        )
        raise CallFailed(
            f"failed to call webhook: illegal base64 data at input byte {good}"
        ) from None


_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def _check_form(response: Object, review: Object, *, uid: str) -> None:
    if (given := response.get("uid") or "") != uid:
        raise BadResponse(f"expected response.uid={shown(uid)}, got {shown(given)}")
    group, _, version = (review.get("apiVersion") or "").rpartition("/")
    found = f"{group}/{version}, Kind={review.get('kind') or ''}"
    wanted = f"{_GROUP}/v1, Kind={_REVIEW}"
    if found != wanted:
        raise BadResponse(f"expected webhook response of {wanted}, got {found}")


def denied(webhook: Webhook, status: Object | None) -> StatusError:
    """Return the error for a write request that ``webhook`` denies.

    ``status`` is the Status in the webhook's response, if any.
    """
    status = status or {}
    details = status.get("details")
    denial = f'admission webhook "{webhook.name}" denied the request'
    why = status.get("message") or status.get("reason")
    code = status.get("code")
    return StatusError(
        code if code is not None and _MIN_REFUSAL <= code <= _LAST_CODE else _MIN_REFUSAL,
        str(status.get("reason") or ""),
        f"{denial}: {why}" if why else f"{denial} without explanation",
        details=details,
        metadata=status.get("metadata"),
        retry_after_seconds=(details or {}).get("retryAfterSeconds"),
    )
