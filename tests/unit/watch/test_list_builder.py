"""The list builder merges pages and events into one list without duplicates or gaps."""

from steersman.client import DecodeFailure, ObjectDeleted, ObjectWritten
from steersman.errors import InvalidObject
from steersman.kinds import DecodedList
from steersman.watch import identity_in
from steersman.watch.list_builder import ListBuilder
from tests.unit.watch.scripted import ConfigMap, invalid, obj, page


def nameless(uid: str) -> InvalidObject:
    return InvalidObject(
        ref="ConfigMap", into="ConfigMap", problem="it is odd", body={"metadata": {"uid": uid}}
    )


def uids(builder: ListBuilder[ConfigMap]) -> list[str]:
    return [uid for _, uid, _ in (identity_in(error.body) for error in builder.decode_failures)]


def test_the_first_of_two_entries_of_an_undecodable_object_counts() -> None:
    builder = ListBuilder[ConfigMap]()

    builder.add_page(page(version=5, decode_failures=["a", "a"]))
    builder.add_page(page(version=5, decode_failures=["a", "b"]))

    assert [error.ref for error in builder.decode_failures] == [invalid("a").ref, invalid("b").ref]


def test_an_object_decoded_on_one_page_counts_as_decoded() -> None:
    builder = ListBuilder[ConfigMap]()

    builder.add_page(page(obj("b", 4), version=5, decode_failures=["a"]))
    builder.add_page(page(obj("a", 3), version=5, decode_failures=["b"]))

    assert sorted(key.name for key in builder.objects) == ["a", "b"]
    assert builder.decode_failures == []


def test_undecodable_objects_without_a_name_are_separate() -> None:
    listed, streamed = ListBuilder[ConfigMap](), ListBuilder[ConfigMap]()
    one, two = nameless("one"), nameless("two")

    listed.add_page(DecodedList(items=(), invalid=(one, two)))
    streamed.add(DecodeFailure(one, "3", False))
    streamed.add(DecodeFailure(two, "4", False))
    streamed.add(DecodeFailure(nameless("three"), "5", True))

    assert uids(listed) == uids(streamed) == ["one", "two"]


def test_the_last_event_of_an_object_counts() -> None:
    builder = ListBuilder[ConfigMap]()

    builder.add(DecodeFailure(invalid("a"), "2", False))
    builder.add(ObjectWritten(obj("a", 3)))
    builder.add(ObjectWritten(obj("b", 4)))
    builder.add(DecodeFailure(invalid("b"), "5", False))
    builder.add(DecodeFailure(invalid("c"), "6", False))
    builder.add(ObjectDeleted(obj("c", 7)))
    builder.add(ObjectWritten(obj("d", 8)))
    builder.add(DecodeFailure(invalid("d"), "9", True))

    assert [each.resource_version for each in builder.objects.values()] == ["3"]
    assert [error.ref for error in builder.decode_failures] == [invalid("b").ref]
