"""Threads that leave signals to the main thread."""

import signal
import threading

from steersman._threads import start_thread

ENDS = {signal.SIGINT, signal.SIGTERM}


def mask() -> set[int]:
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_a_thread_receives_no_signal_to_end() -> None:
    before = mask()
    found: list[set[int]] = []
    thread = threading.Thread(target=lambda: found.append(mask()), daemon=True)

    start_thread(thread)
    thread.join()

    assert found[0] >= ENDS
    assert mask() == before
