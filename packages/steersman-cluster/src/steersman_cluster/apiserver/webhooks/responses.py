"""Parses the response of a webhook like Go's client library, with the same error messages."""

from typing import Any

import msgspec

from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.go_messages import TYPE_META, cannot_unmarshal
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.depth import EXCEEDED, MAX_DEPTH, is_deep
from steersman_cluster.apiserver.schema.serializer.yaml_bodies import BadYaml, parse_yaml
from steersman_cluster.apiserver.webhooks import WebhookResponse

# The limit of an error message in plain text.
MAX_TEXT_BYTES = 2048

_MESSAGES = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: (
        "the server was unable to return a response in the time allotted, but may still be"
        " processing the request"
    ),
}
_STATUS = {"apiVersion": "v1", "kind": "Status", "status": "Failure"}
# The objects of a review are four levels below the top.
_MAX_REVIEW_DEPTH = MAX_DEPTH + 4
_SCHEME = "pkg/runtime/scheme.go:111"
# Status codes whose body is part of the error message.
_WITH_OWN_MESSAGE = frozenset((403, 406, 415))


class BadResponse(Exception):
    """The response of a webhook is invalid; the message is worded as in Go."""


def document(delivered: WebhookResponse) -> Object:
    """Return the object, in JSON or YAML, in the body of the response ``delivered``.

    Raises ``BadResponse`` for an error status, or if the body is not an object.
    """
    if not 200 <= delivered.status <= 206:
        raise BadResponse(_failure(delivered))
    if not delivered.body:
        content_type = delivered.headers.get("content-type") or "application/json"
        raise BadResponse(
            f"0-length response with status code: {delivered.status}"
            f" and content type: {content_type}"
        )
    try:
        found = _parsed(delivered.body)
    except BadYaml as problem:
        raise BadResponse(f"couldn't get version/kind; json parse error: {problem}") from None
    except RecursionError:
        raise _too_deep() from None
    if is_deep(found, max_depth=_MAX_REVIEW_DEPTH):
        raise _too_deep()
    if not isinstance(found, dict):
        why = cannot_unmarshal(found, f"value of type {TYPE_META}")
        raise BadResponse(f"couldn't get version/kind; json parse error: {why}")
    for name in ("apiVersion", "kind"):
        if not isinstance(found.get(name), str | None):
            why = cannot_unmarshal(found[name], f"struct field .{name} of type string")
            raise BadResponse(f"couldn't get version/kind; json parse error: {why}")
    return found


def check_kind(found: Object, *, group: str, version: str, kind: str) -> None:
    """Raise ``BadResponse`` if ``found`` is of another kind or of another API version.

    An object without an apiVersion or without a kind is accepted.
    """
    api_version, own = found.get("apiVersion") or "", found.get("kind") or ""
    if not api_version or not own or (api_version, own) == (f"{group}/{version}", kind):
        return
    if (api_version, own) == ("v1", "Status") or (
        own == kind and api_version in (f"{group}/v1", f"{group}/v1beta1")
    ):
        called = f"{api_version.rpartition('/')[2]}.{own}"
        raise BadResponse(f"converting ({called}) to ({version}.{kind}): unknown conversion")
    raise BadResponse(
        f'no kind "{own}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
    )


def _too_deep() -> BadResponse:
    return BadResponse(f"couldn't get version/kind; json parse error: {EXCEEDED}")


def _parsed(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return parse_yaml(body)[0]


def _failure(delivered: WebhookResponse) -> str:
    """Return the error message for an HTTP error, taken from the body if the body is a Status."""
    try:
        status = msgspec.json.decode(delivered.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        status = None
    if isinstance(status, dict) and _STATUS.items() <= status.items():
        return str(status.get("message") or "")
    content_type = delivered.headers.get("content-type", "")
    text = "unknown"
    if not content_type or content_type.startswith("text/"):
        text = delivered.body[:MAX_TEXT_BYTES].decode(errors="replace").strip()
    if delivered.status in _MESSAGES:
        return _MESSAGES[delivered.status]
    if delivered.status in _WITH_OWN_MESSAGE:
        return text
    if delivered.status >= 500:
        return f"an error on the server ({shown(text)}) has prevented the request from succeeding"
    return (
        f"the server responded with the status code {delivered.status}"
        " but did not return more information"
    )
