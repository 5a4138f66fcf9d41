"""Failures of which nothing is left to see, and moments at which Pods are counted together."""

from datetime import timedelta

from steersman_cluster.workloads.jobs.local_state import Batches, Vanished
from tests.unit.workloads.jobs.samples import NOW, pod


def test_deleted_pods_are_remembered_and_others_can_be_looked_at() -> None:
    vanished = Vanished()

    vanished.note("job", [pod("a", is_going=True), pod("b", "Failed")], NOW)

    assert vanished.of("job") == {"a": NOW}
    assert vanished.of("other") == {}


def test_nothing_is_kept_of_a_job_that_is_over() -> None:
    vanished = Vanished()
    vanished.note("job", [pod("a", is_going=True)], NOW)

    vanished.forget("job")

    assert len(vanished) == 0


def test_nothing_is_kept_for_longer_than_anybody_waits() -> None:
    vanished = Vanished()
    vanished.note("gone", [pod("a", is_going=True)], NOW)

    vanished.note("job", [pod("b", is_going=True)], NOW + timedelta(seconds=601))

    assert vanished.of("gone") == {}
    assert len(vanished) == 1


def test_a_job_is_looked_at_a_second_after_the_first_of_what_was_heard() -> None:
    batches = Batches()

    assert batches.wait_seconds("job", NOW) == 1.0
    assert batches.wait_seconds("job", NOW + timedelta(seconds=0.75)) == 0.25
    assert batches.wait_seconds("job", NOW + timedelta(seconds=1.5)) == 0.0


def test_what_is_heard_after_a_look_is_waited_with_again() -> None:
    batches = Batches()
    batches.wait_seconds("job", NOW)

    batches.end("job")

    assert len(batches) == 0
    assert batches.wait_seconds("job", NOW + timedelta(seconds=5)) == 1.0


def test_a_job_that_went_before_it_was_looked_at_is_forgotten() -> None:
    batches = Batches()
    batches.wait_seconds("gone", NOW)

    batches.wait_seconds("job", NOW + timedelta(seconds=602))

    assert len(batches) == 1
