"""Active, ready, available and terminating Pods."""

import pytest

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.pods import (
    available_in_seconds,
    is_active,
    is_available,
    is_ended,
    is_ready,
    is_terminating,
    next_available_seconds,
)
from tests.unit.workloads.pods.samples import NOW, ago, pod


def test_a_pod_without_a_status_is_active_and_not_ready() -> None:
    silent = core_v1.Pod(metadata=meta_v1.ObjectMeta(name="web"))

    assert is_active(silent)
    assert not is_ready(silent)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_is_not_active_even_while_it_is_deleted(phase: str) -> None:
    ended = pod(phase=phase, ending=True)

    assert is_ended(ended)
    assert not is_active(ended)
    assert not is_terminating(ended)


def test_a_running_pod_that_is_being_deleted_is_terminating() -> None:
    assert is_terminating(pod(ending=True))
    assert not is_active(pod(ending=True))


def test_a_pod_is_available_after_it_was_ready_for_min_ready_seconds() -> None:
    assert is_available(pod(ready=ago(10)), 10, NOW)
    assert not is_available(pod(ready=ago(9)), 10, NOW)
    assert is_available(pod(ready=NOW), 0, NOW)
    assert not is_available(pod(), 0, NOW)


def test_the_time_until_a_pod_is_available_is_computed() -> None:
    assert available_in_seconds(pod(ready=ago(4)), 10, NOW) == 6.0
    assert available_in_seconds(pod(ready=ago(40)), 10, NOW) == 0.0
    assert available_in_seconds(pod(), 10, NOW) is None


def test_the_next_available_pod_has_the_shortest_wait() -> None:
    pods = [pod(ready=ago(40)), pod(ready=ago(2)), pod(ready=ago(7)), pod()]

    assert next_available_seconds(pods, 10, NOW) == 3.0
    assert next_available_seconds(pods, 0, NOW) is None
