"""Pauses of Python's garbage collector while many objects are created."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause Python's garbage collector while the ``with`` block creates many objects.

    Use this for thousands of objects that stay in memory, such as the objects of a list. Otherwise
    the garbage collector would traverse all of these objects several times, which takes up to a
    sixth of the time of their creation. The block must not await: other tasks would create garbage
    meanwhile.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
