"""Error responses: a ``Status`` with code, reason, message and causes.

Code raises a ``StatusError``, and the server turns it into the response. The messages are those of
kube-apiserver, because some clients compare them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.field_errors import FieldError, aggregated


class StatusError(Exception):
    """An error response to a request, of which the server has written nothing."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = metadata or {}
        self.retry_after_seconds = retry_after_seconds
        if retry_after_seconds:
            details = {**(details or {}), "retryAfterSeconds": retry_after_seconds}
        # Empty details are sent as `{}`; None omits the field.
        self.details = details and {name: value for name, value in details.items() if value}
        super().__init__(f"{code} {reason}")

    def status(self) -> dict[str, Any]:
        """Return the body of the response."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def bad_request(message: str) -> StatusError:
    """An error for a request that is malformed."""
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    """An error for a request without a known user."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: GroupResource, name: str, why: str) -> StatusError:
    """An error for a request that the user has no permission for, or that is never permitted."""
    what = f'{resource} "{name}" is ' if name else f"{resource} is "
    return StatusError(403, "Forbidden", f"{what}forbidden: {why}", details=_about(resource, name))


def not_found(resource: GroupResource, name: str) -> StatusError:
    """An error for an object that does not exist."""
    return StatusError(
        404, "NotFound", f'{resource} "{name}" not found', details=_about(resource, name)
    )


def no_such_path() -> StatusError:
    """An error for a path that the server does not serve."""
    return StatusError(
        404, "NotFound", "the server could not find the requested resource", details={}
    )


def method_not_allowed(resource: GroupResource, action: str) -> StatusError:
    """An error for ``action``, which the resource does not support."""
    return StatusError(
        405,
        "MethodNotAllowed",
        f'{action} is not supported on resources of kind "{resource}"',
        details=_about(resource, ""),
    )


def not_acceptable(message: str) -> StatusError:
    """An error for a request whose Accept header excludes every available representation."""
    return StatusError(406, "NotAcceptable", message)


def already_exists(resource: GroupResource, name: str) -> StatusError:
    """An error for a new object whose name is in use."""
    return StatusError(
        409, "AlreadyExists", f'{resource} "{name}" already exists', details=_about(resource, name)
    )


def conflict(resource: GroupResource, name: str, why: str) -> StatusError:
    """An error for a write with an outdated resourceVersion, or with a failed precondition."""
    return StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {resource} "{name}": {why}',
        details=_about(resource, name),
    )


def apply_conflict(message: str, causes: Sequence[dict[str, str]]) -> StatusError:
    """An error for an apply of fields that other field managers own."""
    return StatusError(409, "Conflict", message, details={"causes": list(causes)})


def expired(message: str, *, metadata: dict[str, Any] | None = None) -> StatusError:
    """An error for a request at a revision that has been compacted."""
    return StatusError(410, "Expired", message, metadata=metadata)


def too_large(message: str) -> StatusError:
    """An error for a request body that is longer than the server accepts."""
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def unsupported_media_type(message: str) -> StatusError:
    """An error for a request body with a media type that the path does not accept."""
    return StatusError(415, "UnsupportedMediaType", message)


def invalid(group_kind: str, name: str, errors: Iterable[FieldError]) -> StatusError:
    """An error for an invalid object; ``group_kind`` is, for example, ``Deployment.apps``."""
    errors = list(errors)
    kind, _, group = group_kind.partition(".")
    message = f'{group_kind} "{name}" is invalid'
    if errors:
        message = f"{message}: {aggregated(errors)}"
    causes = [{"reason": each.type, "message": each.body, "field": each.field} for each in errors]
    details = {"name": name, "group": group, "kind": kind, "causes": causes}
    return StatusError(422, "Invalid", message, details=details)


def internal_error(message: str) -> StatusError:
    """An error for a failure of the server."""
    return StatusError(
        500,
        "InternalError",
        f"Internal error occurred: {message}",
        details={"causes": [{"message": message}]},
    )


def timeout(
    message: str, *, causes: Sequence[dict[str, str]] = (), retry_after_seconds: int = 0
) -> StatusError:
    """An error for a request that took too long, or would take too long."""
    return StatusError(
        504,
        "Timeout",
        f"Timeout: {message}",
        details={"causes": list(causes)},
        retry_after_seconds=retry_after_seconds,
    )


def _about(resource: GroupResource, name: str) -> dict[str, Any]:
    return {"name": name, "group": resource.group, "kind": resource.resource}
