"""How patches are refused."""

from typing import Any

from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.go_messages import TYPE_META, cannot_unmarshal
from steersman_cluster.apiserver.meta.status_errors import StatusError

Object = dict[str, Any]


def unprocessable() -> StatusError:
    """The patch does not apply to this object; the server never says why."""
    message = "the server rejected our request due to an error in our request"
    return StatusError(422, "Invalid", message, details={})


def failed(message: str) -> StatusError:
    """The patch makes no sense, and the server did not expect that."""
    return StatusError(500, "", message)


def only_an_object(patched: Any) -> Object:
    """What came out of a patch, which may have replaced the whole document."""
    if isinstance(patched, dict):
        return patched
    mistake = cannot_unmarshal(patched, f"value of type {TYPE_META}")
    why = f"couldn't get version/kind; json parse error: {mistake}"
    shown = field_errors.shown(patched)
    raise status_errors.invalid("", "", [field_errors.invalid("patch", shown, why)])
