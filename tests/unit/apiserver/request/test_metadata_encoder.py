"""Responses in PartialObjectMetadata form."""

from typing import Any

import msgspec
import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.metadata_encoder import LIST, OBJECT, MetadataEncoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry, Key
from tests.embedded import EmbeddedServer

HEAD = {"kind": OBJECT, "apiVersion": "meta.k8s.io/v1"}
ONE, MANY = MetadataEncoder(OBJECT, "v1"), MetadataEncoder(LIST, "v1")


def serving(api: EmbeddedServer, group: str, version: str, plural: str) -> ServedResource:
    found = api.server.registry.find(group, version, plural)
    assert found is not None
    return found


@pytest.fixture
def served(api: EmbeddedServer) -> ServedResource:
    return serving(api, "", "v1", "configmaps")


def about(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "resourceVersion": "5", **more}


def entry(metadata: dict[str, Any], *, previous: Entry | None = None, gone: bool = False) -> Entry:
    obj: Object = {"kind": "X", "apiVersion": "v1", "metadata": metadata, "data": {"a": "b"}}
    return Entry(5, Key("x", metadata["name"]), None if gone else obj, previous)


def decoded(line: bytes) -> Any:
    return msgspec.json.decode(line)


def test_an_object_is_encoded_as_its_metadata_each_time(served: ServedResource) -> None:
    kept = entry(about("a", labels={"x": "}"}))

    shown = [decoded(ONE.one(kept, served)) for _ in range(2)]

    assert shown == [{**HEAD, "metadata": about("a", labels={"x": "}"})}] * 2


def test_a_list_contains_the_metadata_of_each_object(served: ServedResource) -> None:
    entries = [entry(about("a")), entry(about("b"))]

    shown = decoded(MANY.many(entries, served, metadata={"resourceVersion": "9", "continue": ""}))

    assert (shown["kind"], shown["metadata"]) == (LIST, {"resourceVersion": "9"})
    assert shown["items"] == [{**HEAD, "metadata": about(each)} for each in ("a", "b")]


def test_the_items_of_an_empty_list_are_null(served: ServedResource) -> None:
    assert decoded(MANY.many([], served, metadata={}))["items"] is None


def test_a_watch_event_contains_only_metadata(served: ServedResource) -> None:
    kept = entry(about("a"))
    deleted = entry(about("a"), previous=kept, gone=True)
    changed = entry(about("a", labels={"x": "y"}), previous=kept)

    lines = [
        decoded(ONE.event(b"ADDED", kept, served)),
        decoded(ONE.deleted(deleted, served)),
        decoded(ONE.deleted(changed, served)),
        decoded(ONE.bookmark(7, served, initial_events_end=True)),
    ]

    assert [each["type"] for each in lines] == ["ADDED", "DELETED", "DELETED", "BOOKMARK"]
    ended = {"k8s.io/initial-events-end": "true"}
    assert [each["object"] for each in lines] == [
        {**HEAD, "metadata": about("a")},
        {**HEAD, "metadata": about("a")},
        {**HEAD, "metadata": about("a")},
        {**HEAD, "metadata": {"resourceVersion": "7", "annotations": ended}},
    ]


def test_only_the_encoder_of_objects_encodes_watch_events() -> None:
    assert (MANY.lines(), ONE.lines()) == (None, ONE)


def test_an_object_that_is_not_a_list_is_not_encoded_as_a_list(served: ServedResource) -> None:
    review: Object = {
        "kind": "TokenReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
    }

    with pytest.raises(StatusError) as one:
        MANY.one(entry(about("a")), served)
    with pytest.raises(StatusError) as other:
        MANY.other(review)
    with pytest.raises(StatusError) as many:
        ONE.many([], served, metadata={})

    assert one.value.message.endswith("is not a list (*core.ConfigMap)")
    assert other.value.message.endswith("is not a list (*authentication.TokenReview)")
    assert many.value.message.endswith("is a list (*core.ConfigMapList)")


@pytest.mark.parametrize(("others", "left"), [({}, None), ({"x": "y"}, {"x": "y"})])
def test_an_annotation_that_is_an_internal_field_is_omitted(
    api: EmbeddedServer, others: dict[str, str], left: dict[str, str] | None
) -> None:
    daemon_sets = serving(api, "apps", "v1", "daemonsets")
    hidden = {daemon_sets.strategy.hidden_annotation: "1"}
    metadata = about("a", annotations={**hidden, **others})

    shown = decoded(ONE.one(entry(metadata), daemon_sets))["metadata"]

    assert shown.get("annotations") == left
    assert metadata["annotations"] == {**hidden, **others}


def test_the_metadata_of_a_built_in_kind_is_that_of_the_stored_version(api: EmbeddedServer) -> None:
    autoscalers = serving(api, "autoscaling", "v1", "horizontalpodautoscalers")
    metric = {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"averageValue": "1"}}}
    kept: Object = {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": "autoscaling/v2",
        "metadata": about("a"),
        "spec": {"maxReplicas": 3, "scaleTargetRef": {}, "metrics": [metric]},
    }

    shown = decoded(ONE.unstored(kept, autoscalers))

    assert shown["metadata"] == about("a")
    assert "annotations" in decoded(object_encoder.unstored(kept, autoscalers))["metadata"]


@pytest.mark.parametrize(("custom", "go_type"), [(False, "autoscaling.Scale"), (True, "v1.Scale")])
def test_the_error_for_a_scale_contains_its_go_type(custom: bool, go_type: str) -> None:
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web"}}

    with pytest.raises(StatusError) as raised:
        MANY.other(scale, custom=custom)

    assert raised.value.status()["message"].endswith(f"is not a list (*{go_type})")
