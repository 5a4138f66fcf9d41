"""Kinds of which nothing but the metadata is wanted."""

from typing import Any

import msgspec
import pytest

from steersman.errors import BadAnswer, InvalidObject, NotAKind
from steersman.kinds import (
    Codec,
    MetadataOnly,
    Resource,
    Unstructured,
    apps_v1,
    core_v1,
    metadata_only,
    replace,
)

SecretMetadata = metadata_only(core_v1.Secret)
CODEC = Codec()
WANTED = "get Secret default/db"


def shown(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "db", "namespace": "default", "labels": {"app": "db"}},
        **changes,
    }


def decoded(body: object) -> MetadataOnly:
    return CODEC.decode(SecretMetadata, CODEC.encode(body), wanted=WANTED)


def test_the_class_is_the_same_every_time_and_another_for_each_kind() -> None:
    loose = Unstructured.of("v1", "Secret")

    assert metadata_only(core_v1.Secret) is SecretMetadata
    assert metadata_only(loose) is SecretMetadata
    assert metadata_only(core_v1.Secret.resource_type) is SecretMetadata
    assert metadata_only(SecretMetadata) is SecretMetadata
    assert metadata_only(core_v1.ConfigMap) is not SecretMetadata


def test_it_lives_where_the_whole_objects_live() -> None:
    assert SecretMetadata.resource_type == core_v1.Secret.resource_type
    assert metadata_only(core_v1.Node).resource_type.namespaced is False


def test_an_object_is_what_the_whole_object_is() -> None:
    found = decoded(shown())

    assert type(found) is SecretMetadata
    assert (found.api_version, found.kind) == ("v1", "Secret")
    assert str(found.ref) == "Secret default/db"
    assert (found.name, found.namespace, found.labels) == ("db", "default", {"app": "db"})
    assert "kind='Secret'" in repr(found)


def test_an_object_is_on_the_wire_what_the_server_showed() -> None:
    found = decoded(shown())

    changed = replace(found, metadata=replace(found.metadata, labels=None))

    assert decoded(found) == found
    assert msgspec.json.decode(CODEC.encode(found)) == shown()
    assert changed.labels == {}
    assert changed.kind == "Secret"


def test_an_object_cannot_be_changed() -> None:
    found: Any = decoded(shown())

    for field in ("kind", "api_version", "metadata"):
        with pytest.raises(AttributeError):
            setattr(found, field, "x")


def test_a_list_of_metadata_is_read() -> None:
    page = {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "7"},
        "items": [shown(), {"metadata": {"name": "bare"}}],
    }

    found = CODEC.decode_list(SecretMetadata, CODEC.encode(page), wanted=WANTED)

    assert [each.name for each in found.items] == ["db", "bare"]
    assert found.resource_version == "7"


def test_an_object_that_does_not_fit_is_named_by_its_kind() -> None:
    with pytest.raises(InvalidObject) as refusal:
        decoded(shown(metadata={"name": "db", "namespace": "default", "labels": 7}))

    assert refusal.value.ref == "Secret default/db"


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "db"}},
        shown(kind="Table"),
        7,
    ],
)
def test_an_answer_that_is_not_the_metadata_is_refused(body: object) -> None:
    with pytest.raises(BadAnswer, match=r"not meta\.k8s\.io/v1 PartialObjectMetadata"):
        decoded(body)


def test_a_list_of_whole_objects_is_refused() -> None:
    page = {"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": []}

    with pytest.raises(BadAnswer, match=r"not a list of meta\.k8s\.io/v1 PartialObjectMetadata"):
        CODEC.decode_list(SecretMetadata, CODEC.encode(page), wanted=WANTED)


@pytest.mark.parametrize("kind", [Resource, Unstructured])
def test_what_is_no_kind_has_no_metadata_to_ask_for(
    kind: type[Resource] | type[Unstructured],
) -> None:
    with pytest.raises(NotAKind):
        metadata_only(kind)


def test_several_versions_of_a_kind_are_several_classes() -> None:
    old = Unstructured.of("apps/v1beta1", "Deployment")

    assert metadata_only(old) is not metadata_only(apps_v1.Deployment)
