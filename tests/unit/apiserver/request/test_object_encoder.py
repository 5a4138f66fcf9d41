"""JSON encoding of objects: alone, in lists and in watch events."""

from dataclasses import replace

import msgspec
import pytest

from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry, Key
from tests.embedded import EmbeddedServer

KEY = Key("configmaps", "default/a")


@pytest.fixture
def served(api: EmbeddedServer) -> ServedResource:
    found = api.server.registry.find("", "v1", "configmaps")
    assert found is not None
    return found


def written(revision: int, color: str, *, previous: Entry | None = None) -> Entry:
    obj = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "resourceVersion": str(revision)},
        "data": {"color": color},
    }
    return Entry(revision, KEY, obj, previous)


def test_kind_and_api_version_come_first_and_metadata_has_the_usual_order() -> None:
    obj = {
        "data": {},
        "metadata": {"labels": {}, "uid": "u", "name": "a"},
        "apiVersion": "v1",
        "kind": "ConfigMap",
    }

    ordered = object_encoder.ordered(obj)

    assert list(ordered) == ["kind", "apiVersion", "metadata", "data"]
    assert list(ordered["metadata"]) == ["name", "uid", "labels"]
    assert ordered == obj


def test_an_object_has_the_same_content_alone_in_a_list_and_in_an_event(
    served: ServedResource,
) -> None:
    entry = written(5, "red")

    alone = msgspec.json.decode(object_encoder.one(entry, served))
    listed = msgspec.json.decode(object_encoder.many([entry], served, metadata={}))
    event = msgspec.json.decode(object_encoder.event(b"ADDED", entry, served))

    assert alone == entry.value
    # Items omit kind and apiVersion, which follow from those of the list.
    assert listed["items"] == [{"metadata": alone["metadata"], "data": alone["data"]}]
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert event == {"type": "ADDED", "object": alone}


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_list_contains_every_entry_in_order(number: int, served: ServedResource) -> None:
    entries = [written(revision, "red") for revision in range(number)]

    body = object_encoder.many(entries, served, metadata={"resourceVersion": "9"})

    listed = msgspec.json.decode(body)
    versions = [each["metadata"]["resourceVersion"] for each in listed["items"]]
    assert versions == [str(revision) for revision in range(number)]
    assert listed["metadata"] == {"resourceVersion": "9"}


def test_an_entry_is_encoded_once(served: ServedResource) -> None:
    entry = written(5, "red")

    first = object_encoder.rest_of_entry(entry, served)

    assert object_encoder.rest_of_entry(entry, served) is first


def test_a_deleted_event_contains_the_last_object_at_the_revision_of_the_deletion(
    served: ServedResource,
) -> None:
    deleted = Entry(6, KEY, None, written(5, "red"))

    line = msgspec.json.decode(object_encoder.deleted(deleted, served))

    assert line["type"] == "DELETED"
    assert line["object"]["data"] == {"color": "red"}
    assert line["object"]["metadata"]["resourceVersion"] == "6"


def test_an_object_that_no_longer_matches_is_sent_as_deleted_in_its_previous_state(
    served: ServedResource,
) -> None:
    changed = written(6, "green", previous=written(5, "red"))

    line = msgspec.json.decode(object_encoder.deleted(changed, served))

    assert line["type"] == "DELETED"
    assert line["object"]["data"] == {"color": "red"}
    assert line["object"]["metadata"]["resourceVersion"] == "6"


def test_an_entry_without_a_predecessor_has_no_previous_state() -> None:
    with pytest.raises(ValueError, match="has no previous object"):
        object_encoder.last_seen(written(5, "red"))


@pytest.mark.parametrize("ends", [True, False])
def test_a_bookmark_contains_only_its_revision(ends: bool, served: ServedResource) -> None:
    line = msgspec.json.decode(object_encoder.bookmark(7, served, initial_events_end=ends))

    metadata = line["object"]["metadata"]
    assert line["type"] == "BOOKMARK"
    assert line["object"]["kind"] == "ConfigMap"
    assert metadata["resourceVersion"] == "7"
    assert metadata.get("annotations", {}) == (
        {"k8s.io/initial-events-end": "true"} if ends else {}
    )


def test_an_object_in_another_version_is_converted_once_for_all_watchers(
    served: ServedResource,
) -> None:
    converted: list[object] = []

    def convert(obj: Object) -> Object:
        converted.append(obj)
        return {**obj, "data": {"color": "blue"}}

    entry, other = written(5, "red"), replace(served, from_stored=convert)

    shown = [object_encoder.one(entry, each) for each in (other, other, served, other)]

    colors = [msgspec.json.decode(each)["data"]["color"] for each in shown]
    assert colors == ["blue", "blue", "red", "blue"]
    assert len(converted) == 1
