"""Many observers behind one."""

import asyncio
import logging
from unittest.mock import Mock

import pytest
from prometheus_client import CollectorRegistry

from steersman.observe import MetricsObserver, Observation, fan_out, ignore
from tests.clocks import FakeClock
from tests.unit.observe.samples import ALL, FINISHED


def broken(observation: Observation) -> None:
    raise RuntimeError("no disk")


def test_one_failing_observer_does_not_silence_the_others() -> None:
    before: list[Observation] = []
    after: list[Observation] = []
    observe = fan_out(before.append, broken, after.append)

    for observation in ALL:
        observe(observation)

    assert before == after == list(ALL)


def test_the_failure_of_an_observer_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    observe = fan_out(broken, broken)

    for _ in range(3):
        observe(FINISHED)

    assert [record.name for record in caplog.records] == ["steersman"] * 2
    assert "the observer broken failed" in caplog.text
    assert "no disk" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR


def test_cancellation_is_no_failure_of_an_observer() -> None:
    def cancelled(observation: Observation) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        fan_out(cancelled)(FINISHED)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_an_observer_that_exits_has_failed_like_any_other(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def leaving(observation: Observation) -> None:
        raise error

    fan_out(leaving)(FINISHED)

    assert "leaving failed" in caplog.text


def test_a_fan_out_may_have_no_observer() -> None:
    for observation in ALL:
        ignore(observation)
        fan_out()(observation)


def test_an_observer_with_any_attribute_is_called_all_the_same() -> None:
    observer = Mock()

    fan_out(observer)(FINISHED)

    observer.assert_called_once_with(FINISHED)


def test_an_observer_whose_choice_fails_gets_everything() -> None:
    received: list[Observation] = []

    class Undecided:
        def listener_for(self, kind: type[object]) -> None:
            raise LookupError(kind)

        def __call__(self, observation: Observation) -> None:
            received.append(observation)

    fan_out(Undecided())(FINISHED)

    assert received == [FINISHED]


def test_a_subclass_with_another_call_is_called() -> None:
    received: list[Observation] = []

    class Mine(MetricsObserver):
        def __call__(self, observation: Observation) -> None:
            received.append(observation)

    fan_out(Mine(CollectorRegistry(), clock=FakeClock()))(FINISHED)

    assert received == [FINISHED]
