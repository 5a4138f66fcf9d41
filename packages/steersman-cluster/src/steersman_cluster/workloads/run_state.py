"""State that a controller stores in memory between two reconciles."""

from collections.abc import Callable
from random import Random
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerRun(Generic[T]):
    """A container with a separate state for each execution of a controller.

    The same ``Controller`` can be executed again after a crash, or in another simulated cluster.
    Each execution has its own random generator, by which the state is found.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of_runs: WeakKeyDictionary[Random, T] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._of_runs)

    def of(self, run: Random) -> T:
        """Return the state for the execution that has the random generator ``run``."""
        found = self._of_runs.get(run)
        if found is None:
            found = self._of_runs[run] = self._make()
        return found
