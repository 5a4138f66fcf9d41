"""Protobuf encoding of objects.

The expected bytes are those of Go's marshallers.
"""

from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.protobuf.encoder import (
    MessageEncoders,
    enveloped,
    varint,
    watch_frame,
)
from steersman_cluster.apiserver.schema.protobuf.messages import MAGIC, PROTOBUF
from steersman_cluster.apiserver.schema.serializer.decoder import (
    BodyDecoder,
    BodyDecoders,
    canonical,
    decode,
)
from tests.fuzz.wire_messages import Messages
from tests.unit.apiserver.schema.protobuf.test_messages import entry, message, number, text

SAMPLES: dict[str, Any] = yaml.load(
    (Path(__file__).parents[4] / "recorded/differential/samples.yaml").read_text(encoding="utf-8"),
    getattr(yaml, "CSafeLoader", yaml.SafeLoader),  # noqa: S506
)
ROUNDS = 300

EXPECTATIONS = BodyDecoders.of(BuiltinSchemas.read())
ENCODERS = MessageEncoders()


def expected(api_version: str, kind: str) -> BodyDecoder:
    return EXPECTATIONS.builtin(GroupVersionKind.of(api_version, kind))


def encoded(api_version: str, kind: str, obj: dict[str, Any]) -> bytes:
    return ENCODERS.of(expected(api_version, kind).schema)(obj)


def read_again(obj: dict[str, Any], read_as: BodyDecoder) -> dict[str, Any]:
    body = enveloped(read_as.gvk.api_version, read_as.gvk.kind, ENCODERS.of(read_as.schema)(obj))
    found, complaints = decode(body, read_as, content_type=PROTOBUF)
    assert complaints == []
    return found


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_sample_of_each_kind_is_unchanged_after_encoding_and_decoding(
    sample: dict[str, Any],
) -> None:
    read_as = expected(sample["apiVersion"], sample["kind"])
    obj, _ = canonical(deepcopy(sample), read_as)
    for template in obj.get("spec", {}).get("volumeClaimTemplates", ()):
        # Messages have no type fields; the server sets those of the claim templates.
        del template["apiVersion"], template["kind"]

    assert read_again(obj, read_as) == obj


@pytest.mark.parametrize("kind", ["Pod", "Service", "Node", "PersistentVolume", "Event"])
def test_a_decoded_random_message_is_unchanged_after_encoding_and_decoding(kind: str) -> None:
    read_as, bodies, read = expected("v1", kind), Messages(Random(kind)), 0
    for _ in range(ROUNDS):
        body = bodies.body(read_as.schema, api_version="v1", kind=kind)
        try:
            obj, _ = decode(body, read_as, content_type=PROTOBUF)
        except StatusError:
            continue
        read += 1

        assert read_again(obj, read_as) == obj

    assert read > ROUNDS / 30


EMPTY_METADATA = b"".join([text(field, "") for field in range(1, 7)] + [number(7, 0), message(8)])


def test_a_field_that_is_not_a_pointer_is_encoded_even_if_empty() -> None:
    volumes = [{"name": "v"}, {"name": "w", "secret": {}}]
    pod = encoded("v1", "Pod", {"spec": {"volumes": volumes}})

    assert encoded("v1", "ConfigMap", {}) == message(1, EMPTY_METADATA)
    # Go embeds the volume source as a struct, so its message is always present.
    assert message(1, text(1, "v"), message(2)) in pod
    assert message(1, text(1, "w"), message(2, message(6, text(1, "")))) in pod


def test_maps_are_encoded_by_key_and_fields_by_number() -> None:
    obj: dict[str, Any] = {"data": {"b": "2", "a": "1", "é": "3", "Z": "0"}, "immutable": True}

    assert encoded("v1", "ConfigMap", obj) == (
        message(1, EMPTY_METADATA)
        + b"".join(entry(2, key, text(2, obj["data"][key])) for key in ("Z", "a", "b", "é"))
        + number(4, 1)
    )


def test_special_types_have_their_own_encoding() -> None:
    times = {"acquireTime": "1970-01-01T00:01:40.123456Z", "renewTime": "1969-12-31T23:59:59.5Z"}
    lease = encoded("coordination.k8s.io/v1", "Lease", {"spec": times})
    secret = encoded("v1", "Secret", {"data": {"a": "AP8=", "b": ""}})
    quota = encoded("v1", "ResourceQuota", {"spec": {"hard": {"pods": "1"}}})
    port = {"name": "web", "protocol": "TCP", "port": 80, "targetPort": "http"}
    service = encoded("v1", "Service", {"spec": {"ports": [port, {**port, "targetPort": -1}]}})
    revision = encoded("apps/v1", "ControllerRevision", {"data": {"b": [1]}, "revision": -7})

    assert message(3, number(1, 100), number(2, 123456000)) in lease
    assert message(4, number(1, -1), number(2, 500000000)) in lease
    assert secret.endswith(
        entry(2, "a", text(2, b"\0\xff")) + entry(2, "b", text(2, b"")) + text(3, "")
    )
    assert entry(1, "pods", message(2, text(1, "1"))) in quota
    assert message(4, number(1, 1), number(2, 0), text(3, "http")) in service
    assert message(4, number(1, 0), number(2, -1), text(3, "")) in service
    assert revision.endswith(message(2, text(1, '{"b":[1]}')) + number(3, -7))


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "string"}},
        {"items": [{"type": "string"}, {}]},
        {"additionalProperties": False},
        {"additionalProperties": {"type": "string"}},
        {"dependencies": {"a": ["b"], "c": {"type": "object"}}},
        {"default": [1], "enum": [None, "a"], "maximum": 1.5, "not": {"not": {}}},
    ],
)
def test_schema_unions_are_decoded_as_the_encoded_alternative(
    schema: dict[str, Any],
) -> None:
    read_as = expected("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    obj, _ = canonical({"spec": {"versions": [version]}}, read_as)

    assert read_again(obj, read_as)["spec"] == obj["spec"]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16383, 16384])
def test_the_length_of_a_string_is_encoded_correctly(size: int) -> None:
    found = encoded("v1", "ConfigMap", {"data": {"k": "x" * size}})

    assert found == message(1, EMPTY_METADATA) + entry(2, "k", text(2, "x" * size))


def test_an_envelope_contains_the_kind_and_the_message() -> None:
    whole = enveloped("apps/v1", "Deployment", b"content")

    kind = message(1, text(1, "apps/v1"), text(2, "Deployment"))
    assert whole == MAGIC + kind + text(2, b"content") + text(3, "") + text(4, "")


def test_a_watch_frame_is_an_event_with_its_length() -> None:
    frame = watch_frame(b"ADDED", b"x" * 200)

    event = text(1, "ADDED") + message(2, text(1, b"x" * 200))
    assert frame == len(event).to_bytes(4, "big") + event


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, b"\0"), (127, b"\x7f"), (300, b"\xac\x02"), (-1, b"\xff" * 9 + b"\x01")],
)
def test_integers_are_encoded_as_varints(value: int, written: bytes) -> None:
    assert varint(value) == written
