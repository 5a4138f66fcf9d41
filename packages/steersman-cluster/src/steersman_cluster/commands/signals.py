"""Handles the signals that end a program in the foreground."""

import asyncio
import signal
from collections.abc import Callable


def on_end_signals(call: Callable[[], object]) -> None:
    """Make the running event loop call ``call`` at the signals SIGHUP, SIGINT and SIGTERM.

    If SIGHUP is ignored when this function is called, it stays ignored: ``nohup`` starts a program
    that way, so that the program outlives its terminal.
    """
    loop = asyncio.get_running_loop()
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if each is signal.SIGHUP and signal.getsignal(each) is signal.SIG_IGN:
            continue
        loop.add_signal_handler(each, call)
