"""A fan-out calls several observers."""

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


def test_a_cancellation_is_not_a_failure_of_an_observer() -> None:
    def cancelled(observation: Observation) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        fan_out(cancelled)(FINISHED)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_an_exit_of_an_observer_counts_as_its_failure(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def exiting(observation: Observation) -> None:
        raise error

    fan_out(exiting)(FINISHED)

    assert "exiting failed" in caplog.text


def test_a_fan_out_may_have_no_observer() -> None:
    for observation in ALL:
        ignore(observation)
        fan_out()(observation)


def test_an_observer_with_arbitrary_attributes_is_called() -> None:
    observer = Mock()

    fan_out(observer)(FINISHED)

    observer.assert_called_once_with(FINISHED)


def test_an_observer_whose_filter_fails_gets_all_observations() -> None:
    received: list[Observation] = []

    class Undecided:
        def listener_for(self, kind: type[object]) -> None:
            raise LookupError(kind)

        def __call__(self, observation: Observation) -> None:
            received.append(observation)

    fan_out(Undecided())(FINISHED)

    assert received == [FINISHED]


def test_an_overridden_call_of_a_subclass_is_used() -> None:
    received: list[Observation] = []

    class Mine(MetricsObserver):
        def __call__(self, observation: Observation) -> None:
            received.append(observation)

    fan_out(Mine(CollectorRegistry(), clock=FakeClock()))(FINISHED)

    assert received == [FINISHED]
