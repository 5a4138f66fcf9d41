"""The ``note`` field of Kubernetes events about errors. No I/O."""

from steersman.errors import SteersmanError


def public_text(error: Exception, *, of: str) -> str:
    """Return the ``note`` of an event about an error that a function of the operator author raised.

    Everyone with read access to the namespace can read its events. The text of a steersman error
    contains no secret and is returned. The text of any other error may contain one, so only the
    error's class is returned.
    """
    if isinstance(error, SteersmanError):
        return error_text(error)
    return f"{of} raised {type(error).__name__}; the operator's log says where and why"


def error_text(error: Exception) -> str:
    """Return the text of an error, or its class name if the text cannot be read."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an author's class, which must not end the worker
        return f"{type(error).__name__}, whose text cannot be read"
