"""ConversionReviews: the request to a conversion webhook, and the checks of its response."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from steersman_cluster.apiserver.meta.field_errors import FieldError, aggregated, shown
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal, go_type
from steersman_cluster.apiserver.meta.object_meta import annotation_errors, label_errors
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.webhooks import (
    WebhookResponse,
    WebhookTransport,
    WebhookUnreachable,
)
from steersman_cluster.apiserver.webhooks.addresses import WebhookAddress
from steersman_cluster.apiserver.webhooks.responses import BadResponse, check_kind, document

# The metadata that a conversion may change, and the metadata that it must preserve.
CHANGED: Final[Mapping[str, Callable[[dict[str, str]], Iterable[FieldError]]]] = {
    "labels": label_errors,
    "annotations": annotation_errors,
}
SAME: Final = (("name", "name"), ("namespace", "namespace"), ("uid", "UID"))

# kube-apiserver's timeout.
TIMEOUT_SECONDS: Final = 30.0

_GROUP: Final = "apiextensions.k8s.io"
_KIND: Final = "ConversionReview"
UNDERSTOOD: Final = ("v1", "v1beta1")

# The fields of a response and of its result, with their types in Python and in Go.
_RESPONSE: Final[Mapping[str, tuple[type, str]]] = {
    "uid": (str, "types.UID"),
    "convertedObjects": (list, "[]runtime.RawExtension"),
    "result": (dict, "v1.Status"),
}
_RESULT: Final[Mapping[str, tuple[type, str]]] = {
    "status": (str, "string"),
    "message": (str, "string"),
}


@dataclass(frozen=True, slots=True)
class ConversionFailed:
    """The error message of a conversion that failed."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionReview:
    """One ConversionReview request to convert one or more objects to ``api_version``."""

    objects: Mapping[Hashable, Object]
    api_version: str  # the desired apiVersion
    version: str  # of the review; empty if the webhook and the server have no version in common
    place: WebhookAddress

    async def send(self, outbound: WebhookTransport, *, uid: str) -> Mapping[Hashable, Any]:
        """Send the review as the request ``uid``, and return the results by the objects' keys.

        Each result is the converted object, or the error of its conversion.
        """
        try:
            converted = await self._converted(outbound, uid)
        except BadResponse as problem:
            return {
                key: ConversionFailed(f"conversion webhook for {_go_kind(obj)} {problem}")
                for key, obj in self.objects.items()
            }
        return {
            key: _checked(obj, new, self.api_version)
            for (key, obj), new in zip(self.objects.items(), converted, strict=True)
        }

    async def _converted(self, outbound: WebhookTransport, uid: str) -> list[Any]:
        if not self.version:
            raise BadResponse("failed: no supported conversion review versions")
        review = {
            "kind": _KIND,
            "apiVersion": f"{_GROUP}/{self.version}",
            "request": {
                "uid": uid,
                "desiredAPIVersion": self.api_version,
                "objects": list(self.objects.values()),
            },
            "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
        }
        try:
            delivered = await self.place.post(
                outbound, msgspec.json.encode(review), timeout_seconds=TIMEOUT_SECONDS
            )
            converted = _read(delivered, uid, self.version)
        except WebhookUnreachable as undelivered:
            raise BadResponse(f"failed: {undelivered.why}") from undelivered
        except BadResponse as problem:
            raise BadResponse(f"failed: {problem}") from problem
        if len(converted) != len(self.objects):
            raise BadResponse(f"returned {len(converted)} objects, expected {len(self.objects)}")
        return converted

    def __repr__(self) -> str:
        return f"<ConversionReview of {len(self.objects)} objects to be {self.api_version}>"


