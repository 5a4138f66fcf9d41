"""Threads that leave signals to the main thread."""

import signal
import threading
from typing import Final

_ENDS: Final = (signal.SIGINT, signal.SIGTERM)


def start_thread(thread: threading.Thread) -> None:
    """Start a thread to which the kernel delivers no signal that asks the process to end.

    Python handles signals in its main thread. A signal that another thread receives does not
    interrupt what the main thread waits for: where that never comes, it is not handled at all.
    """
    # A thread begins with the mask of the one that starts it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
