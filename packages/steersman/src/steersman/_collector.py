"""Python's collector of garbage, which looks at everything again and again while much is made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Let it rest while thousands of objects are made that stay, such as those of a list.

    To look for garbage among them takes up to a sixth as long as to make them. For work that waits
    for nobody: others would make garbage meanwhile.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
