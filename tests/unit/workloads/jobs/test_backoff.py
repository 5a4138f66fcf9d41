"""The backoff before a failed Pod is replaced."""

from datetime import timedelta

import pytest

from steersman_cluster.workloads.jobs.accessors import finished_time, spec_of
from steersman_cluster.workloads.jobs.backoff import index_wait_seconds, retry_seconds, wait_seconds
from tests.unit.workloads.jobs.samples import NOW, job, pod

SPEC = spec_of(job())


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0.0), (1, 10.0), (2, 20.0), (3, 40.0), (7, 600.0), (5000, 600.0)]
)
def test_a_failed_pod_is_replaced_after_ten_seconds_then_twice_as_long_each_time(
    failures: int, seconds: float
) -> None:
    pods = [pod(f"p{number}", "Failed", is_tracked=False) for number in range(failures)]

    assert wait_seconds(pods, SPEC, NOW, vanished={}) == seconds


def test_the_backoff_counts_from_the_last_failure() -> None:
    pods = [pod("p", "Failed", ended_seconds_ago=4), pod("q", "Failed", ended_seconds_ago=7)]

    assert wait_seconds(pods, SPEC, NOW, vanished={}) == 16.0


def test_failures_before_the_last_success_do_not_count() -> None:
    pods = [
        pod("p", "Failed", ended_seconds_ago=7),
        pod("q", "Succeeded", ended_seconds_ago=5),
        pod("r", "Failed", ended_seconds_ago=3),
    ]

    assert wait_seconds(pods, SPEC, NOW, vanished={}) == 7.0
    assert wait_seconds(pods[:2], SPEC, NOW, vanished={}) == 0.0


def test_an_index_waits_for_its_own_failures_only() -> None:
    assert index_wait_seconds(None, NOW) == 0.0
    assert index_wait_seconds(pod("p", "Failed", index=1, failures=0), NOW) == 10.0
    assert index_wait_seconds(pod("p", "Failed", index=1, failures=2), NOW) == 40.0


def test_a_deleted_pod_failed_at_its_deletion_timestamp() -> None:
    going = pod("p", "Running", is_going=True)

    assert finished_time(going) == NOW


def test_a_pod_without_an_end_time_counts_from_its_start() -> None:
    assert finished_time(pod("p", "Failed", ended_seconds_ago=9)) == NOW - timedelta(seconds=9)
    assert finished_time(pod("p", "Running")) == NOW - timedelta(hours=1)


def test_failures_of_vanished_pods_count_once() -> None:
    gone = {"p": NOW - timedelta(seconds=2), "q": NOW - timedelta(seconds=9)}

    assert wait_seconds([], SPEC, NOW, vanished=gone) == 18.0
    assert wait_seconds([pod("p", is_going=True)], SPEC, NOW, vanished=gone) == 20.0


def test_a_released_pod_in_deletion_is_not_a_failure() -> None:
    taken = pod("p", is_going=True, is_tracked=False)

    assert wait_seconds([taken], SPEC, NOW, vanished={}) == 0.0


@pytest.mark.parametrize(("lasted", "seconds"), [(0, 1.0), (1, 1.0), (4, 4.0), (600, 60.0)])
def test_a_rejected_request_is_retried_after_as_long_as_it_has_failed(
    lasted: float, seconds: float
) -> None:
    assert retry_seconds([], NOW - timedelta(seconds=lasted), NOW) == seconds


def test_a_created_pod_resets_the_retry_delay() -> None:
    made = [pod("p")]  # an hour ago

    assert retry_seconds(made, NOW - timedelta(hours=2), NOW) == 60.0
    assert retry_seconds(made, NOW - timedelta(seconds=3), NOW) == 3.0
