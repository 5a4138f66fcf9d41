"""How much of the work is done."""

from dataclasses import dataclass

from bench.harness.rounds import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """All of it, in so many rounds; or just enough, once, to see that it works.

    Limits are judged only when it ``is_full``.
    """

    is_full: bool
    rounds: int
    progress: Progress
