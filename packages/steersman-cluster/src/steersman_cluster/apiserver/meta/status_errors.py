"""Every answer that is a no: a ``Status`` with code, reason, message and causes.

Working code raises one, and the server turns it into the answer. The words are those that clients
of Kubernetes know, and some of them compare.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.field_errors import FieldError, aggregated


class Refusal(Exception):
    """The request was refused; nothing was written."""

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
        # Details may be there and empty; clients get `{}` then.
        self.details = details and {name: value for name, value in details.items() if value}
        super().__init__(f"{code} {reason}")

    def status(self) -> dict[str, Any]:
        """The body of the answer."""
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


def bad_request(message: str) -> Refusal:
    """The request makes no sense."""
    return Refusal(400, "BadRequest", message)


def unauthorized() -> Refusal:
    """Nobody knows who asks."""
    return Refusal(401, "Unauthorized", "Unauthorized")


def forbidden(resource: GroupResource, name: str, why: str) -> Refusal:
    """Who asks may not, or the server never does that."""
    what = f'{resource} "{name}" is ' if name else f"{resource} is "
    return Refusal(403, "Forbidden", f"{what}forbidden: {why}", details=_about(resource, name))


def not_found(resource: GroupResource, name: str) -> Refusal:
    """There is no such object."""
    return Refusal(
        404, "NotFound", f'{resource} "{name}" not found', details=_about(resource, name)
    )


def no_such_path() -> Refusal:
    """Nothing is served there."""
    return Refusal(404, "NotFound", "the server could not find the requested resource", details={})


def method_not_allowed(resource: GroupResource, action: str) -> Refusal:
    """The kind cannot do that."""
    return Refusal(
        405,
        "MethodNotAllowed",
        f'{action} is not supported on resources of kind "{resource}"',
        details=_about(resource, ""),
    )


def not_acceptable(message: str) -> Refusal:
    """No representation that the caller accepts."""
    return Refusal(406, "NotAcceptable", message)


def already_exists(resource: GroupResource, name: str) -> Refusal:
    """The name is taken."""
    return Refusal(
        409, "AlreadyExists", f'{resource} "{name}" already exists', details=_about(resource, name)
    )


def conflict(resource: GroupResource, name: str, why: str) -> Refusal:
    """Somebody else wrote first, or a precondition does not hold."""
    return Refusal(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {resource} "{name}": {why}',
        details=_about(resource, name),
    )


def apply_conflict(message: str, causes: Sequence[dict[str, str]]) -> Refusal:
    """Other managers own what was applied."""
    return Refusal(409, "Conflict", message, details={"causes": list(causes)})


def expired(message: str, *, metadata: dict[str, Any] | None = None) -> Refusal:
    """History that far back is gone."""
    return Refusal(410, "Expired", message, metadata=metadata)


def too_large(message: str) -> Refusal:
    """The body is longer than the server takes."""
    return Refusal(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def unsupported_media_type(message: str) -> Refusal:
    """The body is in a language that this place does not speak."""
    return Refusal(415, "UnsupportedMediaType", message)


def invalid(group_kind: str, name: str, errors: Iterable[FieldError]) -> Refusal:
    """The object breaks rules; ``group_kind`` is written ``Deployment.apps``."""
    errors = list(errors)
    kind, _, group = group_kind.partition(".")
    message = f'{group_kind} "{name}" is invalid'
    if errors:
        message = f"{message}: {aggregated(errors)}"
    causes = [{"reason": each.type, "message": each.body, "field": each.field} for each in errors]
    details = {"name": name, "group": group, "kind": kind, "causes": causes}
    return Refusal(422, "Invalid", message, details=details)


def internal_error(message: str) -> Refusal:
    """The server failed."""
    return Refusal(
        500,
        "InternalError",
        f"Internal error occurred: {message}",
        details={"causes": [{"message": message}]},
    )


def timeout(
    message: str, *, causes: Sequence[dict[str, str]] = (), retry_after_seconds: int = 0
) -> Refusal:
    """It took too long, or would."""
    return Refusal(
        504,
        "Timeout",
        f"Timeout: {message}",
        details={"causes": list(causes)},
        retry_after_seconds=retry_after_seconds,
    )


def _about(resource: GroupResource, name: str) -> dict[str, Any]:
    return {"name": name, "group": resource.group, "kind": resource.resource}
