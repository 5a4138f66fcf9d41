"""Tests of the code in the page about the delta FIFO."""

from collections.abc import Mapping

from docs.code.concepts.delta_fifo import changes
from steersman.cache import DeltaFifo
from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.watch import key_of


def pod(name: str, version: str, *, uid: str = "") -> core_v1.Pod:
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name, namespace="default", uid=uid or name, resource_version=version
        )
    )


def by_key(*pods: core_v1.Pod) -> Mapping[ObjectKey, core_v1.Pod]:
    return {key_of(pod): pod for pod in pods}


def test_changes_come_out_in_the_order_of_the_events() -> None:
    fifo = DeltaFifo[core_v1.Pod]()

    fifo.replace(by_key(pod("a", "1")), [], "3", rewound=False)
    fifo.upsert(pod("b", "4"))
    fifo.upsert(pod("a", "5"))
    fifo.delete(pod("b", "6"))

    assert [*changes(fifo)] == ["a was there", "b is new", "a went from 1 to 5", "b is gone"]


def test_an_object_deleted_in_a_gap_is_a_missed_deletion() -> None:
    fifo = DeltaFifo[core_v1.Pod]()
    fifo.replace(by_key(pod("a", "1"), pod("b", "2")), [], "3", rewound=False)
    fifo.drain()

    fifo.replace(by_key(pod("a", "9")), [], "10", rewound=False)

    assert [*changes(fifo)] == ["b was missed", "a went from 1 to 9"]


def test_an_object_created_again_under_its_name_is_deleted_and_added() -> None:
    fifo = DeltaFifo[core_v1.Pod]()
    fifo.replace(by_key(pod("a", "1", uid="first")), [], "3", rewound=False)
    fifo.drain()

    fifo.upsert(pod("a", "7", uid="second"))

    assert [*changes(fifo)] == ["a was missed", "a is new"]


def test_a_duplicate_or_late_event_is_no_change() -> None:
    fifo = DeltaFifo[core_v1.Pod]()
    fifo.replace(by_key(pod("a", "1")), [], "3", rewound=False)
    fifo.upsert(pod("a", "5"))
    fifo.drain()

    fifo.upsert(pod("a", "5"))
    fifo.upsert(pod("a", "4"))

    assert [*changes(fifo)] == []
    assert fifo.dropped == 2
