"""Metadata-only variants of kinds."""

from typing import Any

import msgspec
import pytest

from steersman.errors import InvalidObject, InvalidResponse, NotAKind
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


def test_each_kind_has_exactly_one_metadata_class() -> None:
    loose = Unstructured.of("v1", "Secret")

    assert metadata_only(core_v1.Secret) is SecretMetadata
    assert metadata_only(loose) is SecretMetadata
    assert metadata_only(core_v1.Secret.resource_type) is SecretMetadata
    assert metadata_only(SecretMetadata) is SecretMetadata
    assert metadata_only(core_v1.ConfigMap) is not SecretMetadata


def test_a_metadata_class_has_the_resource_of_its_kind() -> None:
    assert SecretMetadata.resource_type == core_v1.Secret.resource_type
    assert metadata_only(core_v1.Node).resource_type.namespaced is False


def test_a_metadata_object_has_the_identity_of_the_whole_object() -> None:
    found = decoded(shown())

    assert type(found) is SecretMetadata
    assert (found.api_version, found.kind) == ("v1", "Secret")
    assert str(found.ref) == "Secret default/db"
    assert (found.name, found.namespace, found.labels) == ("db", "default", {"app": "db"})
    assert "kind='Secret'" in repr(found)


def test_a_metadata_object_is_encoded_as_it_was_received() -> None:
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


def test_a_list_of_metadata_is_decoded() -> None:
    page = {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "7"},
        "items": [shown(), {"metadata": {"name": "bare"}}],
    }

    found = CODEC.decode_list(SecretMetadata, CODEC.encode(page), wanted=WANTED)

    assert [each.name for each in found.items] == ["db", "bare"]
    assert found.resource_version == "7"


def test_the_error_for_an_undecodable_object_names_its_kind() -> None:
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
def test_a_response_that_is_not_the_metadata_is_rejected(body: object) -> None:
    with pytest.raises(InvalidResponse, match=r"expected meta\.k8s\.io/v1 PartialObjectMetadata"):
        decoded(body)


def test_a_list_of_complete_objects_is_rejected() -> None:
    page = {"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": []}

    with pytest.raises(
        InvalidResponse, match=r"expected a list of meta\.k8s\.io/v1 PartialObjectMetadata"
    ):
        CODEC.decode_list(SecretMetadata, CODEC.encode(page), wanted=WANTED)


@pytest.mark.parametrize("kind", [Resource, Unstructured])
def test_a_class_that_is_not_a_kind_has_no_metadata_class(
    kind: type[Resource] | type[Unstructured],
) -> None:
    with pytest.raises(NotAKind):
        metadata_only(kind)


def test_each_version_of_a_kind_has_its_own_metadata_class() -> None:
    old = Unstructured.of("apps/v1beta1", "Deployment")

    assert metadata_only(old) is not metadata_only(apps_v1.Deployment)
