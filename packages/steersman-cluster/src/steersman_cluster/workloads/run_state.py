"""State that a controller keeps in memory between reconciles."""

from collections.abc import Callable
from random import Random
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerRun(Generic[T]):
    """A container with a separate state for each time that a controller is run.

    The same ``Controller`` can be run again after a crash, or in another simulated cluster. Each
    run has its own random generator, which identifies the run.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of_runs: WeakKeyDictionary[Random, T] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._of_runs)

    def of(self, run: Random) -> T:
        """Return the state of the run that has this random generator."""
        found = self._of_runs.get(run)
        if found is None:
            found = self._of_runs[run] = self._make()
        return found
