"""The stall watch: a thread that records which code blocks the event loop.

A task in the event loop cannot record this, because it runs only when the blocking code has already
returned. So a separate thread waits until the next check of the event loop is due. If the check has
not happened by then, the thread records the stack of the thread that runs the event loop.
"""

import asyncio
import os
import selectors
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

import msgspec

from steersman._own_code import is_own_code
from steersman.clock import Clock
from steersman.controller import start_thread
from steersman.names import ObjectRef

# Half from the author's function inwards, and half from the innermost frame outwards: a library
# that it calls, such as an HTTP client, may be twenty frames deep.
MAX_FRAMES: Final = 8

_ASYNCIO: Final = f"{Path(asyncio.__file__).parent}{os.sep}"
_WAITING: Final = (_ASYNCIO, selectors.__file__)


class Stall(msgspec.Struct, frozen=True, kw_only=True):
    """The code that blocked the event loop; the last frame in ``stack`` is the innermost.

    ``controller`` and ``ref`` are the reconcile to which the code belongs, if any.
    """

    controller: str = ""
    ref: ObjectRef | None = None
    stack: tuple[str, ...] = ()


# Returns the reconcile of a worker's task: its controller and its object.
About = Callable[["asyncio.Task[Any]"], tuple[str, ObjectRef] | None]


class StallWatch:
    """Records what blocks this thread's event loop when a check is ``after_seconds`` late."""

    def __init__(self, *, after_seconds: float, about: About, clock: Clock) -> None:
        self._after_seconds = after_seconds
        self._about = about
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._due_at: float | None = None
        self._found: Stall | None = None
        self._changed = threading.Event()
        self._is_over = False

    def __enter__(self) -> Self:
        # A daemon thread does not keep the process alive.
        start_thread(threading.Thread(target=self._run, name="stall watch", daemon=True))
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._changed.set()

    def expect(self, due_at: float) -> None:
        """Set the time when the next check of the event loop is due."""
        is_first = self._due_at is None
        self._found, self._due_at = None, due_at
        if is_first:
            self._changed.set()

    @property
    def found(self) -> Stall | None:
        """The code that blocked the event loop when the check was due, or ``None``."""
        return self._found

    # In the thread

    def _run(self) -> None:
        wait_seconds: float | None = None
        while not self._is_over:
            if self._changed.wait(wait_seconds):
                self._changed.clear()
            due_at = self._due_at
            if due_at is None:
                continue
            wait_seconds = due_at + self._after_seconds - self._clock.monotonic()
            if wait_seconds <= 0:
                wait_seconds = self._after_seconds
                if self._found is None:
                    found = self._look()
                    # If a check has run meanwhile, the stack is from another iteration.
                    if self._due_at == due_at:
                        self._found = found

    def _look(self) -> Stall | None:
        """Return the code that the loop runs; ``None`` if the loop is waiting.

        The loop is waiting, for instance, after the entire process was paused.
        """
        task = asyncio.current_task(self._loop)
        about = None if task is None else self._about(task)
        # A private function, but the only way to see the stack of another thread.
        frame = sys._current_frames().get(self._thread_id)  # pyright: ignore[reportPrivateUsage]
        if task is None and (frame is None or frame.f_code.co_filename.startswith(_WAITING)):
            return None
        stack = _lines(frame)
        if about is None:
            return Stall(stack=stack)
        controller, ref = about
        return Stall(controller=controller, ref=ref, stack=stack)


def _lines(frame: FrameType | None) -> tuple[str, ...]:
    """Return the frames from the operator author's function to the innermost frame.

    Without such a function, start at the frame of the event loop.
    """
    inside: list[str] = []
    others = 0  # the number of frames up to the outermost one outside steersman
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_ASYNCIO) and inside:
            break
        inside.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_qualname}")
        if not is_own_code(code.co_filename):
            others = len(inside)
        frame = frame.f_back
    lines = inside[: others or None]
    lines.reverse()
    if len(lines) > MAX_FRAMES:
        half = MAX_FRAMES // 2
        lines[half:-half] = [f"({len(lines) - 2 * half} more)"]
    return tuple(lines)
