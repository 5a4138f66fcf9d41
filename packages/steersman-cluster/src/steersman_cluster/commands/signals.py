"""The signals that end a foreground program."""

import asyncio
import signal
from collections.abc import Callable


def on_end_signals(call: Callable[[], object]) -> None:
    """Call ``call`` in the running loop at SIGHUP, SIGINT and SIGTERM.

    A SIGHUP that was ignored at the start stays ignored: ``nohup`` starts programs that way, so
    that they outlive their terminal.
    """
    loop = asyncio.get_running_loop()
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if each is signal.SIGHUP and signal.getsignal(each) is signal.SIG_IGN:
            continue
        loop.add_signal_handler(each, call)
