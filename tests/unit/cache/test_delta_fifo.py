"""The delta FIFO turns received events into deltas, in order, and drops duplicates."""

import asyncio
from typing import Any

import pytest

from steersman.cache.delta_fifo import (
    Added,
    Deleted,
    DeltaFifo,
    NotDecoded,
    Progress,
    Replaced,
    Sync,
    Updated,
)
from steersman.errors import InvalidObject
from steersman.names import ObjectKey
from steersman.watch import key_of
from tests.unit.cache.sample_objects import Thing, by_key, thing, undecodable

A, B = ObjectKey("default", "a"), ObjectKey("default", "b")


def fifo_with(*objects: Thing, version: str = "10") -> DeltaFifo[Thing]:
    """A FIFO whose first list was popped already."""
    fifo = DeltaFifo[Thing]()
    fifo.replace(by_key(objects), (), version, rewound=False)
    fifo.drain()
    return fifo


def relisted(fifo: DeltaFifo[Thing], *objects: Thing, **options: Any) -> Replaced[Thing]:
    """The single delta that a list produces."""
    decode_failures = options.pop("decode_failures", ())
    fifo.replace(
        by_key(objects),
        decode_failures,
        options.pop("version", "50"),
        rewound=options.pop("rewound", False),
    )
    (replaced,) = fifo.drain()
    assert isinstance(replaced, Replaced)
    return replaced


def test_the_first_list_is_one_delta_with_all_objects_added() -> None:
    fifo = DeltaFifo[Thing]()
    a, b = thing("a", version=3), thing("b", version=7)

    fifo.replace(by_key([a, b]), (), "10", rewound=False)

    assert fifo.drain() == [
        Replaced(
            [Added(a, A, is_initial=True), Added(b, B, is_initial=True)], [], "10", is_first=True
        )
    ]


def test_a_received_list_is_not_changed() -> None:
    fifo = fifo_with(thing("a", version=3))
    relist = by_key([thing("a", version=3), thing("b", version=4)])
    before = dict(relist)

    fifo.replace(relist, (), "50", rewound=False)
    fifo.upsert(thing("c", version=51))
    fifo.delete(thing("b", version=52))

    assert relist == before
    assert all(relist[key] is before[key] for key in relist)


def test_a_later_list_is_one_delta_with_the_differences_only() -> None:
    same, old, gone = thing("a", version=3), thing("b", version=4), thing("c", version=5)
    fifo = fifo_with(same, old, gone)
    new, extra = thing("b", version=20), thing("d", version=21)

    replaced = relisted(fifo, thing("a", version=3), new, extra)

    assert replaced.deltas == [
        Deleted(gone, key_of(gone), is_missed=True),
        Updated(old, new, B),
        Added(extra, key_of(extra)),
    ]
    assert not replaced.is_first
    assert set(fifo.known) == {A, B, key_of(extra)}


def test_an_unchanged_object_of_a_list_keeps_the_known_instance() -> None:
    a = thing("a", version=3)
    fifo = fifo_with(a)

    relisted(fifo, thing("a", version=3))

    assert fifo.known[A] is a


def test_an_object_created_again_while_disconnected_is_deleted_and_added() -> None:
    old, new = thing("a", version=3, uid="one"), thing("a", version=20, uid="two")
    fifo = fifo_with(old)

    replaced = relisted(fifo, new)

    assert replaced.deltas == [Deleted(old, A, is_missed=True), Added(new, A)]


def test_deltas_come_out_in_the_order_of_the_events() -> None:
    fifo = fifo_with()
    first, second, last = (thing("a", version=version) for version in (11, 12, 14))
    other = thing("b", version=13)

    fifo.upsert(first)
    fifo.upsert(second)
    fifo.upsert(other)
    fifo.delete(last)

    assert fifo.drain() == [
        Added(first, A),
        Updated(first, second, A),
        Added(other, B),
        Deleted(last, A, "14"),
    ]


def test_an_object_written_under_the_name_of_another_is_deleted_and_added() -> None:
    old, new = thing("a", version=3, uid="one"), thing("a", version=20, uid="two")
    fifo = fifo_with(old)

    fifo.upsert(new)

    assert fifo.drain() == [Deleted(old, A, is_missed=True), Added(new, A)]


def test_the_deletion_of_an_unknown_successor_deletes_the_known_object() -> None:
    old = thing("a", version=3, uid="one")
    fifo = fifo_with(old)

    fifo.delete(thing("a", version=20, uid="two"))

    assert fifo.drain() == [Deleted(old, A, "20", is_missed=True)]


@pytest.mark.parametrize("version", [3, 7, 10])
def test_a_duplicate_event_is_dropped_and_counted(version: int) -> None:
    fifo = fifo_with(thing("a", version=10))

    fifo.upsert(thing("a", version=version))

    assert fifo.drain() == []
    assert fifo.dropped == 1


