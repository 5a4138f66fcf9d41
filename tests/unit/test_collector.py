"""The pause of Python's garbage collector."""

import gc
from collections.abc import Iterator

import pytest

from steersman._collector import gc_paused


@pytest.fixture(autouse=True)
def _collector_enabled() -> Iterator[None]:
    """The collector is enabled before and after each test."""
    assert gc.isenabled()
    yield
    gc.enable()


def test_the_collector_is_disabled_inside_and_enabled_afterwards() -> None:
    with gc_paused():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_the_collector_is_enabled_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), gc_paused():
        raise ValueError("inside")

    assert gc.isenabled()


def test_a_collector_that_was_disabled_before_stays_disabled() -> None:
    gc.disable()

    with gc_paused(), gc_paused():
        pass

    assert not gc.isenabled()
