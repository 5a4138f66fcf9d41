"""Lines on a terminal: as many as fit, with only the changed lines redrawn.

The lines are drawn on the terminal's alternate screen, so that the previous contents of the
terminal are visible again at the end.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from steersman.clock import Clock
from steersman.view.lines import Line, Tone, cut, text_of

# Five times a second: faster updates flicker and cannot be read.
PAUSE_SECONDS: Final = 0.2

# Ages are shown in seconds, so the screen is drawn at least once a second.
TICK_SECONDS: Final = 1.0

_OTHER_PAGE: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"  # and hides the cursor
_FIRST_PAGE: Final = "\x1b[?25h\x1b[?1049l"
# Terminals that support these codes show everything between them at once; others ignore them.
_AT_ONCE: Final = "\x1b[?2026h"
_SHOWN: Final = "\x1b[?2026l"

_COLORS: Final[Mapping[Tone, str]] = {
    "good": "\x1b[32m",
    "waiting": "\x1b[33m",
    "bad": "\x1b[31m",
    "quiet": "\x1b[2m",
    "strong": "\x1b[1m",
}
_PLAIN: Final = "\x1b[0m"


def wants_color(stream: TextIO, *, environ: Mapping[str, str]) -> bool:
    """Whether to write colors to ``stream``.

    Colors are written to a terminal, unless the variables NO_COLOR or TERM in ``environ`` forbid
    it.
    """
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class Screen:
    """A context manager that draws on the complete terminal while its block runs.

    ``size`` is called at each drawing, and returns the number of columns and the number of lines.
    """

    def __init__(self, stream: TextIO, *, size: Callable[[], tuple[int, int]], color: bool) -> None:
        self._stream = stream
        self._size = size
        self._color = color
        self._shown: list[str] = []
        self._drawn_for: tuple[int, int] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """The current number of columns and lines."""
        return self._size()

    def __enter__(self) -> Self:
        self._write(_OTHER_PAGE)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write(_FIRST_PAGE)

    def show(self, lines: Sequence[Line]) -> None:
        """Show ``lines``, starting at the top of the screen; lines that do not fit are omitted."""
        columns, height = size = self.size
        wanted = [self._painted(cut(line, columns)) for line in lines[:height]]
        parts: list[str] = []
        if size != self._drawn_for:
            parts.append("\x1b[2J")
            self._shown = []
            self._drawn_for = size
        for number, line in enumerate(wanted, start=1):
            if number > len(self._shown) or self._shown[number - 1] != line:
                parts.append(f"\x1b[{number};1H{line}\x1b[K")
        if len(wanted) < len(self._shown):
            parts.append(f"\x1b[{len(wanted) + 1};1H\x1b[J")
        self._shown = wanted
        if parts:
            self._write(f"{_AT_ONCE}{''.join(parts)}{_SHOWN}")

    def _painted(self, line: Line) -> str:
        if not self._color:
            return text_of(line)
        return "".join(
            f"{_COLORS[span.tone]}{span.text}{_PLAIN}" if span.tone else span.text for span in line
        )

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


async def keep_shown(
    screen: Screen,
    lines: Callable[[tuple[int, int]], Sequence[Line]],
    *,
    changed: asyncio.Event,
    clock: Clock,
) -> None:
    """Show the result of ``lines`` again after each change and at least once a second.

    ``lines`` is called with the size of the screen. ``changed`` is set by the caller at each
    change.
    """
    while True:
        changed.clear()
        screen.show(lines(screen.size))
        await clock.sleep(PAUSE_SECONDS)
        try:
            async with clock.timeout(TICK_SECONDS - PAUSE_SECONDS):
                await changed.wait()
        except TimeoutError:
            continue
