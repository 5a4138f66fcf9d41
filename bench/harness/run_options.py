"""The size of a run, and its progress."""

from dataclasses import dataclass

from bench.harness.rounds import Progress

# Limits apply to at least this many rounds.
LIMIT_ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The size of a run: full or small workloads, and the number of rounds."""

    is_full: bool
    rounds: int
    progress: Progress

    @property
    def is_enforced(self) -> bool:
        """Whether the run is large enough to enforce limits."""
        return self.is_full and self.rounds >= LIMIT_ROUNDS
