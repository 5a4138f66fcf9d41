"""Protobuf responses have the bytes of the real server."""

import json
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from steersman.client import Client, MergePatch
from steersman.kinds import Resource
from steersman_cluster.apiserver.discovery.aggregated_messages import encode_aggregated
from steersman_cluster.apiserver.request.protobuf_responses import encode_document
from steersman_cluster.apiserver.schema.builtin_schemas import META, OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.protobuf.encoder import (
    MessageEncoders,
    enveloped,
    field_of,
    watch_frame,
)
from steersman_cluster.apiserver.schema.protobuf.messages import (
    MAGIC,
    PROTOBUF,
    Messages,
    open_envelope,
)
from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import JSON, HttpResponse
from tests.real.definitions import GROUP, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps
from tests.real.samples import reviews, samples
from tests.real.test_builtin_kinds import as_json, kind_of, sample_of

SCHEMAS, MESSAGES, READERS = BuiltinSchemas.read(), MessageEncoders(), Messages()
YAML = "application/yaml"
OBJECT = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
LIST = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
TABLE = "as=Table;g=meta.k8s.io;v=v1"


def path_of(sample: Resource, *, name: str = "") -> str:
    """The path of a sample, or of its list."""
    resource = type(sample).resource_type
    version = f"/apis/{resource.gvk.api_version}" if resource.gvk.group else "/api/v1"
    place = f"/namespaces/{sample.namespace}" if sample.namespace else ""
    return f"{version}{place}/{resource.plural}" + (f"/{name}" if name else "")


def json_and_protobuf(
    plane: ControlPlane, path: str, *, form: str = ""
) -> tuple[Any, HttpResponse]:
    """The same resource version in JSON and in protobuf; ``form`` is a parameter of Accept."""
    with plane.caller() as server:
        before = server.call("GET", path, accept=JSON + form).json()
        while True:
            response = server.call("GET", path, accept=PROTOBUF + form)
            after = server.call("GET", path, accept=JSON + form).json()
            if before == after:
                return after, response
            before = after


