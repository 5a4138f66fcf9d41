"""Ends a launcher when the process that started the launcher ends.

When a test suite is killed, the programs that it started keep running. The launchers avoid this:
they watch the process that started them. The id of that process is in the environment.
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
    """While the block runs, set ``ended`` once the process that started this one has ended.

    This has no effect if the process is meant to outlive its starter, as under ``nohup`` or in a
    separate session. It also has no effect on systems that, unlike Linux, cannot report the end of
    another process.
    """
    starter = environ.get(VARIABLE, "")
    if not starter.isdigit() or _is_detached() or not hasattr(os, "pidfd_open"):
        yield
        return
    try:
        descriptor = os.pidfd_open(int(starter))
    except OSError:
        if os.getppid() != int(starter):
            ended.set()  # it has already ended
        yield
        return
    loop = asyncio.get_running_loop()

    def end() -> None:
        loop.remove_reader(descriptor)  # or it would be called again and again
        ended.set()

    loop.add_reader(descriptor, end)
    # Only now is it certain that the id is the starter's, and not that of a later process.
    if os.getppid() != int(starter):
        end()
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _is_detached() -> bool:
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN or os.getsid(0) == os.getpid()
