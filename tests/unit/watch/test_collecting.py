"""Pages and events become one list, in which nothing is twice and nothing is lost."""

from steersman.client import DecodeFailure, Removed, Wrote
from steersman.errors import InvalidObject
from steersman.kinds import DecodedList
from steersman.watch import identity_in
from steersman.watch.collecting import Collection
from tests.unit.watch.kit import ConfigMap, invalid, obj, page


def nameless(uid: str) -> InvalidObject:
    return InvalidObject(
        ref="ConfigMap", into="ConfigMap", problem="it is odd", body={"metadata": {"uid": uid}}
    )


def uids(collection: Collection[ConfigMap]) -> list[str]:
    return [uid for _, uid, _ in (identity_in(error.body) for error in collection.misfits)]


def test_of_a_misfit_that_is_twice_in_a_list_the_first_counts() -> None:
    collection = Collection[ConfigMap]()

    collection.add_page(page(version=5, misfits=["a", "a"]))
    collection.add_page(page(version=5, misfits=["a", "b"]))

    assert [error.ref for error in collection.misfits] == [invalid("a").ref, invalid("b").ref]


def test_what_fits_on_one_page_and_not_on_another_fits() -> None:
    collection = Collection[ConfigMap]()

    collection.add_page(page(obj("b", 4), version=5, misfits=["a"]))
    collection.add_page(page(obj("a", 3), version=5, misfits=["b"]))

    assert sorted(key.name for key in collection.objects) == ["a", "b"]
    assert collection.misfits == []


def test_misfits_without_a_name_are_kept_apart_from_each_other() -> None:
    listed, streamed = Collection[ConfigMap](), Collection[ConfigMap]()
    one, two = nameless("one"), nameless("two")

    listed.add_page(DecodedList(items=(), invalid=(one, two)))
    streamed.add(DecodeFailure(one, "3", False))
    streamed.add(DecodeFailure(two, "4", False))
    streamed.add(DecodeFailure(nameless("three"), "5", True))

    assert uids(listed) == uids(streamed) == ["one", "two"]


def test_an_object_is_as_the_last_event_says() -> None:
    collection = Collection[ConfigMap]()

    collection.add(DecodeFailure(invalid("a"), "2", False))
    collection.add(Wrote(obj("a", 3)))
    collection.add(Wrote(obj("b", 4)))
    collection.add(DecodeFailure(invalid("b"), "5", False))
    collection.add(DecodeFailure(invalid("c"), "6", False))
    collection.add(Removed(obj("c", 7)))
    collection.add(Wrote(obj("d", 8)))
    collection.add(DecodeFailure(invalid("d"), "9", True))

    assert [each.resource_version for each in collection.objects.values()] == ["3"]
    assert [error.ref for error in collection.misfits] == [invalid("b").ref]
