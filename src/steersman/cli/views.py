"""How ``steersman dev`` is seen: on a terminal as a screen, in a pipe as lines."""

import os
import shutil
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TextIO

from steersman.cli.desk import Desk
from steersman.dashboard import Changes, Line, Screen, keep_shown, printable, wants_colour

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
    session, changed, clock = desk.session, desk.gallery.changed, desk.clock
    started_at = clock.monotonic()
    changes = Changes()
    phase = ""
    err.write(f"{session.export}\n")
    while True:
        await changed.wait()
        changed.clear()
        at = f"{clock.monotonic() - started_at:7.1f} s  "
        if (now := f"{session.phase} {session.since_time}") != phase:
            phase = now
            err.write(f"{at}{session.target}: {session.status()}\n")
        for text in desk.heard:
            err.write(f"{at}{text}\n")
        desk.heard.clear()
        err.flush()
        for text in desk.done:
            out.write(f"{at}{printable(text)}\n")
        desk.done.clear()
        for text in changes.told(desk.branches):
            out.write(f"{at}{text}\n")
        out.flush()
        await clock.sleep(PAUSE_SECONDS)


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
