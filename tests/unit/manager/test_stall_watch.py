"""The stall watch detects a blocked event loop, and reports the reconcile that blocks it."""

import asyncio
import threading
from typing import Any

from steersman.clock import SystemClock
from steersman.manager.stall_watch import MAX_FRAMES, StallWatch
from steersman.names import ObjectRef

REF = ObjectRef("Widget", "here", "one")


def block(watch: StallWatch) -> None:
    """Compute until the watch has found the stall."""
    while watch.found is None:
        pass


async def test_a_blocked_loop_is_reported_with_the_stack() -> None:
    clock = SystemClock()
    me = asyncio.current_task()

    def about(task: "asyncio.Task[Any]") -> tuple[str, ObjectRef] | None:
        assert threading.current_thread() is not threading.main_thread()
        return ("widget", REF) if task is me else None

    with StallWatch(after_seconds=0.01, about=about, clock=clock) as watch:
        watch.expect(clock.monotonic())
        block(watch)
        found = watch.found

    assert found is not None
    assert (found.controller, found.ref) == ("widget", REF)
    ours = [line for line in found.stack if line.startswith(f"{__file__}:")]
    assert ours[-1].endswith("in block")
    assert ours[-2].endswith(" in test_a_blocked_loop_is_reported_with_the_stack")
    assert not any("asyncio" in line for line in found.stack)


def deeper(watch: StallWatch, frames: int) -> None:
    """Like a library that the author's function calls."""
    if frames:
        deeper(watch, frames - 1)
    else:
        block(watch)


async def author(watch: StallWatch) -> None:
    deeper(watch, 50)


async def test_a_deep_stack_has_the_authors_function_and_the_innermost_frames() -> None:
    clock = SystemClock()

    with StallWatch(after_seconds=0.01, about=lambda _: None, clock=clock) as watch:
        watch.expect(clock.monotonic())
        await author(watch)
        found = watch.found

    assert found is not None
    assert len(found.stack) == MAX_FRAMES + 1
    assert any(line.endswith(" in author") for line in found.stack)
    assert any(line.endswith(" in block") for line in found.stack[-2:])


async def test_a_waiting_loop_is_attributed_to_no_code() -> None:
    """As after a pause of the process, when the thread of the watch runs first."""

    def wait(watch: StallWatch) -> None:
        while watch._look() is not None:  # pyright: ignore[reportPrivateUsage]
            pass

    with StallWatch(after_seconds=1_000.0, about=lambda _: None, clock=SystemClock()) as watch:
        await asyncio.to_thread(wait, watch)


async def test_a_loop_that_is_on_time_is_not_reported() -> None:
    clock = SystemClock()

    with StallWatch(after_seconds=1_000.0, about=lambda _: None, clock=clock) as watch:
        for _ in range(3):
            watch.expect(clock.monotonic() + 1_000.0)
            await asyncio.sleep(0)  # noqa: TID251 - a turn

        assert watch.found is None


async def test_the_stack_of_one_check_is_not_reported_for_the_next() -> None:
    clock = SystemClock()

    with StallWatch(after_seconds=0.01, about=lambda _: None, clock=clock) as watch:
        watch.expect(clock.monotonic())
        block(watch)
        watch.expect(clock.monotonic() + 1_000.0)

        assert watch.found is None
