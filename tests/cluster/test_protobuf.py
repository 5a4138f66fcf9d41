"""Responses in protobuf, which Kubernetes' own clients prefer for built-in kinds."""

from steersman.client import Client, MergePatch
from steersman.kinds import core_v1
from steersman_cluster.apiserver.request.protobuf_responses import encode_document
from steersman_cluster.apiserver.schema.protobuf.encoder import watch_frame
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF
from tests.embedded import EmbeddedServer
from tests.real.objects import config_map, create_config_maps


async def test_an_object_is_encoded_again_once_it_has_changed(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    await client.create(config_map(namespace, "one", color="blue"))
    before = await api.ask("GET", path, accept=PROTOBUF)

    red = MergePatch({"data": {"color": "red"}})
    await client.patch(core_v1.ConfigMap, "one", red, namespace=namespace)

    after = await api.ask("GET", path, accept=PROTOBUF)
    assert b"blue" in before.body
    assert after.header("content-type") == PROTOBUF
    assert after.body == encode_document(await api.asked("GET", path))


async def test_one_object_has_a_message_in_each_version(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    about = core_v1.ObjectReference(kind="ConfigMap", name="one", namespace=namespace)
    event = core_v1.Event(
        metadata=config_map(namespace, "e").metadata, involved_object=about, message="hello"
    )
    await client.create(event)

    for version in ("/api/v1", "/apis/events.k8s.io/v1", "/api/v1"):
        path = f"{version}/namespaces/{namespace}/events"
        response = await api.ask("GET", path, accept=PROTOBUF)
        assert response.body == encode_document(await api.asked("GET", path))


async def test_a_watch_from_a_forgotten_version_ends_with_a_status_in_a_frame() -> None:
    api = EmbeddedServer()
    namespace = await api.namespace()
    await create_config_maps(api.client(), namespace, "a", "b")
    api.server.compactor.compact_all()
    path = f"/api/v1/namespaces/{namespace}/configmaps?resourceVersion=1"

    async with api.watch(path) as lines:
        line = await anext(lines)
    async with api.pieces(path, accept=PROTOBUF) as pieces:
        framed = [piece async for piece in pieces]

    assert (line["type"], line["object"]["code"]) == ("ERROR", 410)
    assert framed == [watch_frame(b"ERROR", encode_document(line["object"]))]


async def test_an_unauthenticated_request_is_rejected_in_protobuf(api: EmbeddedServer) -> None:
    refused = await api.ask("GET", "/api/v1/pods", accept=PROTOBUF, token="none")

    assert (refused.status, refused.header("content-type")) == (401, PROTOBUF)
