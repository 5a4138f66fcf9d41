"""The notes of Kubernetes events about errors. No I/O."""

from steersman.errors import SteersmanError


def public_text(error: Exception, *, of: str) -> str:
    """Return the note of an event about an error that a function of the operator author raised.

    Everyone with read access to the namespace can read its events, and the text of an unknown error
    may contain a secret. The text of a steersman error never does.
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
