"""API server errors as text for events and conditions. No I/O."""

from steersman.errors import ApiError, SteersmanError


def error_message(error: SteersmanError) -> str:
    """Return the message of the server's error response, or the text of any other error."""
    return error.message if isinstance(error, ApiError) else str(error)


def is_namespace_terminating(error: SteersmanError) -> bool:
    """Return whether a create request failed because the namespace is being deleted.

    Controllers do not report this error.
    """
    return isinstance(error, ApiError) and any(
        cause.reason == "NamespaceTerminating" for cause in error.causes
    )
