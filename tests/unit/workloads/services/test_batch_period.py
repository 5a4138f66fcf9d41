"""One reconcile for many changes."""

from datetime import timedelta

import pytest

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.services.batch_period import (
    BATCH_SECONDS,
    ServiceBatches,
    SliceVersions,
)
from tests.unit.workloads.services.samples import NOW

LATER = NOW + timedelta(seconds=BATCH_SECONDS)


def test_a_batch_ends_a_period_after_its_first_change() -> None:
    batches = ServiceBatches()

    assert batches.wait_seconds("web", NOW) == BATCH_SECONDS
    assert batches.wait_seconds("web", NOW + timedelta(seconds=0.02)) == pytest.approx(0.03)
    assert batches.wait_seconds("web", LATER) == 0.0
    assert batches.wait_seconds("web", LATER) == BATCH_SECONDS


def test_the_batch_of_a_deleted_service_expires() -> None:
    batches = ServiceBatches()
    batches.wait_seconds("gone", NOW)

    batches.wait_seconds("web", NOW + timedelta(minutes=5))

    assert len(batches) == 1


def object_at(version: str) -> core_v1.ConfigMap:
    metadata = meta_v1.ObjectMeta(name="web", namespace="here", resource_version=version)
    return core_v1.ConfigMap(metadata=metadata)


def test_a_foreign_write_is_distinguished_from_the_controllers_own() -> None:
    writes = SliceVersions()
    writes.note(object_at("7"))

    assert not writes.is_foreign(None, object_at("7"))
    assert writes.is_foreign(object_at("7"), object_at("8"))


def test_a_deleted_slice_leaves_no_entry() -> None:
    writes = SliceVersions()
    writes.note(object_at("7"))

    writes.forget(object_at("8"))

    assert len(writes) == 0
