"""What a server's no means to those who tell people of it. Pure."""

from steersman.errors import ApiError, SteersmanError


def said(error: SteersmanError) -> str:
    """What went wrong, in the server's own words if it has said anything: people look for those."""
    return error.message if isinstance(error, ApiError) else str(error)


def is_namespace_ending(error: SteersmanError) -> bool:
    """Whether nothing can be made there any more, because all that is there goes: no news."""
    return isinstance(error, ApiError) and any(
        cause.reason == "NamespaceTerminating" for cause in error.causes
    )
