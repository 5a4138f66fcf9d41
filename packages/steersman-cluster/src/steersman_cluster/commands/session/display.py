"""The display of a session of ``steersman dev``: a screen on a terminal, lines in a pipe."""

import os
import shutil
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TextIO

from steersman.view import Line, Screen, keep_shown, printable, wants_color
from steersman_cluster.commands.session.session import DevSession

# Long enough that a rollout takes a few lines instead of fifty.
PAUSE_SECONDS: Final = 0.1


async def show_on_screen(session: DevSession, out: TextIO, *, environ: Mapping[str, str]) -> None:
    """Show ``session`` on the terminal ``out`` until cancelled, and then restore the terminal."""

    def size() -> tuple[int, int]:
        return shutil.get_terminal_size()

    def lines(size: tuple[int, int]) -> tuple[Line, ...]:
        return session.state.lines(session.branches, now=session.clock.now(), size=size)

    screen = Screen(out, size=size, color=wants_color(out, environ=environ))
    with _without_echo(sys.stdin), screen:
        await keep_shown(screen, lines, changed=session.view.changed, clock=session.clock)


async def show_in_lines(session: DevSession, out: TextIO, err: TextIO) -> None:
    """Write a line for each change: of an object to ``out``, of the operator to ``err``.

    Return when the process that reads ``out`` closes the pipe.
    """
    try:
        await _write_changes(_Lines(session, out, err), session)
    except BrokenPipeError:
        # Discards the buffered output, or Python would report an error at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)


async def _write_changes(lines: "_Lines", session: DevSession) -> None:
    try:
        while True:
            await session.view.changed.wait()
            session.view.changed.clear()
            lines.write()
            await session.clock.sleep(PAUSE_SECONDS)
    finally:
        lines.write()  # the last changes


class _Lines:
    """A writer of new lines, each with the time since the start."""

    def __init__(self, session: DevSession, out: TextIO, err: TextIO) -> None:
        self._session = session
        self._out = out
        self._err = err
        self._started_at = session.clock.monotonic()
        self._phase = ""
        err.write(f"{session.state.export}\n")

    def write(self) -> None:
        session, state = self._session, self._session.state
        at = f"{session.clock.monotonic() - self._started_at:7.1f} s  "
        if (now := f"{state.phase} {state.since_time}") != self._phase:
            self._phase = now
            self._err.write(f"{at}{state.target}: {state.status()}\n")
        for text in session.output:
            self._err.write(f"{at}{text}\n")
        session.output.clear()
        self._err.flush()
        for text in session.news():
            self._out.write(f"{at}{printable(text)}\n" if text else "\n")
        self._out.flush()


@contextmanager
def _without_echo(stream: TextIO) -> Iterator[None]:
    """Disable the echo of typed characters, which would appear in the middle of the view."""
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
        # Discards typed characters, which were not meant for the shell.
        termios.tcsetattr(number, termios.TCSAFLUSH, before)
