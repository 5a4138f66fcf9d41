"""The output to a terminal."""

import asyncio
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from steersman.view import Line, Screen, Span, keep_shown, wants_color
from tests.clocks import ManualClock

RED = "\x1b[31m"


class Terminal(StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True

    def take_output(self) -> str:
        """The output since the last call."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


def screen(
    terminal: Terminal, *, size: Callable[[], tuple[int, int]] = lambda: (20, 5), **how: Any
) -> Screen:
    return Screen(terminal, size=size, **{"color": False, **how})


def lines(*texts: str) -> list[Line]:
    return [(Span(text),) for text in texts]


def test_only_changed_lines_are_drawn_again() -> None:
    terminal = Terminal()
    shown = screen(terminal)
    shown.show(lines("one", "two", "three"))
    terminal.take_output()

    shown.show(lines("one", "TWO", "three"))

    drawn = terminal.take_output()
    assert "\x1b[2;1HTWO\x1b[K" in drawn
    assert "one" not in drawn
    assert "three" not in drawn


def test_an_unchanged_screen_is_not_redrawn() -> None:
    terminal = Terminal()
    shown = screen(terminal)
    shown.show(lines("one"))
    terminal.take_output()

    shown.show(lines("one"))

    assert terminal.take_output() == ""


def test_removed_lines_are_erased() -> None:
    terminal = Terminal()
    shown = screen(terminal)
    shown.show(lines("one", "two"))
    terminal.take_output()

    shown.show(lines("one"))

    assert "\x1b[2;1H\x1b[J" in terminal.take_output()


def test_output_is_limited_to_the_terminals_size() -> None:
    terminal = Terminal()

    screen(terminal, size=lambda: (4, 2)).show(lines("12345", "two", "three"))

    drawn = terminal.take_output()
    assert "123…" in drawn
    assert "three" not in drawn


def test_a_resize_redraws_the_whole_screen() -> None:
    terminal = Terminal()
    sizes = iter([(20, 5), (10, 5)])
    shown = screen(terminal, size=lambda: next(sizes))
    shown.show(lines("one"))
    terminal.take_output()

    shown.show(lines("one"))

    assert "\x1b[2J\x1b[1;1Hone" in terminal.take_output()


def test_a_terminal_is_restored_to_its_previous_state() -> None:
    terminal = Terminal()

    def fail() -> None:
        with screen(terminal):
            written.append(terminal.take_output())
            raise RuntimeError

    written: list[str] = []
    with pytest.raises(RuntimeError):
        fail()

    (entered,) = written
    assert entered.startswith("\x1b[?1049h\x1b[?25l")
    assert terminal.take_output() == "\x1b[?25h\x1b[?1049l"


def test_color_is_for_terminals_only() -> None:
    assert wants_color(Terminal(), environ={"TERM": "xterm"})
    assert not wants_color(StringIO(), environ={"TERM": "xterm"})
    assert not wants_color(Terminal(), environ={"NO_COLOR": "1"})
    assert not wants_color(Terminal(), environ={"TERM": "dumb"})


def test_tones_become_colors_if_enabled() -> None:
    bad: Line = (Span("bad", "bad"),)
    plain, colored = Terminal(), Terminal()

    screen(plain).show([bad])
    screen(colored, color=True).show([bad])

    assert RED not in plain.take_output()
    assert f"{RED}bad\x1b[0m" in colored.take_output()


async def test_the_screen_is_drawn_at_most_five_times_a_second() -> None:
    clock, changed, drawn = ManualClock(), asyncio.Event(), list[float]()

    def update(_size: tuple[int, int]) -> list[Line]:
        drawn.append(clock.monotonic())
        changed.set()  # changes all the time
        return lines(str(len(drawn)))

    async with asyncio.TaskGroup() as group:
        showing = group.create_task(
            keep_shown(screen(Terminal()), update, changed=changed, clock=clock)
        )
        for _ in range(100):
            clock.advance(0.01)
            for _ in range(4):
                await clock.sleep(0)
        showing.cancel()

    assert 4 <= len(drawn) <= 6


async def test_the_screen_is_drawn_every_second_without_changes() -> None:
    clock, drawn = ManualClock(), list[float]()

    def update(_size: tuple[int, int]) -> list[Line]:
        drawn.append(clock.monotonic())
        return []

    async with asyncio.TaskGroup() as group:
        showing = group.create_task(
            keep_shown(screen(Terminal()), update, changed=asyncio.Event(), clock=clock)
        )
        for _ in range(250):
            for _ in range(6):
                await clock.sleep(0)
            clock.advance(0.01)
        showing.cancel()

    assert [round(at - drawn[0], 1) for at in drawn] == [0.0, 1.0, 2.0]
