"""The settings of a client, as one frozen value."""

from typing import Literal, TypedDict

import msgspec

from steersman.client.access import Impersonation
from steersman.client.request.retries import RetryPolicy


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults of every call; ``Client.adjusted`` creates a client with other settings."""

    # No API server takes longer over a well-behaved request than this: its own limit is 60 s. Of
    # what needs more, the deadline is for the beginning: watches, and logs that are followed.
    deadline_seconds: float = 60.0

    # client-go's page size: large enough for few round trips, small enough for the server.
    page_size: int = 500

    # An object in etcd is at most 1.5 MiB unless someone raised the limit; twice a request's 3 MiB.
    object_limit_bytes: int = 6 * 1024 * 1024

    # As much of a list is held as text at a time: a page, or, of a list that is decoded while it
    # arrives, what does not come apart into items. Sixty-four of the largest objects that a request
    # may create, or a page of 500 with 128 KiB each. It is there about three times while it is
    # decoded: as text, as the copy that the decoder reads, and as objects.
    page_limit_bytes: int = 64 * 1024 * 1024

    # With the usual page size five million objects, more than etcd holds.
    pages_limit: int = 10_000

    # A twentieth of the bytes, and an eighth less of our time: the server writes in pieces of 2 kB,
    # and each of them is a chunk to read. It costs the server some.
    compress_lists: bool = True

    retry: RetryPolicy = RetryPolicy()

    # A field that the server does not know is a mistake, or an older server; either way it would
    # be lost without a word.
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
    """The keyword arguments of ``Client.adjusted``: any of the fields of ``ClientSettings``.

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
