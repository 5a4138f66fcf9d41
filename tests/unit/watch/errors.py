"""Sample errors of the client."""

from typing import Any

from steersman.errors import (
    ApiError,
    BadRequest,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
    TooLargeResourceVersion,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)


def answered(kind: type[ApiError], code: int, message: str = "because", **rest: Any) -> ApiError:
    """An error status returned by the server."""
    return kind(wanted="watch ConfigMap default/*", code=code, reason="", message=message, **rest)


DROPPED = Unreachable("could not watch ConfigMap default/*: the connection was lost.")
EXPIRED = answered(Expired, 410, "too old resource version")
TOO_LARGE = answered(TooLargeResourceVersion, 504, retry_after_seconds=1.0)
MISSING = answered(NotFound, 404, "the server could not find the requested resource")
FORBIDDEN = answered(
    Forbidden, 403, 'configmaps is forbidden: User "web" cannot list resource "configmaps"'
)
UNAUTHORIZED = answered(Unauthorized, 401)
UNAVAILABLE = answered(Unavailable, 503)
BUSY = answered(TooManyRequests, 429, retry_after_seconds=17.0)
BAD_REQUEST = answered(BadRequest, 400)
REFUSED_OPTION = answered(Invalid, 422, "sendInitialEvents: Forbidden")
