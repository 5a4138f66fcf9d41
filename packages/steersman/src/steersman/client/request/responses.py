"""Converts an unsuccessful response to the corresponding error. No I/O."""

import re
from typing import Final

import msgspec

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

_BY_CODE: Final[dict[int, type[ApiError]]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    409: Conflict,
    410: Expired,
    422: Invalid,
    429: TooManyRequests,
    503: Unavailable,
    504: ServerTimeout,
}


# A longer time is treated as a mistake: no API server is unavailable that long on purpose. Callers
# have lower limits.
MAX_RETRY_AFTER_SECONDS: Final = 3600.0


class _Cause(msgspec.Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class _Details(msgspec.Struct, rename="camel"):
    uid: str = ""
    causes: tuple[_Cause, ...] | None = None
    retry_after_seconds: int | None = None


class Status(msgspec.Struct, rename="camel"):
    """The ``Status`` object by which the API server describes a failure."""

    kind: str = ""
    status: str = ""
    code: int | None = None
    reason: str = ""
    message: str = ""
    details: _Details | None = None


_STATUS = msgspec.json.Decoder(Status)

# An API server sends two words (404 page not found) for every path that it does not serve.
_UNKNOWN_PATH: Final = (
    "it does not serve this resource. Check whether its CustomResourceDefinition is missing"
)

# The server quotes invalid values, which may be a Secret's data: for a patch the resulting object,
# for a strategic merge patch the invalid map, for an apply the value.
_REPEATED: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r'(patch: Invalid value): "(?:[^"\\]|\\.)*"',
        r"(\bmap): map\[.*\]",
        r"(: expected \w+), got .*",
    )
)


def read_status(body: bytes | msgspec.Raw) -> Status | None:
    """Return the ``Status`` in ``body``; ``None`` if ``body`` contains another object or none."""
    try:
        status = _STATUS.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return status if status.kind == "Status" else None


def error_from(
    wanted: str, *, code: int, body: bytes | msgspec.Raw, retry_after: str | None = None
) -> SteersmanError:
    """Return the error for an unsuccessful response with ``code`` and ``body``.

    ``wanted`` describes the request, and ``retry_after`` is the response's Retry-After header.
    """
    if 300 <= code < 400:
        return InvalidResponse(
            wanted=wanted,
            problem=f"the server responded with {code}, a redirect, which the client does not"
            " follow",
            what_now="Use the final address of the API server in the configuration.",
        )
    status = read_status(body)
    if status is None:
        # The response of a load balancer or proxy may be a whole HTML page.
        return _error(
            wanted,
            code,
            reason="",
            message=_UNKNOWN_PATH if code == 404 else "no explanation",
            retry_after=_seconds(retry_after),
        )
    details = status.details or _Details()
    seconds = _seconds(retry_after)
    return _error(
        wanted,
        # The status code of a watch stream is 200; the code of the error is in the Status.
        status.code or code,
        reason=status.reason,
        message=_without_values(status.message) or "no explanation",
        causes=tuple(_cause(each) for each in details.causes or ()),
        retry_after=seconds
        if seconds is not None
        else _bounded(details.retry_after_seconds or None),
        uid=details.uid,
    )


def _error(
    wanted: str,
    code: int,
    *,
    reason: str,
    message: str,
    causes: tuple[Cause, ...] = (),
    retry_after: float | None,
    uid: str = "",
) -> ApiError:
    kind = _BY_CODE.get(code, ServerFailed if code >= 500 else ApiError)
    if reason == "AlreadyExists":
        kind = AlreadyExists
    elif any(cause.reason == "ResourceVersionTooLarge" for cause in causes):
        kind = TooLargeResourceVersion
    return kind(
        wanted=wanted,
        code=code,
        reason=reason,
        message=message,
        causes=causes,
        retry_after_seconds=retry_after,
        uid=uid,
    )


def _cause(each: _Cause) -> Cause:
    # Field and message together, because the patterns depend on the field.
    message = _without_values(f"{each.field}: {each.message}").removeprefix(f"{each.field}: ")
    return Cause(reason=each.reason, message=message, field=each.field)


def _without_values(message: str) -> str:
    for repeated in _REPEATED:
        message = repeated.sub(r"\1", message)
    return message


def _seconds(retry_after: str | None) -> float | None:
    # HTTP also permits a date, but API servers send seconds, and a date cannot be compared with the
    # local clock.
    if not retry_after or not retry_after.isdecimal():
        return None
    # The length is checked first: int() rejects thousands of digits.
    return _bounded(MAX_RETRY_AFTER_SECONDS if len(retry_after) > 9 else int(retry_after))


def _bounded(seconds: float | None) -> float | None:
    if seconds is None or seconds < 0:
        return None
    # Limited before the conversion to float, because the integer may have any number of digits.
    return float(min(seconds, MAX_RETRY_AFTER_SECONDS))
