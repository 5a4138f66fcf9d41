from base64 import b64encode
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import KindHandler


def created(plural: str, **parts: Any) -> Object:
    return KindHandler("v1", plural).create(
        {"metadata": {"name": "it"}, **parts}, namespace="default"
    )


def message_of(plural: str, **parts: Any) -> str:
    with pytest.raises(StatusError) as raised:
        created(plural, **parts)
    return raised.value.message.partition(" is invalid: ")[2]


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def test_string_data_of_a_secret_is_merged_into_data() -> None:
    secret = created(
        "secrets", data={"a": encoded("x"), "b": encoded("y")}, stringData={"a": "z", "c": ""}
    )

    assert secret["data"] == {"a": encoded("z"), "b": encoded("y"), "c": ""}
    assert "stringData" not in secret


def test_a_secret_without_a_type_is_opaque() -> None:
    assert created("secrets")["type"] == "Opaque"


@pytest.mark.parametrize("plural", ["configmaps", "secrets"])
def test_an_immutable_object_can_be_labeled(plural: str) -> None:
    handler = KindHandler("v1", plural)
    old = created(plural, immutable=True, data={"a": encoded("x")})
    metadata = {**old["metadata"], "labels": {"a": "b"}}

    updated = handler.update(
        {**old, "metadata": metadata}, old, namespace="default", subresource=""
    )

    assert updated["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize("plural", ["configmaps", "secrets"])
@pytest.mark.parametrize(
    ("change", "field"), [({"data": {"a": "eQ=="}}, "data"), ({"immutable": False}, "immutable")]
)
def test_the_data_of_an_immutable_object_cannot_change(
    plural: str, change: Object, field: str
) -> None:
    old = created(plural, immutable=True, data={"a": encoded("x")})

    with pytest.raises(StatusError, match="422") as raised:
        KindHandler("v1", plural).update(
            {**old, **change}, old, namespace="default", subresource=""
        )

    assert raised.value.status()["details"]["causes"] == [
        {
            "reason": "FieldValueForbidden",
            "message": "Forbidden: field is immutable when `immutable` is set",
            "field": field,
        }
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        ("x", "invalid character 'x' looking for beginning of value"),
        ("{x", "invalid character 'x' looking for beginning of object key string"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ("[" * 20000, "invalid character '[' exceeded max depth"),
        (
            "[" * 9000 + "]" * 9000,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        ("9" * 5000, "json: cannot unmarshal number into Go value of type map[string]interface {}"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_an_invalid_docker_config_is_rejected_without_its_contents(text: str, problem: str) -> None:
    message = message_of(
        "secrets",
        type="kubernetes.io/dockerconfigjson",
        stringData={".dockerconfigjson": text},
    )

    assert message == (
        f'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": {problem}'
    )


def test_a_docker_config_that_is_not_utf_8_is_rejected() -> None:
    message = message_of(
        "secrets",
        type="kubernetes.io/dockercfg",
        data={".dockercfg": b64encode(b"\xff\xfe\xfd").decode()},
    )

    assert message.startswith('data[.dockercfg]: Invalid value: "<secret contents redacted>"')


@pytest.mark.parametrize(
    ("plural", "parts"),
    [
        ("configmaps", {"data": {"a": "x" * (1 << 20)}}),
        ("configmaps", {"data": {"a": "€" * ((1 << 20) // 3)}}),
        ("configmaps", {"binaryData": {"a": encoded("x" * (1 << 20))}}),
        ("secrets", {"data": {"a": encoded("x" * (1 << 20))}}),
    ],
)
def test_data_of_more_than_a_mebibyte_is_rejected(plural: str, parts: Object) -> None:
    created(plural, **parts)
    ((field, data),) = parts.items()
    more = {field: {**data, "b": encoded("xx")}}

    assert message_of(plural, **more).endswith("Too long: may not be more than 1048576 bytes")
