"""What a controller remembers from one look to the next, and takes with it when it ends."""

from collections.abc import Callable
from random import Random
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerRun(Generic[T]):
    """A memory for each run of a controller.

    A controller is a value, and may be run again after a crash, or in another world. What tells
    the runs apart is their source of chance, of which each has its own.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of_runs: WeakKeyDictionary[Random, T] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._of_runs)

    def of(self, run: Random) -> T:
        """The memory of this run."""
        found = self._of_runs.get(run)
        if found is None:
            found = self._of_runs[run] = self._make()
        return found
