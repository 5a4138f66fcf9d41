"""Python's collector of garbage, paused."""

import gc
from collections.abc import Iterator

import pytest

from steersman._collector import gc_paused


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    """The running collector, before and after."""
    assert gc.isenabled()
    yield
    gc.enable()


def test_it_rests_inside_and_works_afterwards() -> None:
    with gc_paused():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_it_works_again_whatever_happens_inside() -> None:
    with pytest.raises(ValueError, match="inside"), gc_paused():
        raise ValueError("inside")

    assert gc.isenabled()


def test_who_rested_before_is_not_woken() -> None:
    gc.disable()

    with gc_paused(), gc_paused():
        pass

    assert not gc.isenabled()
