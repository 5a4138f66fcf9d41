"""Outlives the process that started it by just long enough to clean up behind it.

A script, not a module to import: it leads the process group that the guarded processes join, and
waits for its standard input to end. That happens when the starter closes it or dies, even by
SIGKILL. PR_SET_PDEATHSIG would fire when the starting *thread* ends, exists on Linux only, and
removes no directory.
"""

import os
import shutil
import signal
import sys

# A process that is being killed may still finish the system call it is in, and leave one more
# file behind; it cannot begin another.
REMOVALS = 3


def main(directory: str) -> None:
    """Wait until the other end is closed, then kill the group and remove the directory."""
    sys.stdin.buffer.read()
    group = os.getpgrp()
    if os.fork():
        # The other half, which has left the group, ends this one with the rest of it.
        signal.pause()
    os.setpgid(0, 0)
    os.killpg(group, signal.SIGKILL)
    for _ in range(REMOVALS):
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
