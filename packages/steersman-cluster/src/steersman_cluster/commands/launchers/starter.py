"""A launcher ends when the process that started it ends.

A test suite that is killed does not stop what it has started. The real programs then run on; these
follow the process that started them, whose id the launcher's script puts into the environment.
"""

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

VARIABLE: Final = "STEERSMAN_STARTER"


@contextmanager
def following_starter(ended: asyncio.Event, *, environ: Mapping[str, str]) -> Iterator[None]:
    """Set ``ended`` once the process has ended that started this one, while the block runs.

    Not where this one is to outlive it: started under ``nohup``, or in a session of its own. Nor
    where the system cannot tell of another process's end, as Linux can.
    """
    starter = environ.get(VARIABLE, "")
    if not starter.isdigit() or _is_detached() or not hasattr(os, "pidfd_open"):
        yield
        return
    try:
        descriptor = os.pidfd_open(int(starter))
    except OSError:
        if os.getppid() != int(starter):
            ended.set()  # it has ended already
        yield
        return
    loop = asyncio.get_running_loop()

    def end() -> None:
        loop.remove_reader(descriptor)  # it would be called again and again
        ended.set()

    loop.add_reader(descriptor, end)
    # Only now is it certain that the number is the starter's, and not that of a later process.
    if os.getppid() != int(starter):
        end()
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _is_detached() -> bool:
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN or os.getsid(0) == os.getpid()
