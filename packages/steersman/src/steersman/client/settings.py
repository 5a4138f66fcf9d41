"""The settings of a client, as one frozen value."""

from typing import Literal, TypedDict

import msgspec

from steersman.client.access import Impersonation
from steersman.client.request.retries import RetryPolicy


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults of every call; ``Client.with_settings`` creates a client with other settings."""

    # The API server limits ordinary requests to 60 s. For watches and followed logs, the deadline
    # applies only to the beginning of the response.
    deadline_seconds: float = 60.0

    # client-go's page size.
    page_size: int = 500

    # An object in etcd is at most 1.5 MiB by default, and a request at most 3 MiB; this is twice
    # that.
    object_limit_bytes: int = 6 * 1024 * 1024

    # The maximum size of the text of a list in memory: one page, or the part of a streamed list
    # that cannot be split into items. It is enough for 64 of the largest objects that a request may
    # create, or for a page of 500 objects with 128 KiB each. Decoding needs about three times this:
    # the text, the decoder's copy, and the objects.
    page_limit_bytes: int = 64 * 1024 * 1024

    # With the default page size five million objects, more than etcd can store.
    pages_limit: int = 10_000

    # Compression saves 95 % of the bytes and an eighth of the client's time, because the server
    # writes chunks of 2 kB. It costs the server some time.
    compress_lists: bool = True

    retry: RetryPolicy = RetryPolicy()

    # The server would silently drop an unknown field, whether it is misspelled or newer than the
    # server.
    field_validation: Literal["Strict", "Warn", "Ignore"] = "Strict"

    dry_run: bool = False
    impersonate: Impersonation | None = None
    user_agent: str = "steersman"

    def __post_init__(self) -> None:
        sizes = (
            self.page_size,
            self.object_limit_bytes,
            self.page_limit_bytes,
            self.pages_limit,
        )
        if not self.deadline_seconds > 0 or min(sizes) < 1 or not self.user_agent.isprintable():
            raise ValueError(
                f"settings must satisfy deadline_seconds > 0, page_size and limits >= 1, and a"
                f" user_agent on one line, got {self}"
            )


class SettingsChanges(TypedDict, total=False):
    """The keyword arguments of ``Client.with_settings``: any of the fields of ``ClientSettings``.

    This class exists for type checkers. A test checks that both classes have the same fields.
    """

    deadline_seconds: float
    page_size: int
    object_limit_bytes: int
    page_limit_bytes: int
    pages_limit: int
    compress_lists: bool
    retry: RetryPolicy
    field_validation: Literal["Strict", "Warn", "Ignore"]
    dry_run: bool
    impersonate: Impersonation | None
    user_agent: str
