"""The text of API server errors, for events and conditions. No I/O."""

from steersman.errors import ApiError, SteersmanError


def error_message(error: SteersmanError) -> str:
    """Return the message of the API server's error response, or the text of any other error."""
    return error.message if isinstance(error, ApiError) else str(error)


def is_namespace_terminating(error: SteersmanError) -> bool:
    """Return whether ``error`` rejects a create request because the namespace is being deleted.

    Controllers do not report such an error.
    """
    return isinstance(error, ApiError) and any(
        cause.reason == "NamespaceTerminating" for cause in error.causes
    )
