"""The embedded server, asked in-process."""

from contextlib import AbstractContextManager

from tests.real.differential.story import Server


def embedded() -> AbstractContextManager[Server]:
    """An embedded server that nobody has asked anything yet."""
    raise NotImplementedError("there is no embedded server yet")
