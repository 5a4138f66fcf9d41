"""The errors for patches that cannot be applied."""

from typing import Any

from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.go_messages import TYPE_META, cannot_unmarshal
from steersman_cluster.apiserver.meta.status_errors import StatusError

Object = dict[str, Any]


def unprocessable() -> StatusError:
    """Return the error for a patch that cannot be applied: 422, without a reason.

    kube-apiserver gives no reason for it, either.
    """
    message = "the server rejected our request due to an error in our request"
    return StatusError(422, "Invalid", message, details={})


def failed(message: str) -> StatusError:
    """Return the internal error with which kube-apiserver responds to some invalid patches."""
    return StatusError(500, "", message)


def only_an_object(patched: Any) -> Object:
    """Return ``patched`` if it is a JSON object; raise an error for any other JSON value."""
    if isinstance(patched, dict):
        return patched
    mistake = cannot_unmarshal(patched, f"value of type {TYPE_META}")
    why = f"couldn't get version/kind; json parse error: {mistake}"
    shown = field_errors.shown(patched)
    raise status_errors.invalid("", "", [field_errors.invalid("patch", shown, why)])
