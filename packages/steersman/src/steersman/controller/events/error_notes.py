"""The ``note`` field of Kubernetes events about errors. No I/O."""

from steersman.errors import SteersmanError


def public_text(error: Exception, *, of: str) -> str:
    """Return the ``note`` of a Kubernetes event about ``error``.

    ``error`` was raised by a function of the operator author; ``of`` describes the function.
    Everyone with read access to the namespace can read its events. The text of a steersman error
    contains no secret and is included. The text of any other error may contain a secret, so only
    the class of such an error is included.
    """
    if isinstance(error, SteersmanError):
        return error_text(error)
    return f"{of} raised {type(error).__name__}; see the operator's log"


def error_text(error: Exception) -> str:
    """Return the text of ``error``, or a text with its class name if ``str(error)`` fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an author's class, which must not end the worker
        return f"{type(error).__name__} without a readable text"