def test_a_late_event_does_not_restore_a_deleted_object() -> None:
    fifo = fifo_with(thing("a", version=3))
    fifo.delete(thing("a", version=12))
    fifo.drain()

    fifo.upsert(thing("a", version=11))

    assert fifo.drain() == []
    assert A not in fifo.known


def test_a_late_deletion_of_a_predecessor_deletes_nothing() -> None:
    fifo = fifo_with(thing("a", version=9, uid="two"))

    fifo.delete(thing("a", version=8, uid="one"))

    assert fifo.drain() == []
    assert A in fifo.known


def test_objects_deleted_at_one_version_are_all_deleted() -> None:
    fifo = fifo_with(thing("a", version=3), thing("b", version=4))

    fifo.delete(thing("a", version=12))
    fifo.delete(thing("b", version=12))

    assert [type(each) for each in fifo.drain()] == [Deleted, Deleted]


def test_a_deletion_without_its_own_version_applies_to_the_known_state() -> None:
    fifo = fifo_with(thing("a", version=3), thing("b", version=10))

    fifo.delete(thing("a", version=3))
    fifo.delete(thing("b", version=10))
    fifo.upsert(thing("b", version=10))

    assert fifo.drain() == [
        Deleted(thing("a", version=3), A, ""),
        Deleted(thing("b", version=10), B, "10"),
    ]


def test_a_deselected_object_may_be_selected_again() -> None:
    fifo = fifo_with(thing("a", version=3), thing("b", version=4))
    back = thing("a", version=13)

    fifo.delete(thing("a", version=12))
    fifo.delete(thing("b", version=13))
    fifo.upsert(back)

    assert fifo.drain()[-1] == Added(back, A)


def test_the_deletion_of_an_unknown_object_moves_the_position_and_nothing_else() -> None:
    fifo = fifo_with()

    fifo.delete(thing("a", version=12))

    assert fifo.drain() == [Progress("12")]
    assert fifo.position == "12"


def test_bookmarks_in_a_row_become_one() -> None:
    fifo = fifo_with()

    fifo.progress("11")
    fifo.progress("15")
    fifo.progress("15")
    fifo.progress("14")

    assert fifo.drain() == [Progress("15")]


def test_a_list_from_before_the_position_is_dropped() -> None:
    fifo = fifo_with(thing("a", version=9))

    fifo.replace({}, (), "8", rewound=False)

    assert fifo.drain() == []
    assert A in fifo.known


def test_after_a_rewind_the_list_counts_whatever_its_versions() -> None:
    kept, newer, gone = thing("a", version=3), thing("b", version=9), thing("c", version=8)
    fifo = fifo_with(kept, newer, gone, version="100")
    older, other = thing("b", version=7), thing("a", version=3, size=9)

    replaced = relisted(fifo, other, older, version="7", rewound=True)

    assert replaced.rewound
    assert replaced.deltas == [
        Deleted(gone, key_of(gone), is_missed=True),
        Updated(kept, other, A),
        Updated(newer, older, B),
    ]
    fifo.upsert(thing("d", version=8))
    assert [type(each) for each in fifo.drain()] == [Added]


def test_after_a_rewind_without_a_version_an_event_of_any_version_counts() -> None:
    fifo = fifo_with(version="100")
    relisted(fifo, version="", rewound=True)

    fifo.upsert(thing("a", version=8))

    assert [type(each) for each in fifo.drain()] == [Added]


def test_a_list_without_a_version_leaves_the_position_where_it_is() -> None:
    fifo = fifo_with(thing("a", version=3))

    replaced = relisted(fifo, version="")

    assert [type(delta) for delta in replaced.deltas] == [Deleted]
    assert fifo.position == "10"


def test_events_with_versions_that_are_no_numbers_apply_in_order_of_arrival() -> None:
    fifo = fifo_with(version="zebra")

    fifo.upsert(thing("a", version="yak"))
    fifo.upsert(thing("a", version="yak"))
    fifo.upsert(thing("a", version="ant"))

    assert [type(each) for each in fifo.drain()] == [Added, Updated]


def test_an_undecodable_object_is_reported_once_and_its_known_state_stays() -> None:
    a = thing("a", version=3)
    fifo = fifo_with(a)
    error = undecodable("a", version=12)

    fifo.decode_failed(error, "12", is_gone=False)
    fifo.decode_failed(error, "12", is_gone=False)
    replaced = [fifo.pop(), relisted(fifo, decode_failures=[undecodable("a", version=12)])][1]

    assert isinstance(replaced, Replaced)
    assert (replaced.deltas, replaced.decode_failures) == ([], [])
    assert fifo.known[A] is a
    assert fifo.decode_failures[A].version == "12"


