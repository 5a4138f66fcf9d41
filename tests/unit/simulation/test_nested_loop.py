"""Garbage is collected after a simulation, and the collector's settings are restored."""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from steersman_cluster.simulation.nested_loop import YOUNG, deferred_collection, run_nested


@pytest.fixture(autouse=True)
def _same_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


class Cycle:
    """An object in a reference cycle."""

    def __init__(self) -> None:
        self.itself = self


def collections() -> int:
    """Return the number of collections so far."""
    return sum(int(each["collections"]) for each in gc.get_stats())


def test_garbage_of_a_simulation_is_collected_at_its_end() -> None:
    async def main() -> "weakref.ref[Cycle]":
        return weakref.ref(Cycle())

    assert run_nested(main())() is None


def test_no_garbage_is_collected_during_a_small_simulation() -> None:
    async def main() -> int:
        before = collections()
        kept: list[list[int]] = [[] for _ in range(YOUNG // 2)]
        assert len(kept) == YOUNG // 2
        return collections() - before

    assert run_nested(main()) == 0


def test_the_collector_settings_are_restored() -> None:
    gc.set_threshold(701, 11, 12)

    async def main() -> None:
        assert gc.get_threshold()[0] == YOUNG
        raise ValueError("the steps went wrong")

    with pytest.raises(ValueError, match="wrong"):
        run_nested(main())

    assert gc.get_threshold() == (701, 11, 12)


def test_a_threshold_of_zero_is_kept() -> None:
    gc.set_threshold(0)

    with deferred_collection():
        assert gc.get_threshold()[0] == 0


def test_a_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        before = collections()
        with deferred_collection():
            pass
        assert collections() == before
    finally:
        gc.enable()


def test_a_nested_simulation_does_not_collect_garbage() -> None:
    with deferred_collection():
        before = collections()
        with deferred_collection():
            pass
        assert collections() == before
        assert gc.get_threshold()[0] == YOUNG


def test_the_outer_loop_is_restored_afterwards() -> None:
    async def inner() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    async def outer() -> bool:
        before = asyncio.get_running_loop()
        return run_nested(inner()) is not before and asyncio.get_running_loop() is before

    with asyncio.Runner() as runner:
        assert runner.run(outer())


async def test_the_current_task_of_the_outer_loop_is_the_same_afterwards() -> None:
    outer = asyncio.current_task()

    async def main() -> "asyncio.Task[object] | None":
        await asyncio.sleep(1)  # noqa: TID251
        return asyncio.current_task()

    inner = run_nested(main())

    assert inner is not outer
    assert asyncio.current_task() is outer
