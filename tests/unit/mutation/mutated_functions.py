"""Functions that ``test_patched_functions`` changes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


def added(number: int) -> int:
    return number + 1


@contextmanager
def opened() -> Iterator[str]:
    yield "open"


def counter(start: int) -> Callable[[], int]:
    def count() -> int:
        return start

    return count


count_from_two = counter(2)