def test_an_object_that_can_be_decoded_again_is_updated_from_the_last_delta() -> None:
    good, better = thing("a", version=3), thing("a", version=13)
    fifo = fifo_with(good)
    error = undecodable("a", version=12)

    fifo.decode_failed(error, "12", is_gone=False)
    fifo.upsert(better)

    assert fifo.drain() == [NotDecoded(A, error, "12"), Updated(good, better, A)]
    assert not fifo.decode_failures


def test_a_deleted_undecodable_object_is_removed() -> None:
    good = thing("a", version=3)
    fifo = fifo_with(good)
    first, last = undecodable("a", version=12), undecodable("a", version=13)
    stranger, gone = undecodable("b", version=14), thing("b", version=15)

    fifo.decode_failed(first, "12", is_gone=False)
    fifo.decode_failed(last, "13", is_gone=True)
    fifo.decode_failed(stranger, "14", is_gone=False)
    fifo.delete(gone)

    assert fifo.drain() == [
        NotDecoded(A, first, "12"),
        Deleted(good, A, is_missed=True),
        NotDecoded(A, last, "13", is_gone=True),
        NotDecoded(B, stranger, "14"),
        NotDecoded(B, stranger, "15", is_gone=True),
    ]
    assert not fifo.known
    assert not fifo.decode_failures


def test_a_late_undecodable_object_is_dropped() -> None:
    fifo = fifo_with()

    fifo.decode_failed(undecodable("a", version=9), "9", is_gone=False)

    assert fifo.drain() == []
    assert not fifo.decode_failures


@pytest.mark.parametrize("position", ["12", "15"])
def test_an_undecodable_object_deleted_without_its_own_version_is_removed_permanently(
    position: str,
) -> None:
    fifo = fifo_with()
    error = undecodable("a", version=12)
    fifo.decode_failed(error, "12", is_gone=False)
    fifo.progress(position)
    fifo.drain()

    fifo.decode_failed(error, "12", is_gone=True)
    fifo.decode_failed(error, "12", is_gone=False)

    moves_to = "" if position == "15" else "12"
    assert fifo.drain() == [NotDecoded(A, error, moves_to, is_gone=True)]
    assert not fifo.decode_failures


def test_an_undecodable_object_missing_from_a_list_is_removed() -> None:
    good = thing("a", version=3)
    fifo = fifo_with(good)
    error = undecodable("a", version=12)
    fifo.decode_failed(error, "12", is_gone=False)
    fifo.drain()

    replaced = relisted(fifo)

    assert replaced.deltas == [Deleted(good, A, is_missed=True)]
    assert replaced.decode_failures == [NotDecoded(A, error, "50", is_gone=True)]
    assert not fifo.decode_failures


def test_an_object_that_a_list_has_both_decoded_and_undecodable_counts_as_decoded() -> None:
    fifo = fifo_with()

    replaced = relisted(
        fifo, thing("a", version=12), decode_failures=[undecodable("a", version=12)]
    )

    assert [type(delta) for delta in replaced.deltas] == [Added]
    assert replaced.decode_failures == []


def test_an_undecodable_object_under_the_name_of_another_object_deletes_that_one() -> None:
    good = thing("a", version=3, uid="one")
    fifo, listed = fifo_with(good), fifo_with(good)
    error = undecodable("a", version=12, uid="two")

    fifo.decode_failed(error, "12", is_gone=False)
    replaced = relisted(listed, decode_failures=[error])

    assert fifo.drain() == [Deleted(good, A, is_missed=True), NotDecoded(A, error, "12")]
    assert replaced.deltas == [Deleted(good, A, is_missed=True)]
    assert replaced.decode_failures == [NotDecoded(A, error, "12")]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"metadata": None},
        {"metadata": "text"},
        {"metadata": {"name": 7, "namespace": [], "uid": {}, "resourceVersion": 1.5}},
    ],
    ids=str,
)
def test_an_undecodable_object_without_valid_metadata_is_reported(
    body: dict[str, Any],
) -> None:
    fifo = fifo_with()
    error = InvalidObject(ref="Thing", into="Thing", problem="nonsense", body=body)

    fifo.decode_failed(error, "12", is_gone=False)
    replaced = [fifo.pop(), relisted(fifo, decode_failures=[error], version="13")]

    assert replaced[0] == NotDecoded(ObjectKey(None, ""), error, "12")


def test_a_warmed_object_that_does_not_exist_is_deleted_by_the_first_list() -> None:
    warmed = thing("a", uid=None)
    fifo = DeltaFifo[Thing]()

    fifo.warm_up([warmed])
    nothing_yet = fifo.pop()
    fifo.replace({}, (), "10", rewound=False)

    assert nothing_yet is None
    assert fifo.drain() == [Replaced([Deleted(warmed, A, is_missed=True)], [], "10", is_first=True)]


