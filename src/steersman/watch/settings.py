"""What a reflector does unless told otherwise, as one frozen value."""

from typing import Literal, TypeAlias

import msgspec

Initial: TypeAlias = Literal["listed", "streamed"]


class ReflectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a reflector lists and watches, and when it loses patience."""

    # On a quiet kind the real server's first bookmark came after 120 s, then one every 60 s: who
    # has heard nothing for longer than that is talking to nobody. ``inf``: whoever cannot be, and
    # need not look.
    silence_seconds: float = 150.0

    # The server closes a watch after this long. Long enough to be cheap; short enough that load
    # moves to a new API server within minutes of its joining. Up to as much again is added at
    # random, so that watches opened together do not end together.
    watch_seconds: float = 300.0

    # How all there is is told at first, and again after a gap: as a list, or as the first events of
    # the watch. A list, because every server has it and because it is cheaper for both sides.
    initial: Initial = "listed"

    # ``None``: all in one answer, decoded while it arrives. The server tells that from memory and
    # piece by piece (since 1.33). Pages are for servers that are older and short of memory: in a
    # quiet cluster they come from etcd, and cost the server five times as much.
    page_size: int | None = None

    # So many answers in a row that the server has not got so far, and its history was rewound.
    too_large_limit: int = 3

    # So many answers in a row that there is no such kind, and its objects are gone.
    missing_limit: int = 3

    def __post_init__(self) -> None:
        lengths = (self.silence_seconds, self.watch_seconds)
        counts = (self.too_large_limit, self.missing_limit, self.page_size or 1)
        if not all(length > 0 for length in lengths) or min(counts) < 1 or self.page_size == 0:
            raise ValueError(
                f"settings must satisfy silence_seconds > 0, watch_seconds > 0, page_size >= 1 and"
                f" limits >= 1, got {self}"
            )
        if self.initial not in ("listed", "streamed"):
            raise ValueError(f"initial must be 'listed' or 'streamed', got {self.initial!r}")