def _read(delivered: WebhookResponse, uid: str, version: str) -> list[Any]:
    """Return the converted objects of a response, without checking them."""
    review = document(delivered)
    check_kind(review, group=_GROUP, version=version, kind=_KIND)
    response = review.get("response")
    if response is not None and not isinstance(response, dict):
        where = f"struct field {_KIND}.response of type v1.ConversionResponse"
        raise BadResponse(cannot_unmarshal(response, where))
    _check_fields(response or {}, _RESPONSE, "ConversionResponse.response")
    result = (response or {}).get("result") or {}
    _check_fields(result, _RESULT, "Status.response.result")
    if version == "v1":
        group, _, own = (review.get("apiVersion") or "").rpartition("/")
        found, wanted = (
            f"{group}/{own}, Kind={review.get('kind') or ''}",
            f"{_GROUP}/v1, Kind={_KIND}",
        )
        if found != wanted:
            raise BadResponse(f"expected webhook response of {wanted}, got {found}")
    if response is None:
        raise BadResponse("no response provided")
    if version == "v1" and (given := response.get("uid") or "") != uid:
        raise BadResponse(f"expected response.uid={shown(uid)}, got {shown(given)}")
    if (status := result.get("status") or "") != "Success":
        why = f"response.result.status was '{status}', not 'Success'"
        raise BadResponse(result.get("message") or why)
    return list(response.get("convertedObjects") or ())


def _check_fields(written: Object, fields: Mapping[str, tuple[type, str]], where: str) -> None:
    for name, (wanted, called) in fields.items():
        value = written.get(name)
        if value is not None and not isinstance(value, wanted):
            field = f"struct field {where}.{name} of type {called}"
            raise BadResponse(cannot_unmarshal(value, field))


def _checked(obj: Object, converted: Any, api_version: str) -> Object | ConversionFailed:
    """Return a converted object, or ``ConversionFailed`` if the conversion is invalid."""
    if converted is None:
        return ConversionFailed("unexpected end of JSON input")
    if not isinstance(converted, dict):
        return ConversionFailed(
            cannot_unmarshal(converted, "value of type map[string]interface {}")
        )
    version, kind = _text(converted.get("apiVersion")), _text(converted.get("kind"))
    if not kind:
        return ConversionFailed(
            f"Object 'Kind' is missing in '{msgspec.json.encode(converted).decode()}'"
        )
    problem = _problem(obj, converted)
    if version != api_version:
        problem = (
            f"object at index 0: invalid groupVersion (expected {api_version}, received {version})"
        )
    elif kind != obj["kind"]:
        problem = f"object at index 0: invalid kind (expected {obj['kind']}, received {kind})"
    if problem:
        return ConversionFailed(
            f"conversion webhook for {_go_kind(obj)} returned invalid {problem}"
        )
    return converted


def _problem(obj: Object, converted: Object) -> str:
    """Return why the metadata in the response is invalid; an empty text if it is valid."""
    given = converted.get("metadata")
    about = given if isinstance(given, dict) else {}
    for name, called in SAME:
        if (was := obj["metadata"].get(name, "")) != (now := _text(about.get(name))):
            return f"object: must have the same {called}: {was} != {now}"
    for name, errors in CHANGED.items():
        if problem := _changed_problem(about.get(name), obj["metadata"].get(name), name, errors):
            return f"metadata: {problem}"
    return ""


def _changed_problem(
    now: Any, was: Any, name: str, errors: Callable[[dict[str, str]], Iterable[FieldError]]
) -> str:
    if now is None:
        return ""
    if not isinstance(now, dict):
        return f"invalid metadata.{name} of type {go_type(now)} in converted object"
    odd = next((key for key in now if not isinstance(now[key], str)), None)
    if odd is not None:
        kind = go_type(now[odd])
        return f"metadata.{name}[{odd}] must be a string, but is {kind} in converted object"
    found = [] if now == (was or {}) else list(errors(now))
    return aggregated(found) if found else ""


def _text(value: Any) -> str:
    """Return the value if it is a string, else an empty text, as Go's accessors do."""
    return value if isinstance(value, str) else ""


def _go_kind(obj: Object) -> str:
    group, _, version = obj["apiVersion"].rpartition("/")
    return f"{group}/{version}, Kind={obj['kind']}"