def test_a_warmed_object_that_exists_is_updated_by_its_first_event() -> None:
    warmed, real = thing("a", uid=None), thing("a", version=3)
    listed, watched = DeltaFifo[Thing](), fifo_with()

    listed.warm_up([warmed])
    watched.warm_up([warmed])
    replaced = relisted(listed, real)
    watched.upsert(thing("a", version=11))
    watched.upsert(thing("a", version=11))

    assert replaced.deltas == [Updated(warmed, real, A)]
    assert watched.drain() == [Updated(warmed, thing("a", version=11), A)]


def test_a_warmed_object_that_was_received_is_like_any_other() -> None:
    fifo = DeltaFifo[Thing]()
    fifo.warm_up([thing("a", uid=None)])
    relisted(fifo, thing("a", version=10), version="10")

    fifo.upsert(thing("a", version=10))

    assert fifo.drain() == []


def test_a_warmed_object_is_updated_even_by_the_state_with_which_it_was_warmed() -> None:
    warmed, same = thing("a", version=3), thing("a", version=3)
    fifo = DeltaFifo[Thing]()
    fifo.warm_up([warmed])

    replaced = relisted(fifo, same)

    assert replaced.deltas == [Updated(warmed, same, A)]


def test_an_undecodable_object_can_be_decoded_again_after_a_rewind() -> None:
    good, again = thing("a", version=3), thing("a", version=3)
    fifo = fifo_with(good)
    fifo.decode_failed(undecodable("a", version=12), "12", is_gone=False)
    fifo.drain()

    replaced = relisted(fifo, again, version="5", rewound=True)

    assert replaced.deltas == [Updated(good, again, A)]
    assert not fifo.decode_failures


def test_warming_does_not_change_known_objects() -> None:
    known = thing("a", version=3)
    fifo = fifo_with(known)

    fifo.warm_up([thing("a", uid=None)])

    assert fifo.known[A] is known


def test_a_sync_repeats_known_objects_and_keeps_the_position() -> None:
    a, b = thing("a", version=3), thing("b", version=4)
    fifo = fifo_with(a, b)

    fifo.sync([B, ObjectKey("default", "missing")])
    fifo.sync()

    synced = fifo.drain()
    assert synced == [Sync(b, B), Sync(a, A), Sync(b, B)]
    assert {each.version for each in synced} == {""}


def test_every_delta_has_the_position_after_it() -> None:
    fifo = fifo_with(thing("a", version=3, uid="one"))

    fifo.upsert(thing("a", version=11, uid="two"))
    fifo.upsert(thing("a", version=12, uid="two"))
    fifo.decode_failed(undecodable("b", version=13), "13", is_gone=False)
    fifo.delete(thing("a", version=14, uid="two"))
    fifo.progress("15")
    fifo.replace({}, (), "16", rewound=False)

    moves = [each.version for each in fifo.drain()]
    assert moves == ["", "11", "12", "13", "14", "15", "16"]


async def test_waiting_ends_when_something_arrives() -> None:
    fifo = fifo_with()

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(fifo.wait_for_delta())
        group.create_task(_delivered(fifo))

    assert waiting.done()
    assert fifo.pop() == Progress("12")
    assert fifo.pop() is None


async def _delivered(fifo: DeltaFifo[Thing]) -> None:
    fifo.progress("12")


async def test_waiting_ends_when_a_resync_is_requested() -> None:
    fifo = fifo_with(thing("a", version=3))

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(fifo.wait_for_delta())
        group.create_task(_synced(fifo))

    assert waiting.done()
    assert len(fifo) == 1


async def _synced(fifo: DeltaFifo[Thing]) -> None:
    fifo.sync()


async def test_waiting_continues_when_another_task_took_the_delta() -> None:
    fifo = fifo_with()
    fifo.progress("12")
    fifo.drain()

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(fifo.wait_for_delta())
        taken = group.create_task(_delivered_and_taken(fifo))
        await taken
        ended_early = waiting.done()
        fifo.progress("20")

    assert not ended_early


async def _delivered_and_taken(fifo: DeltaFifo[Thing]) -> None:
    fifo.progress("13")
    fifo.drain()


def test_its_repr_has_counts_and_no_contents() -> None:
    fifo = fifo_with(thing("a", version=3))
    fifo.decode_failed(undecodable("b", version=12), "12", is_gone=False)

    assert repr(fifo) == "<DeltaFifo 1 waiting, 1 known, 1 not decoded, at 12>"
    assert "canary-5c1d" not in repr(fifo.pop())
    assert repr(DeltaFifo[Thing]()) == "<DeltaFifo 0 waiting, 0 known, at no version>"
