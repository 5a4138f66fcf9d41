"""What an event says of an error. Pure."""

from steersman.errors import SteersmanError


def in_public(error: Exception, *, of: str) -> str:
    """What an event says of an error that a function of the author's raised.

    Anyone who may read the namespace reads its events, and nobody knows what the text of somebody
    else's error holds. What steersman raises never holds a secret.
    """
    if isinstance(error, SteersmanError):
        return text_of(error)
    return f"{of} raised {type(error).__name__}; the operator's log says where and why"


def text_of(error: Exception) -> str:
    """What an error says, if it can."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an author's class, and it must not end the worker
        return f"an error of {type(error).__name__} that cannot be shown"