@pytest.mark.parametrize("kind", [kind_of(each) for each in samples("x")], ids=" ".join)
async def test_a_sample_of_each_kind_is_encoded_to_the_same_bytes(
    kind: tuple[str, str], control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    sample = sample_of(kind, namespace)
    await client.create(sample)
    try:
        document, response = json_and_protobuf(control_plane, path_of(sample, name=sample.name))
        named = f"?fieldSelector=metadata.name%3D{quote(sample.name)}"
        documents, responses = json_and_protobuf(control_plane, path_of(sample) + named)
    finally:
        await client.delete(type(sample), sample.name, namespace=sample.namespace)

    assert (response.status, response.content_type) == (200, PROTOBUF)
    assert response.body == encode_document(document)
    assert len(documents["items"]) == 1
    assert responses.body == encode_document(documents)


@pytest.mark.parametrize(
    "review", [type(each) for each in reviews("x")], ids=lambda kind: kind.__name__
)
async def test_the_response_to_a_review_is_encoded_to_the_same_bytes(
    review: type[Resource], control_plane: ControlPlane, namespace: str
) -> None:
    body_object = next(each for each in reviews(namespace) if type(each) is review)
    path, body = path_of(body_object), as_json(body_object)

    with control_plane.caller() as server:
        document = server.call("POST", path, body).json()
        response = server.call("POST", path, body, accept=PROTOBUF)

    assert (response.status, response.content_type) == (201, PROTOBUF)
    # The time in managedFields may differ between the two requests.
    read = READERS.of(SCHEMAS.of(review.resource_type.gvk)).read(
        open_envelope(response.body).raw, {}
    )
    for own, other in zip(
        document["metadata"].get("managedFields", ()),
        read["metadata"].get("managedFields", ()),
        strict=True,
    ):
        own["time"] = other["time"]
    assert response.body == encode_document(document)


async def test_an_empty_list_has_only_metadata(control_plane: ControlPlane, namespace: str) -> None:
    document, response = json_and_protobuf(control_plane, f"/api/v1/namespaces/{namespace}/pods")

    assert document["items"] == []
    assert response.body == encode_document(document)


async def test_a_page_of_a_list_has_a_continue_token(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")

    document, response = json_and_protobuf(
        control_plane, f"/api/v1/namespaces/{namespace}/configmaps?limit=2"
    )

    assert document["metadata"]["remainingItemCount"] >= 1
    assert response.body == encode_document(document)


async def test_a_watch_is_framed_and_has_the_events_of_the_json_stream(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")
    since = (await client.get(AnyConfigMap, "a", namespace=namespace)).resource_version
    await client.patch(AnyConfigMap, "b", MergePatch({"data": {"k": "v"}}), namespace=namespace)
    await client.delete(AnyConfigMap, "a", namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1"

    with control_plane.caller() as server:
        expected = server.call("GET", f"{path}&resourceVersion={since}")
        framed = server.call("GET", f"{path}&resourceVersion={since}", accept=PROTOBUF)

    lines = [json.loads(line) for line in expected.body.splitlines()]
    assert [line["type"] for line in lines][-2:] == ["MODIFIED", "DELETED"]
    assert framed.content_type == f"{PROTOBUF};stream=watch"
    assert framed.body == b"".join(frame_of(line) for line in lines)


def frame_of(line: dict[str, Any]) -> bytes:
    return watch_frame(line["type"].encode(), encode_document(line["object"]))


async def test_a_streaming_list_ends_with_a_bookmark(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")
    path = (
        f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=1"
        "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0"
    )

    with control_plane.caller() as server:
        expected = server.call("GET", path)
        framed = server.call("GET", path, accept=PROTOBUF)

    lines = [json.loads(line) for line in expected.body.splitlines()]
    assert [line["type"] for line in lines][:3] == ["ADDED", "ADDED", "BOOKMARK"]
    # The following bookmarks may have different resource versions.
    frames = framed.body.split(MAGIC)
    assert frames[1:3] == b"".join(map(frame_of, lines)).split(MAGIC)[1:3]
    assert b"k8s.io/initial-events-end" in frames[3]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_metadata_of_a_custom_resource_is_encoded_in_protobuf(
    version: str, control_plane: ControlPlane, client: Client, namespace: str, widgets: None
) -> None:
    await client.create(config_map(namespace, "one"))
    await client.create(widget(namespace, "one"))
    parameters = OBJECT.replace("v=v1", f"v={version}"), LIST.replace("v=v1", f"v={version}")
    places = (
        f"/api/v1/namespaces/{namespace}/configmaps",
        f"/apis/{GROUP}/v1/namespaces/{namespace}/widgets",
    )

    for path in places:
        for where, form in zip((f"{path}/one", path), parameters, strict=True):
            document, response = json_and_protobuf(control_plane, where, form=f";{form}")
            envelope = open_envelope(response.body)
            assert (envelope.api_version, envelope.kind) == (
                document["apiVersion"],
                document["kind"],
            )
            assert response.body == enveloped(*envelope[:2], partial_message(document, version))


def partial_message(document: dict[str, Any], version: str) -> bytes:
    """The expected message of a PartialObjectMetadata, or of its list."""
    encode_metadata = MESSAGES.of(SCHEMAS.named(OBJECT_META))
    if "items" not in document:
        return field_of(1)(encode_metadata(document["metadata"]))
    items = b"".join(
        field_of(2 if version == "v1" else 1)(field_of(1)(encode_metadata(each["metadata"])))
        for each in document["items"]
    )
    own = MESSAGES.of(SCHEMAS.named(f"{META}.ListMeta"))(document["metadata"])
    return field_of(1)(own) + items if version == "v1" else items + field_of(2)(own)


async def test_an_error_is_in_protobuf_if_the_client_accepts_it(
    control_plane: ControlPlane, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    wrong = {"metadata": {"name": "Upper"}}

    with control_plane.caller() as server:
        for method, where, body in (
            ("GET", f"{path}/none", None),
            ("POST", path, wrong),
            ("GET", "/apis/apps/v1/nothings", None),
        ):
            expected = server.call(method, where, body)
            response = server.call(method, where, body, accept=PROTOBUF)
            assert (response.status, response.content_type) == (expected.status, PROTOBUF)
            assert response.body == encode_document(expected.json())


async def test_the_response_to_a_write_is_in_protobuf(
    control_plane: ControlPlane, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}

    with control_plane.caller() as server:

        def stored() -> bytes:
            return encode_document(server.call("GET", f"{path}/one").json())

        created = server.call("POST", path, encode_document(one), sends=PROTOBUF, accept=PROTOBUF)
        assert (created.status, created.body) == (201, stored())
        one["data"] = {"k": "v"}
        updated = server.call("PUT", f"{path}/one", one, accept=PROTOBUF)
        assert (updated.status, updated.body) == (200, stored())
        change = {"metadata": {"labels": {"a": "b"}}}
        merge_patch = "application/merge-patch+json"
        patched = server.call("PATCH", f"{path}/one", change, sends=merge_patch, accept=PROTOBUF)
        assert (patched.status, patched.body) == (200, stored())
        uid = server.call("GET", f"{path}/one").json()["metadata"]["uid"]
        deleted = server.call("DELETE", f"{path}/one", accept=PROTOBUF)
    success = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Success",
        "details": {"name": "one", "kind": "configmaps", "uid": uid},
    }
    assert (deleted.status, deleted.body) == (200, encode_document(success))


async def test_a_scale_is_encoded_in_protobuf(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    sample = sample_of(("apps/v1", "Deployment"), namespace)
    await client.create(sample)

    document, response = json_and_protobuf(
        control_plane, path_of(sample, name=sample.name) + "/scale"
    )

    assert response.body == encode_document(document)


@pytest.mark.parametrize(
    "path", ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", f"/apis/{GROUP}/v1"]
)
async def test_a_discovery_document_is_encoded_to_the_same_bytes(
    path: str, control_plane: ControlPlane, widgets: None
) -> None:
    document, response = json_and_protobuf(control_plane, path)

    assert (response.status, response.content_type) == (200, PROTOBUF)
    assert response.body == encode_document(document)


@pytest.mark.parametrize("path", ["/api", "/apis"])
async def test_aggregated_discovery_is_encoded_to_the_same_bytes(
    path: str, control_plane: ControlPlane
) -> None:
    form = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

    with control_plane.caller() as server:
        document = server.call("GET", path, accept=f"{JSON};{form}").json()
        response = server.call("GET", path, accept=f"{PROTOBUF};{form},{JSON}")

    assert response.content_type == f"{PROTOBUF};{form}"
    assert response.body == encode_aggregated(document)


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apps", "/apis/apps/v1"])
async def test_a_discovery_document_can_be_in_yaml(path: str, control_plane: ControlPlane) -> None:
    with control_plane.caller() as server:
        document = server.call("GET", path).json()
        response = server.call("GET", path, accept=YAML)

    assert response.content_type == YAML
    assert yaml.safe_load(response.body) == document


BY_ROUTE = f"406: Not Acceptable Available representations: {JSON}"
BY_NAME = f"only the following media types are accepted: {JSON}, {YAML}, {PROTOBUF}"


@pytest.mark.parametrize(
    ("path", "accept", "expected_text"),
    [
        ("/api", "text/html", f"{BY_ROUTE}, {YAML}, {PROTOBUF}"),
        ("/api", "application/*", f"{BY_ROUTE}, {YAML}, {PROTOBUF}"),
        ("/api", f"{PROTOBUF};{TABLE}", BY_NAME),
        ("/apis", "text/html", BY_NAME),
        ("/apis/apps", "text/html", BY_NAME),
        ("/apis/apps/v1", "text/html", f"{BY_ROUTE}, {YAML}, {PROTOBUF}"),
        ("/apis/apps/v1", f"{PROTOBUF};sv=v1", BY_NAME),
        (f"/apis/{GROUP}/v1", "text/html", BY_NAME),
        ("/version", "text/html", BY_ROUTE),
        ("/version", YAML, BY_ROUTE),
        ("/version", f"{JSON};as=Chair", ""),
    ],
)
async def test_a_discovery_error_lists_the_supported_media_types(
    path: str, accept: str, expected_text: str, control_plane: ControlPlane, widgets: None
) -> None:
    with control_plane.caller() as server:
        response = server.call("GET", path, accept=accept)

    text = " ".join(response.body.replace(b"\\n", b" ").decode().split())
    assert expected_text in text
    assert response.status == (406 if expected_text else 200)


BUILT_IN, CUSTOM = "configmaps", "widgets"
ALL = f"{JSON}, {YAML}, {PROTOBUF}"
STREAMS = f"{JSON};stream=watch, {PROTOBUF};stream=watch"


@pytest.mark.parametrize(
    ("resource", "accept", "media_type"),
    [
        (BUILT_IN, PROTOBUF, PROTOBUF),
        (BUILT_IN, f"{PROTOBUF},{JSON}", PROTOBUF),
        (BUILT_IN, f"{JSON},{PROTOBUF}", JSON),
        (BUILT_IN, f"{PROTOBUF};q=0.1,{JSON}", JSON),
        (BUILT_IN, f"{PROTOBUF}, */*", PROTOBUF),
        (BUILT_IN, f"*/*,{PROTOBUF}", PROTOBUF),
        (BUILT_IN, f"*/*;q=0.9,{PROTOBUF};q=0.8", PROTOBUF),
        (BUILT_IN, f"{PROTOBUF};stream=watch", PROTOBUF),
        (BUILT_IN, f"{PROTOBUF};{TABLE},{JSON};{TABLE}", JSON),
        (BUILT_IN, f"{PROTOBUF};{TABLE},{PROTOBUF}", PROTOBUF),
        (CUSTOM, f"{PROTOBUF},{JSON}", JSON),
        (CUSTOM, f"{PROTOBUF}, */*", JSON),
        (CUSTOM, f"{PROTOBUF};{LIST},{JSON};{LIST},{JSON}", PROTOBUF),
    ],
)
async def test_the_first_accepted_and_supported_media_type_is_chosen(
    resource: str,
    accept: str,
    media_type: str,
    control_plane: ControlPlane,
    namespace: str,
    widgets: None,
) -> None:
    with control_plane.caller() as server:
        response = server.call("GET", place_of(resource, namespace), accept=accept)

    assert (response.status, response.content_type) == (200, media_type)


@pytest.mark.parametrize(
    ("resource", "query", "accept", "accepted"),
    [
        (BUILT_IN, "", f"{PROTOBUF};{TABLE}", ALL),
        (BUILT_IN, "", f"{PROTOBUF};stream=other", ALL),
        (BUILT_IN, "", f"{YAML};stream=watch", ALL),
        (BUILT_IN, "", f"{PROTOBUF};sv=v2", ALL),
        (BUILT_IN, "?watch=1", YAML, STREAMS),
        (BUILT_IN, "?watch=1", f"{YAML},{JSON};q=0.5", STREAMS),
        (BUILT_IN, "?watch=1", f"{PROTOBUF};{TABLE}", ALL),
        (BUILT_IN, "", "text/html", f"{ALL}, {STREAMS}"),
        (BUILT_IN, "/some", "application/*", ALL),
        (CUSTOM, "", PROTOBUF, ALL),
        (CUSTOM, "?watch=1", PROTOBUF, ALL),
        (CUSTOM, "", "text/html", ALL),
    ],
)
async def test_without_a_supported_media_type_the_error_lists_the_supported_ones(
    resource: str,
    query: str,
    accept: str,
    accepted: str,
    control_plane: ControlPlane,
    namespace: str,
    widgets: None,
) -> None:
    with control_plane.caller() as server:
        response = server.call("GET", place_of(resource, namespace) + query, accept=accept)

    assert response.status == 406
    # YAML wraps long lines.
    assert f": {accepted}".encode() in b" ".join(response.body.split())


def place_of(resource: str, namespace: str) -> str:
    group = "/api/v1" if resource == BUILT_IN else f"/apis/{GROUP}/v1"
    return f"{group}/namespaces/{namespace}/{resource}"
