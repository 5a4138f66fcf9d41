"""Decoding of protobuf bodies.

The expected errors are those of kube-apiserver.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.protobuf.messages import MAGIC, PROTOBUF
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoders, decode


@pytest.fixture(scope="module")
def expectations() -> BodyDecoders:
    return BodyDecoders(BuiltinSchemas.read())


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: str | bytes) -> bytes:
    content = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(content)) + content


def message(field: int, *parts: bytes) -> bytes:
    return text(field, b"".join(parts))


def entry(field: int, key: str, value: bytes) -> bytes:
    return message(field, text(1, key), value)


def enveloped(api_version: str, kind: str, *parts: bytes) -> bytes:
    type_meta = message(1, text(1, api_version), text(2, kind))
    return MAGIC + type_meta + message(2, *parts) + text(3, "") + text(4, "")


NAMED_X = message(1, text(1, "x"))
CONFIG_MAP, POD = ("v1", "ConfigMap"), ("v1", "Pod")


def read(expectations: BodyDecoders, api_version: str, kind: str, *parts: bytes) -> dict[str, Any]:
    expected = expectations.builtin(GroupVersionKind.of(api_version, kind))
    body = enveloped(api_version, kind, NAMED_X, *parts)
    obj, complaints = decode(body, expected, content_type=PROTOBUF)
    assert complaints == []
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}


def rejection(expectations: BodyDecoders, body: bytes) -> str:
    expected = expectations.builtin(GroupVersionKind.of(*CONFIG_MAP))
    with pytest.raises(StatusError) as raised:
        decode(body, expected, content_type=PROTOBUF)
    assert raised.value.code == 400
    return raised.value.message


def conversion_error(expectations: BodyDecoders, *parts: bytes) -> str:
    prefix = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
    error = rejection(expectations, enveloped(*CONFIG_MAP, *parts))
    assert error.startswith(prefix)
    return error.removeprefix(prefix)


METADATA = {"name": "x"}


def test_an_object_is_equal_to_its_json_form(expectations: BodyDecoders) -> None:
    expected = expectations.builtin(GroupVersionKind.of(*CONFIG_MAP))
    body = enveloped(*CONFIG_MAP, NAMED_X, entry(2, "key", text(2, "value")))

    found = decode(body, expected, content_type=PROTOBUF)

    written = b'{"metadata":{"name":"x"},"data":{"key":"value"}}'
    assert found == decode(written, expected, content_type="application/json")


def test_empty_fields_that_go_always_encodes_are_dropped(expectations: BodyDecoders) -> None:
    found = read(
        expectations, *CONFIG_MAP, message(1, text(2, ""), text(3, ""), text(8, b""), number(7, 0))
    )

    assert found == {"metadata": METADATA}


def test_bytes_become_base64_and_missing_values_are_empty(expectations: BodyDecoders) -> None:
    found = read(
        expectations, "v1", "Secret", entry(2, "a", text(2, b"\x00\xff")), entry(2, "b", b"")
    )

    assert found["data"] == {"a": "AP8=", "b": ""}


@pytest.mark.parametrize(
    ("written", "replicas"), [(0, 0), (3, 3), (-1, -1), (2**32 + 5, 5), (-(2**31), -(2**31))]
)
def test_integers_have_their_sign_and_size(
    expectations: BodyDecoders, written: int, replicas: int
) -> None:
    found = read(expectations, "autoscaling/v1", "Scale", message(2, number(1, written)))

    assert found["spec"].get("replicas", 0) == replicas


def test_the_message_of_an_embedded_struct_is_flattened(expectations: BodyDecoders) -> None:
    volume = message(1, text(1, "home"), message(2, message(1, text(1, "/home"), text(2, ""))))

    found = read(expectations, *POD, message(2, volume))

    assert found["spec"]["volumes"] == [{"name": "home", "hostPath": {"path": "/home", "type": ""}}]


def test_quantities_ports_and_defaults_equal_those_in_json(expectations: BodyDecoders) -> None:
    port = message(
        1, text(1, "web"), text(2, ""), number(3, 80), message(4, number(1, 1), text(3, "http"))
    )

    quota = read(
        expectations,
        "v1",
        "ResourceQuota",
        message(2, entry(1, "pods", message(2, text(1, "1000m")))),
    )
    service = read(expectations, "v1", "Service", message(2, port))

    assert quota["spec"] == {"hard": {"pods": "1"}}
    assert service["spec"]["ports"] == [
        {"name": "web", "protocol": "TCP", "port": 80, "targetPort": "http"}
    ]


def test_timestamps_are_converted_to_text(expectations: BodyDecoders) -> None:
    acquired = message(3, number(1, 100), number(2, 123456789))

    lease = read(expectations, "coordination.k8s.io/v1", "Lease", message(2, acquired))
    deleted = read(expectations, *CONFIG_MAP, message(1, message(9, number(1, 100), number(2, 5))))

    assert lease["spec"] == {"acquireTime": "1970-01-01T00:01:40.123456Z"}
    assert deleted["metadata"]["deletionTimestamp"] == "1970-01-01T00:01:40Z"


@pytest.mark.parametrize(
    "groups", [number(4, 1) + number(4, 300), message(4, varint(1), varint(300))]
)
def test_repeated_integers_may_be_packed(expectations: BodyDecoders, groups: bytes) -> None:
    found = read(expectations, *POD, message(2, message(14, groups)))

    assert found["spec"]["securityContext"] == {"supplementalGroups": [1, 300]}


def test_lists_in_a_map_are_unwrapped(expectations: BodyDecoders) -> None:
    extra = entry(5, "scopes", message(2, text(1, "read"), text(1, "write")))

    found = read(expectations, "authorization.k8s.io/v1", "SubjectAccessReview", message(2, extra))

    assert found["spec"]["extra"] == {"scopes": ["read", "write"]}


def test_raw_json_in_a_message_is_decoded(expectations: BodyDecoders) -> None:
    data = message(2, text(1, '{"spec":{"n":1}}'))

    found = read(expectations, "apps/v1", "ControllerRevision", data, number(3, 7))

    assert found == {"metadata": METADATA, "data": {"spec": {"n": 1}}, "revision": 7}


def schema(*parts: bytes) -> bytes:
    """Return the encoded JSON schema of a definition."""
    return message(2, message(7, text(1, "v1"), message(4, message(1, *parts))))


DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
STRING = text(5, "string")
DEFAULT, ITEMS, NOT, ADDITIONAL_PROPERTIES, DEPENDENCIES = 8, 24, 28, 30, 32


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (message(ITEMS, message(1, STRING)), {"items": {"type": "string"}}),
        (message(ITEMS, message(2, STRING), message(2)), {"items": [{"type": "string"}, {}]}),
        (message(ADDITIONAL_PROPERTIES, number(1, 0)), {"additionalProperties": False}),
        (
            message(ADDITIONAL_PROPERTIES, number(1, 1), message(2, STRING)),
            {"additionalProperties": {"type": "string"}},
        ),
        (entry(DEPENDENCIES, "a", message(2, text(2, "b"))), {"dependencies": {"a": ["b"]}}),
        (message(DEFAULT, text(1, "[1]")), {"default": [1]}),
    ],
)
def test_schema_unions_are_decoded(
    expectations: BodyDecoders, written: bytes, expected: dict[str, Any]
) -> None:
    found = read(expectations, *DEFINITION, schema(written))

    assert found["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == expected


def test_a_second_message_in_a_field_is_merged_into_the_first(expectations: BodyDecoders) -> None:
    found = read(expectations, *CONFIG_MAP, message(1, entry(11, "app", text(2, "web"))))

    assert found["metadata"] == {**METADATA, "labels": {"app": "web"}}


def test_each_invalid_utf_8_byte_is_replaced(expectations: BodyDecoders) -> None:
    found = read(expectations, *CONFIG_MAP, entry(2, "k", text(2, b"a\xff\xe2\x82b")))

    assert found["data"] == {"k": "a\ufffd\ufffd\ufffdb"}


@pytest.mark.parametrize(
    "unknown",
    [
        text(90, "who knows"),
        number(91, -3),
        varint(92 << 3 | 1) + bytes(8),
        varint(93 << 3 | 5) + bytes(4),
        varint(94 << 3 | 3) + number(1, 1) + varint(94 << 3 | 4),
    ],
)
def test_unknown_protobuf_fields_are_skipped(expectations: BodyDecoders, unknown: bytes) -> None:
    assert read(expectations, *CONFIG_MAP, unknown) == {"metadata": METADATA}


def test_a_body_without_a_kind_has_the_expected_kind(
    expectations: BodyDecoders,
) -> None:
    expected = expectations.builtin(GroupVersionKind.of(*CONFIG_MAP))

    found = decode(MAGIC + message(2, NAMED_X), expected, content_type=PROTOBUF)

    assert (found.obj["apiVersion"], found.obj["kind"]) == CONFIG_MAP


def test_delete_options_of_any_group_are_accepted(expectations: BodyDecoders) -> None:
    expected = expectations.builtin(GroupVersionKind.of("v1", "DeleteOptions"))
    body = enveloped("apps/v1", "DeleteOptions", number(1, 0), text(4, "Orphan"), text(5, "All"))

    found = decode(body, expected, content_type=PROTOBUF)

    assert found.obj["gracePeriodSeconds"] == 0
    assert found.obj["propagationPolicy"] == "Orphan"
    assert found.obj["dryRun"] == ["All"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "empty data (<empty>)"),
        (MAGIC, "empty body (6b387300)"),
        (
            b"hello",
            "provided data does not appear to be a protobuf message,"
            " expected prefix [107 56 115 0] (68656c6c6f)",
        ),
        (MAGIC + b"\x0a\x0f", "unexpected EOF (6b3873000a0f)"),
        (MAGIC + number(1, 3), "proto: wrong wireType = 0 for field TypeMeta (6b3873000803)"),
        (MAGIC + b"\0", "proto: Unknown: illegal tag 0 (wire type 0) (6b38730000)"),
    ],
)
def test_an_invalid_envelope_is_rejected(expectations: BodyDecoders, body: bytes, why: str) -> None:
    assert rejection(expectations, body) == (
        f"the object provided is unrecognized (must be of type ConfigMap): {why}"
    )


def test_an_object_of_another_kind_is_rejected(expectations: BodyDecoders) -> None:
    assert rejection(expectations, enveloped("v1", "Secret", NAMED_X)) == (
        'Secret in version "v1" cannot be handled as a ConfigMap:'
        " converting (v1.Secret) to (core.ConfigMap): unknown conversion"
    )


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (NAMED_X[:-1], "unexpected EOF"),
        (number(1, 5), "proto: wrong wireType = 0 for field ObjectMeta"),
        (message(1, number(5, 5)), "proto: wrong wireType = 0 for field UID"),
        (varint(1 << 3 | 6), "proto: wrong wireType = 6 for field ObjectMeta"),
        (varint(90 << 3 | 6), "proto: illegal wireType 6"),
        (varint(1 << 3 | 4), "proto: ConfigMap: wiretype end group for non-group"),
        (b"\0\0", "proto: ConfigMap: illegal tag 0 (wire type 0)"),
        (b"\x0a" + b"\xff" * 10 + b"\x01", "proto: integer overflow"),
        (b"\x0a" + varint(-1), "proto: negative length found during unmarshaling"),
        (text(90, "")[:-1] + varint(-1), "proto: negative length found during unmarshaling"),
        (varint(90 << 3 | 3) + number(1, 1), "unexpected EOF"),
        (varint(90 << 3 | 1) + b"ab", "unexpected EOF"),
    ],
)
def test_an_invalid_message_is_rejected(
    expectations: BodyDecoders, written: bytes, why: str
) -> None:
    assert conversion_error(expectations, written) == why


def test_a_message_that_is_nested_too_deeply_is_rejected(expectations: BodyDecoders) -> None:
    expected = expectations.builtin(GroupVersionKind.of(*DEFINITION))
    deep = STRING
    for _ in range(3000):
        deep = message(NOT, deep)

    with pytest.raises(StatusError) as raised:
        decode(enveloped(*DEFINITION, schema(deep)), expected, content_type=PROTOBUF)

    assert raised.value.code == 400


@pytest.mark.parametrize("seconds", [10**12, -(10**12), 2**63 - 1])
def test_a_timestamp_outside_the_supported_years_is_rejected(
    expectations: BodyDecoders, seconds: int
) -> None:
    said = conversion_error(expectations, message(1, message(8, number(1, seconds))))

    assert said == "Time: year outside of range [0,9999]"


def outcome(expectations: BodyDecoders, body: bytes, kind: tuple[str, str]) -> str | int:
    """Return the kind of the decoded object, or the code of the rejection."""
    expected = expectations.builtin(GroupVersionKind.of(*kind))
    try:
        return str(decode(body, expected, content_type=PROTOBUF).obj["kind"])
    except StatusError as raised:
        return raised.code


@given(raw=st.binary(max_size=60))
def test_random_bytes_are_decoded_or_rejected(expectations: BodyDecoders, raw: bytes) -> None:
    for kind in (CONFIG_MAP, POD, DEFINITION):
        for body in (raw, MAGIC + raw, enveloped(*kind, raw)):
            assert outcome(expectations, body, kind) in (kind[1], 400)


@given(at=st.integers(0, 100), put=st.integers(0, 255))
def test_a_damaged_body_is_decoded_or_rejected(
    expectations: BodyDecoders, at: int, put: int
) -> None:
    port, cpu = message(6, number(3, 80)), entry(1, "cpu", message(2, text(1, "1")))
    container = message(2, text(1, "web"), port, message(8, cpu))
    whole = enveloped(*POD, NAMED_X, message(2, container, number(4, -1)))

    for body in (whole[:at], whole[:at] + bytes([put]) + whole[at + 1 :]):
        assert outcome(expectations, body, POD) in ("Pod", 400)
