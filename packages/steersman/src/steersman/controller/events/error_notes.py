"""What an event says of an error. Pure."""

from steersman.errors import SteersmanError


def public_text(error: Exception, *, of: str) -> str:
    """The note of an event about an error that an author's function raised.

    Everyone with read access to the namespace can read its events, and the text of an unknown error
    may hold a secret. Errors of steersman never do.
    """
    if isinstance(error, SteersmanError):
        return error_text(error)
    return f"{of} raised {type(error).__name__}; the operator's log says where and why"


def error_text(error: Exception) -> str:
    """The text of an error, if it has one."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an author's class, which must not end the worker
        return f"{type(error).__name__}, whose text cannot be read"
