"""An exit or interrupt that an author's function raises is a failure; one by a signal is not."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from steersman.errors import AUTHOR_ERRORS, ExitRaised, failure_of


def exit_with_a_code() -> None:
    sys.exit(3)


def raise_exit() -> None:
    raise SystemExit("a secret")


def raise_interrupt() -> None:
    raise KeyboardInterrupt


def interrupt_by_signal() -> None:
    signal.raise_signal(signal.SIGINT)


def failure(function: Callable[[], None]) -> Exception:
    try:
        function()
    except AUTHOR_ERRORS as error:
        return failure_of(error)
    raise AssertionError("it raised nothing")


@contextmanager
def handling(handler: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_ordinary_exception_is_returned_unchanged() -> None:
    error = ValueError("no")

    assert failure_of(error) is error


@pytest.mark.parametrize("function", [exit_with_a_code, raise_exit, raise_interrupt])
def test_an_exit_is_a_failure_that_names_the_line(
    function: Callable[[], None],
) -> None:
    with handling(signal.default_int_handler):
        found = failure(function)

    assert isinstance(found, ExitRaised)
    assert found.where == f"{__file__}:{function.__code__.co_firstlineno + 1}"
    assert found.raised in str(found)
    assert "a secret" not in str(found)
    assert isinstance(found.__cause__, SystemExit | KeyboardInterrupt)


def test_an_interrupt_by_a_signal_is_raised_again() -> None:
    with handling(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        failure(interrupt_by_signal)


def test_an_interrupt_that_a_custom_signal_handler_raises_is_raised_again() -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    with handling(interrupt):
        with pytest.raises(KeyboardInterrupt):
            failure(interrupt_by_signal)
        assert isinstance(failure(raise_interrupt), ExitRaised)


def test_a_second_interrupt_by_the_handler_of_asyncio_is_raised_again() -> None:
    def twice() -> None:
        interrupt_by_signal()  # cancels the main task, and raises nothing
        interrupt_by_signal()

    async def main() -> None:
        failure(twice)

    with handling(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        asyncio.run(main())


def test_an_interrupt_in_a_thread_is_never_caused_by_a_signal() -> None:
    found: list[Exception] = []

    with handling(signal.default_int_handler):
        thread = threading.Thread(target=lambda: found.append(failure(raise_interrupt)))
        thread.start()
        thread.join()

    assert isinstance(found[0], ExitRaised)
