"""How much of the work is done."""

from dataclasses import dataclass

from bench.harness.rounds import Progress

# What is promised, is promised of the median of so many.
PROMISED_ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """All of it, in so many rounds; or just enough, once, to see that it works.

    Limits are judged only when all of it is done, in as many rounds as promised.
    """

    is_full: bool
    rounds: int
    progress: Progress

    @property
    def is_judged(self) -> bool:
        """Whether it is enough for a verdict."""
        return self.is_full and self.rounds >= PROMISED_ROUNDS
