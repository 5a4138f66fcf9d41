"""How ``steersman dev`` is seen: on a terminal as a screen, in a pipe as lines."""

import os
import shutil
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TextIO

from steersman.cli.desk import Desk
from steersman.dashboard import Line, Screen, keep_shown, printable, wants_colour

# Long enough that a rollout is a few lines and not fifty.
PAUSE_SECONDS: Final = 0.1


async def show_on_screen(desk: Desk, out: TextIO, *, environ: Mapping[str, str]) -> None:
    """Show the session on the terminal until cancelled; then the terminal is as it was."""

    def size() -> tuple[int, int]:
        return shutil.get_terminal_size()

    def lines(size: tuple[int, int]) -> tuple[Line, ...]:
        return desk.session.lines(desk.branches, now=desk.clock.now(), size=size)

    screen = Screen(out, size=size, colour=wants_colour(out, environ=environ))
    with _without_echo(sys.stdin), screen:
        await keep_shown(screen, lines, changed=desk.gallery.changed, clock=desk.clock)


async def show_in_lines(desk: Desk, out: TextIO, err: TextIO) -> None:
    """A line for each change: of objects to ``out``, of the operator itself to ``err``.

    Ends when nobody reads them any more.
    """
    try:
        await _tell_each_change(desk, out, err)
    except BrokenPipeError:
        # What is still to be written goes nowhere, or Python would complain of that at its end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)


async def _tell_each_change(desk: Desk, out: TextIO, err: TextIO) -> None:
    telling = _Telling(desk, out, err)
    err.write(f"{desk.session.export}\n")
    try:
        while True:
            await desk.gallery.changed.wait()
            desk.gallery.changed.clear()
            telling.tell()
            await desk.clock.sleep(PAUSE_SECONDS)
    finally:
        telling.tell()  # what happened last


class _Telling:
    """What is new, each line with the time since the beginning."""

    def __init__(self, desk: Desk, out: TextIO, err: TextIO) -> None:
        self._desk = desk
        self._out = out
        self._err = err
        self._started_at = desk.clock.monotonic()
        self._phase = ""

    def tell(self) -> None:
        session = self._desk.session
        at = f"{self._desk.clock.monotonic() - self._started_at:7.1f} s  "
        if (now := f"{session.phase} {session.since_time}") != self._phase:
            self._phase = now
            self._err.write(f"{at}{session.target}: {session.status()}\n")
        for text in self._desk.heard:
            self._err.write(f"{at}{text}\n")
        self._desk.heard.clear()
        self._err.flush()
        for text in self._desk.news():
            self._out.write(f"{at}{printable(text)}\n" if text else "\n")
        self._out.flush()


@contextmanager
def _without_echo(stream: TextIO) -> Iterator[None]:
    """What is typed meanwhile would stand in the middle of the view."""
    if not stream.isatty():
        yield
        return
    number = stream.fileno()
    before = termios.tcgetattr(number)
    quiet = [*before]
    quiet[3] = before[3] & ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(number, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        # With what was typed thrown away: it was not meant for the shell.
        termios.tcsetattr(number, termios.TCSAFLUSH, before)
