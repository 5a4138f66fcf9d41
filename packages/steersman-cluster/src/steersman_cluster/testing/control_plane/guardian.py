"""Cleans up after the process that started it, and then ends.

This is a script, not a module to import. It leads the process group of the guarded processes and
waits until its standard input is closed. That happens when the parent process closes it or dies,
even by SIGKILL. PR_SET_PDEATHSIG is not used: it fires when the starting *thread* ends, exists on
Linux only, and removes no directory.
"""

import os
import shutil
import signal
import sys

# A killed process may still finish its current system call, and create one more file; it cannot
# begin another call.
REMOVALS = 3


def main(directory: str) -> None:
    """Wait until the input is closed, then kill the group and remove the directory."""
    sys.stdin.buffer.read()
    group = os.getpgrp()
    if os.fork():
        # The child, which has left the group, also ends this process with the group.
        signal.pause()
    os.setpgid(0, 0)
    os.killpg(group, signal.SIGKILL)
    for _ in range(REMOVALS):
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
