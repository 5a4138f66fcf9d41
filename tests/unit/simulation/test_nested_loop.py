"""A cluster is collected when it ends, and its caller keeps the settings of the collector."""

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


class Knot:
    """Something that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def collections() -> int:
    """How many there have been so far."""
    return sum(int(each["collections"]) for each in gc.get_stats())


def test_garbage_of_a_simulation_is_collected_at_its_end() -> None:
    async def main() -> "weakref.ref[Knot]":
        return weakref.ref(Knot())

    assert run_nested(main())() is None


def test_nothing_is_collected_during_a_small_simulation() -> None:
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


def test_with_a_threshold_of_zero_there_are_no_collections() -> None:
    gc.set_threshold(0)

    with deferred_collection():
        assert gc.get_threshold()[0] == 0


def test_with_collections_disabled_there_are_none() -> None:
    gc.disable()
    try:
        before = collections()
        with deferred_collection():
            pass
        assert collections() == before
    finally:
        gc.enable()


def test_a_nested_simulation_leaves_the_collector_to_the_outer_one() -> None:
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
