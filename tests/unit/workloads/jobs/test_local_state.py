"""Failures of Pods that no longer exist, and batches of Pod events."""

from datetime import timedelta

from steersman_cluster.workloads.jobs.local_state import JobBatches, VanishedPods
from tests.unit.workloads.jobs.samples import NOW, pod


def test_only_deleted_pods_are_recorded_as_vanished() -> None:
    vanished = VanishedPods()

    vanished.note("job", [pod("a", is_going=True), pod("b", "Failed")], NOW)

    assert vanished.of("job") == {"a": NOW}
    assert vanished.of("other") == {}


def test_a_finished_job_has_no_entries() -> None:
    vanished = VanishedPods()
    vanished.note("job", [pod("a", is_going=True)], NOW)

    vanished.forget("job")

    assert len(vanished) == 0


def test_entries_expire_after_the_longest_backoff() -> None:
    vanished = VanishedPods()
    vanished.note("gone", [pod("a", is_going=True)], NOW)

    vanished.note("job", [pod("b", is_going=True)], NOW + timedelta(seconds=601))

    assert vanished.of("gone") == {}
    assert len(vanished) == 1


def test_a_job_is_reconciled_a_second_after_the_first_event() -> None:
    batches = JobBatches()

    assert batches.wait_seconds("job", NOW) == 1.0
    assert batches.wait_seconds("job", NOW + timedelta(seconds=0.75)) == 0.25
    assert batches.wait_seconds("job", NOW + timedelta(seconds=1.5)) == 0.0


def test_an_event_after_a_reconcile_starts_a_new_batch() -> None:
    batches = JobBatches()
    batches.wait_seconds("job", NOW)

    batches.end("job")

    assert len(batches) == 0
    assert batches.wait_seconds("job", NOW + timedelta(seconds=5)) == 1.0


def test_the_batch_of_a_deleted_job_expires() -> None:
    batches = JobBatches()
    batches.wait_seconds("gone", NOW)

    batches.wait_seconds("job", NOW + timedelta(seconds=602))

    assert len(batches) == 1
