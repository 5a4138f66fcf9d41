"""Ends a launcher when its starter, the process that started the launcher, ends.

Without this, the launchers would keep running after their test suite is killed. The id of the
starter is in an environment variable.
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

    This has no effect if this process is meant to outlive its starter, as under ``nohup`` or in a
    separate session. It has no effect either on systems that cannot report the end of another
    process; Linux can.
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
