"""The error for each response."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.client.request.responses import error_from, read_status
from steersman.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    InvalidResponse,
    MethodNotAllowed,
    NotFound,
    ServerFailed,
    ServerTimeout,
    SteersmanError,
    TooLargeResourceVersion,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)

WANTED = "get Pod default/web"


def status(code: int, reason: str = "", message: str = "because", **details: object) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Status",
            "metadata": {},
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
            "details": details or None,
        }
    )


def api_error(code: int, body: bytes, retry_after: str | None = None) -> ApiError:
    error = error_from(WANTED, code=code, body=body, retry_after=retry_after)
    assert isinstance(error, ApiError)
    return error


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, BadRequest),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (405, MethodNotAllowed),
        (406, ApiError),
        (409, Conflict),
        (410, Expired),
        (413, ApiError),
        (415, ApiError),
        (422, Invalid),
        (429, TooManyRequests),
        (500, ServerFailed),
        (502, ServerFailed),
        (503, Unavailable),
        (504, ServerTimeout),
        (507, ServerFailed),
    ],
)
@pytest.mark.parametrize("explained", [True, False])
def test_each_code_has_its_error(code: int, kind: type[ApiError], explained: bool) -> None:
    body = status(code) if explained else b""

    error = api_error(code, body)

    assert type(error) is kind
    assert error.code == code


def test_a_conflict_over_an_existing_name_is_already_exists() -> None:
    assert type(api_error(409, status(409, "AlreadyExists"))) is AlreadyExists
    assert type(api_error(409, status(409, "Conflict"))) is Conflict


def test_a_resource_version_that_is_too_large_is_not_a_timeout() -> None:
    behind = status(
        504,
        "Timeout",
        "Too large resource version: 9, current: 8",
        causes=[{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        retryAfterSeconds=1,
    )

    error = api_error(504, behind)

    assert type(error) is TooLargeResourceVersion
    assert error.retry_after_seconds == 1


def test_an_error_has_the_fields_of_the_status_as_attributes() -> None:
    body = status(
        422,
        "Invalid",
        "Pod is invalid.",
        uid="u-1",
        causes=[
            {"reason": "FieldValueInvalid", "message": "too small", "field": "spec.size"},
            {"message": "odd"},
        ],
    )

    error = api_error(422, body)

    assert (error.wanted, error.code, error.reason) == (WANTED, 422, "Invalid")
    assert error.message == "Pod is invalid."
    assert error.uid == "u-1"
    assert error.causes == (
        Cause(reason="FieldValueInvalid", message="too small", field="spec.size"),
        Cause(reason="", message="odd"),
    )
    assert str(error) == (
        "could not get Pod default/web: the server responded with 422 Invalid: Pod is invalid."
        " Change the fields named above."
    )


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body><h1>502 Bad Gateway</h1></body></html>",
        b"",
        b"null",
        b"[]",
        b'{"kind": "Status", "message": 7}',
        b'{"error": "no healthy upstream"}',
        b'{"kind": "Status", "message": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_a_response_that_is_not_a_status_is_not_quoted(body: bytes) -> None:
    error = api_error(502, body)

    assert type(error) is ServerFailed
    assert error.message == "no explanation"
    assert str(error).startswith(
        "could not get Pod default/web: the server responded with 502: no explanation."
    )


# Messages of a real API server; the canary stands for the submitted or stored value.
REPEATING = {
    "an object": (
        r' "" is invalid: patch: Invalid value: "{\"data\":{\"k\":\"canary\",\"o\":\"a\\\"b\"}}":'
        " illegal base64 data at input byte 3",
        ' "" is invalid: patch: Invalid value: illegal base64 data at input byte 3',
    ),
    "an object and a field": (
        r' "" is invalid: patch: Invalid value: "{\"data\":{\"k\":\"canary\"},\"dataa\":{}}":'
        ' strict decoding error: unknown field "dataa"',
        ' "" is invalid: patch: Invalid value: strict decoding error: unknown field "dataa"',
    ),
    "a value": (
        "failed to create typed patch object (/key; /v1, Kind=Secret): .data: expected map,"
        " got &{canary}",
        "failed to create typed patch object (/key; /v1, Kind=Secret): .data: expected map",
    ),
    "several values": (
        "failed to create typed patch object (/key; /v1, Kind=Secret): errors:\n"
        "  .stringData.a: expected string, got &value.valueUnstructured{Value:7}\n"
        '  .stringData.b: expected string, got &value.valueUnstructured{Value:"canary"}',
        "failed to create typed patch object (/key; /v1, Kind=Secret): errors:\n"
        "  .stringData.a: expected string",
    ),
    "a map": (
        "unknown patch type: x in map: map[$patch:x k:canary] l:canary]",
        "unknown patch type: x in map",
    ),
    "a map without a key": (
        "map: map[env:[map[name:a value:canary]] image:x] does not contain declared merge key:"
        " name",
        "map does not contain declared merge key: name",
    ),
}


@pytest.mark.parametrize(("said", "shown"), REPEATING.values(), ids=REPEATING.keys())
def test_values_of_an_object_are_removed_from_a_message(said: str, shown: str) -> None:
    field, _, message = said.removeprefix(' "" is invalid: ').partition(": ")
    body = status(422, "Invalid", said, causes=[{"field": field, "message": message}])

    error = api_error(422, body)

    assert error.message == shown
    assert "canary" not in f"{error!r} {error} {error.causes}"


@pytest.mark.parametrize(
    "message",
    [
        'spec.size: Invalid value: "three": must be a number',
        'Secret "key" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist',
        "json: cannot unmarshal array into Go struct field Secret.data of type map[string][]uint8",
        'Apply failed with 1 conflict: conflict with "them": .data.color',
    ],
)
def test_messages_about_a_field_are_kept(message: str) -> None:
    assert api_error(422, status(422, "Invalid", message)).message == message


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_error(code: int) -> None:
    error = error_from(WANTED, code=code, body=b"<a href='https://elsewhere'>")

    assert isinstance(error, InvalidResponse)
    assert "a redirect" in str(error)
    assert "elsewhere" not in str(error)


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [
        (None, {}, None),
        ("7", {}, 7.0),
        ("0", {}, 0.0),
        (None, {"retryAfterSeconds": 3}, 3.0),
        (None, {"retryAfterSeconds": 0}, None),
        ("7", {"retryAfterSeconds": 3}, 7.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", {"retryAfterSeconds": 3}, 3.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", {}, None),
        ("-1", {}, None),
        ("soon", {}, None),
        ("3600", {}, 3600.0),
        ("3601", {}, 3600.0),
        ("9" * 400, {}, 3600.0),
        ("9" * 10_000, {}, 3600.0),
        (None, {"retryAfterSeconds": 10**300}, 3600.0),
        (None, {"retryAfterSeconds": -5}, None),
    ],
)
def test_retry_after_is_read_from_the_header_or_the_details(
    header: str | None, details: dict[str, Any], seconds: float | None
) -> None:
    error = api_error(429, status(429, "TooManyRequests", **details), header)

    assert error.retry_after_seconds == seconds


def test_the_code_in_a_status_overrides_that_of_the_response() -> None:
    assert type(api_error(500, status(410, "Expired"))) is Expired


def test_an_object_is_not_a_status() -> None:
    assert read_status(b'{"kind": "Pod", "status": {"phase": "Running"}}') is None
    assert read_status(b'{"kind": "Pod"}') is None


@given(code=st.integers(300, 599), body=st.binary() | st.text().map(str.encode))
def test_any_response_becomes_a_typed_error(code: int, body: bytes) -> None:
    assert isinstance(error_from(WANTED, code=code, body=body), SteersmanError)
