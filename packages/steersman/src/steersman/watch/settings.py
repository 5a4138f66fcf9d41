"""The settings of a reflector, as one frozen value."""

from math import inf
from typing import Literal, TypeAlias

import msgspec

from steersman.errors import BadSettings

Initial: TypeAlias = Literal["listed", "streamed"]


class ReflectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a reflector: page size, timeouts and limits of its lists and watches."""

    # On a quiet kind the real server's first bookmark came after 120 s, then one every 60 s: a
    # connection that is silent for longer is dead. ``inf`` is for a server in the same process.
    silence_seconds: float = 150.0

    # The server closes a watch after this time: long enough to be cheap, short enough that a new
    # API server gets its share of the load within minutes. Up to as much again is added at random,
    # so that watches opened together do not end together.
    watch_seconds: float = 300.0

    # How all objects are read, at first and again after a gap: as a list, or as initial events of
    # the watch. A list, because every server supports it and because it is cheaper for both sides.
    initial: Initial = "listed"

    # ``None`` means the whole list in one response, which the server sends from memory and in
    # pieces (since 1.33), and which is decoded while it arrives. Pages are for older servers with
    # little memory: in a quiet cluster they come from etcd, and cost the server five times as much.
    page_size: int | None = None

    # The limit for a server's Retry-After. An overloaded server sends a few seconds; with an hour,
    # the cache would get no changes for an hour.
    max_retry_after_seconds: float = 60.0

    # The number of consecutive errors TooLarge after which the history counts as rewound.
    too_large_limit: int = 3

    # The number of consecutive 404s after which the objects of the kind count as deleted.
    missing_limit: int = 3

    def __post_init__(self) -> None:
        if not self.silence_seconds > 0:
            raise _bad(
                "silence_seconds",
                self.silence_seconds,
                "a positive number of seconds, or inf for never",
            )
        for name in ("watch_seconds", "max_retry_after_seconds"):
            seconds = getattr(self, name)
            if not 0 < seconds < inf:
                raise _bad(name, seconds, "a positive, finite number of seconds")
        for name in ("too_large_limit", "missing_limit", "page_size"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise _bad(name, count, "a number of at least 1")
        if self.initial not in ("listed", "streamed"):
            raise _bad("initial", self.initial, "'listed' or 'streamed'")


def _bad(name: str, value: object, wanted: str) -> BadSettings:
    return BadSettings(
        source=f"ReflectorSettings({name}={value!r})",
        problem=f"{name} must be {wanted}",
        what_now="Correct it, or leave it out.",
    )
