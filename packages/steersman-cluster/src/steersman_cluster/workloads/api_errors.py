"""Errors of the API server, as events and conditions report them. Pure."""

from steersman.errors import ApiError, SteersmanError


def error_message(error: SteersmanError) -> str:
    """The server's message, or the error's own text."""
    return error.message if isinstance(error, ApiError) else str(error)


def is_namespace_terminating(error: SteersmanError) -> bool:
    """Whether creation failed because the namespace is being deleted, which needs no report."""
    return isinstance(error, ApiError) and any(
        cause.reason == "NamespaceTerminating" for cause in error.causes
    )
