"""A script that cleans up after the process that started it, and then ends.

It is not meant to be imported. It leads the process group of the guarded processes, and waits until
its standard input is closed. The parent process closes this input, or the kernel does when the
parent ends, even by SIGKILL. The script does not use PR_SET_PDEATHSIG, which fires when the
starting *thread* ends, exists on Linux only, and removes no directory.
"""

import os
import shutil
import signal
import sys

# A killed process may still finish its current system call, and create one more file; it cannot
# begin another call.
REMOVALS = 3


def main(directory: str) -> None:
    """Wait until stdin is closed, then kill the process group and remove ``directory``."""
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
