"""Both servers decode a body to the same object, or reject it with the same error.

Nothing is written: every request is a dry run.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from steersman.kinds import Codec
from steersman.manifests import as_document
from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinResource, BuiltinSchemas
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.serializer.decoder import (
    BodyDecoder,
    BodyDecoders,
    canonical,
    decode,
    settle,
)
from tests.real.definitions import WIDGETS
from tests.real.samples import reviews, rules_review, samples
from tests.recorded.module_recording import ModuleRecording, RecordedCaller

SCHEMAS = BuiltinSchemas.read()
DECODERS = BodyDecoders(SCHEMAS)
CODEC = Codec()

RESOURCES = {each.gvk: each for each in SCHEMAS.resources if "create" in each.verbs}
KINDS = sorted(RESOURCES, key=str)
# The other kinds are only bodies of subresources.
SAMPLED = sorted(
    {type(each).resource_type.gvk for each in (*samples("x"), *reviews("x"), rules_review("x"))},
    key=str,
)
# Kinds whose validation distinguishes an empty list from a missing one.
VALIDATES_EMPTY_LISTS = {
    "CustomResourceDefinition",
    "Pod",
    "ResourceClaimTemplate",
    "ResourceSlice",
}

EMPTY_SCALARS = {"string": "", "integer": 0, "boolean": False}
EMPTY_VALUES = {**EMPTY_SCALARS, "array": [], "object": {}}

JSON, YAML = "application/json", "application/yaml"


def sample_bodies(namespace: str) -> dict[GroupVersionKind, dict[str, Any]]:
    every = [*samples(namespace), *reviews(namespace), rules_review(namespace)]
    return {type(each).resource_type.gvk: msgspec.json.decode(CODEC.encode(each)) for each in every}


class Server:
    """A caller of the real server, and a namespace."""

    def __init__(self, api: RecordedCaller, namespace: str) -> None:
        self._api = api
        self.namespace = namespace
        self.samples = sample_bodies(namespace)

    def collection(self, resource: BuiltinResource) -> str:
        api_version = resource.gvk.api_version
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        inside = f"/namespaces/{self.namespace}" if resource.namespaced else ""
        return f"{root}{inside}/{resource.plural}"

    def send(
        self, body: bytes, path: str, *, content_type: str = JSON, options: str = "", method: str
    ) -> tuple[int, Any]:
        response = self._api.call(method, f"{path}?dryRun=All{options}", body, sends=content_type)
        return response.status, response.json()

    def create(self, body: Any, gvk: GroupVersionKind, options: str = "") -> tuple[int, Any]:
        sent = json.dumps(body).encode()
        return self.send(sent, self.collection(RESOURCES[gvk]), options=options, method="POST")


@pytest.fixture(scope="module")
def server(real: ModuleRecording) -> Iterator[Server]:
    with real.namespace() as namespace, real.caller() as api:
        yield Server(api, namespace)


def decode_locally(
    body: bytes, decoder: BodyDecoder, *, content_type: str = JSON, validation: str = ""
) -> Any:
    """The object that steersman decodes, or the error message."""
    try:
        obj, problems = decode(body, decoder, content_type=content_type)
        settle(problems, decoder, field_validation=validation)
    except StatusError as error:
        return error.message
    return obj


def different_fields(actual: Any, expected: Any, where: str = "") -> Iterator[str]:
    """The fields of the decoded object that differ from those of the real server."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key, value in actual.items():
            yield from different_fields(value, expected.get(key, UNSET), f"{where}.{key}")
    elif isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        for index, value in enumerate(actual):
            yield from different_fields(value, expected[index], f"{where}[{index}]")
    elif actual != expected:
        yield f"{where}: actual {actual!r}, expected {expected!r}"


def is_not_decoding(difference: str) -> bool:
    """Whether another step causes it: defaults for null, statuses, and rules of single kinds."""
    return "actual None" in difference or difference.startswith(
        (".status", ".stringData", ".spec.namespace")
    )


def with_each_missing(body: Any, schema: Schema, empty_values: dict[str, Any] | None) -> Any:
    """The body with an empty value in each missing field, or null without ``empty_values``."""
    if isinstance(body, list) and schema.items is not None:
        return [with_each_missing(each, schema.items, empty_values) for each in body]
    if not isinstance(body, dict) or schema.preserve_unknown or not schema.properties:
        return body
    filled = {
        name: with_each_missing(value, schema.properties[name], empty_values)
        for name, value in body.items()
    }
    for name, each in schema.properties.items():
        if name in filled or name in ("kind", "apiVersion"):
            continue
        if empty_values is None:
            filled[name] = None
        elif each.drops_empty and each.type in empty_values and each.format != "date-time":
            filled[name] = empty_values[each.type]
    return filled


def without_random_values(obj: dict[str, Any]) -> Any:
    """The object without values that differ on each create."""
    uid = obj["metadata"].get("uid", "no uid")
    obj = json.loads(json.dumps(obj).replace(uid, "uid"))
    for field in ("uid", "creationTimestamp", "managedFields"):
        obj["metadata"].pop(field, None)
    # The order of the rules, and the allocated addresses and ports, are random.
    if obj["kind"] == "SelfSubjectRulesReview":
        del obj["status"]
    spec = obj.get("spec")
    if obj["kind"] == "Service" and spec is not None:
        obj["spec"] = {
            name: value for name, value in spec.items() if name not in ("clusterIP", "clusterIPs")
        }
        obj["spec"]["ports"] = [{**port, "nodePort": 0} for port in spec["ports"]]
    return obj


@pytest.mark.parametrize("gvk", SAMPLED, ids=str)
def test_both_decoders_keep_and_drop_the_same_fields(gvk: GroupVersionKind, server: Server) -> None:
    body = server.samples[gvk]
    decoder = DECODERS.builtin(gvk)

    status, expected_response = server.create(body, gvk)
    decoded = decode_locally(json.dumps(body).encode(), decoder)

    assert status == 201, expected_response["message"]
    assert [
        each for each in different_fields(decoded, expected_response) if not is_not_decoding(each)
    ] == []
    written = json.dumps(expected_response, sort_keys=True)
    again, problems = canonical(expected_response, decoder)
    assert (json.dumps(again, sort_keys=True), problems) == (written, [])


@pytest.mark.parametrize("null", [True, False], ids=["null", "empty"])
@pytest.mark.parametrize("gvk", SAMPLED, ids=str)
def test_an_empty_value_is_decoded_like_a_missing_one(
    gvk: GroupVersionKind, null: bool, server: Server
) -> None:
    body = server.samples[gvk]
    decoder = DECODERS.builtin(gvk)
    empty_values = EMPTY_SCALARS if gvk.kind in VALIDATES_EMPTY_LISTS else EMPTY_VALUES
    filled = with_each_missing(body, decoder.schema, None if null else empty_values)

    _, plain = server.create(body, gvk)
    status, expected_response = server.create(filled, gvk)

    assert status == 201, expected_response["message"]
    assert without_random_values(expected_response) == without_random_values(plain)
    assert decode_locally(json.dumps(filled).encode(), decoder) == decode_locally(
        json.dumps(body).encode(), decoder
    )


@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_a_wrong_type_is_rejected_with_the_same_message(
    gvk: GroupVersionKind, server: Server
) -> None:
    decoder = DECODERS.builtin(gvk)
    body = {name: 5.5 for name in reversed(decoder.schema.properties) if name != "apiVersion"}
    del body["kind"]

    status, expected_response = server.create(body, gvk)

    assert status == 400
    assert decode_locally(json.dumps(body).encode(), decoder) == expected_response["message"]


@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_strict_decoding_rejects_an_unknown_field_with_the_same_message(
    gvk: GroupVersionKind, server: Server
) -> None:
    decoder = DECODERS.builtin(gvk)
    body = {"metadata": {"foo": 1, "ownerReferences": [{}, {"bar": {}}]}, "Kind": gvk.kind}

    status, expected_response = server.create(body, gvk, "&fieldValidation=Strict")

    assert status == 400
    decoded = decode_locally(json.dumps(body).encode(), decoder, validation="Strict")
    assert decoded == expected_response["message"]


def with_value(field: str, *values: Any) -> list[str]:
    """Bodies that have one of the values in a field."""
    bodies: list[str] = []
    for value in values:
        body = value
        for name in reversed(field.split(".")):
            body = {name: body}
        bodies.append(json.dumps(body))
    return bodies


def in_container(*containers: Any) -> list[str]:
    return with_value("spec.containers", *([each] for each in containers))


INVALID_BODIES: dict[str, list[str | bytes]] = {
    "v1 ConfigMap": [
        *("", "{", '{"a":1', "[]", '"x"', "5", "true", '{"a":}', '{"a" 1}', "[1,]", '{"a":1,}'),
        *('{"a":1} x', '{"a":"\x01"}', '{"a":"\\x"}', '{"a":"\\u12x4"}', '{"a":"x', '{"a":tru}'),
        *(
            "not json",
            '{"a":01}',
            '{"a":1.}',
            '{"a":1e}',
            '{"a":-}',
            "{'a':1}",
            '{"é":1 é',
            b"\xff",
        ),
        *('{"a":1 "b":2}', "[1 2]", '{"a":nul}', '{"a":falsy}', "{,}", "{1:2}", "[" * 10_001),
        *('{"kind":5}', '{"apiVersion":[]}', '{"apiVersion":"a/b/c"}', '{"kind":"Foo"}'),
        *('{"kind":"configmap"}', '{"kind":"Pod"}', '{"kind":"ConfigMapList"}'),
        *('{"apiVersion":"v2"}', '{"apiVersion":"apps/v1"}', '{"kind":"DeleteOptions"}'),
        *with_value("data", [], 5, "x", {"a": 5}, {"a": {}}, {"a": True}),
        *with_value("immutable", "x", 1, []),
        *with_value("binaryData.a", "a", "YQ", "YQ=", "!", [256], [-1], 5),
        *with_value("metadata", 5, "x", [], {"name": 5}, {"labels": {"a": 5}}),
        *with_value("metadata.finalizers", "x", [5], {}),
        *with_value("metadata.generation", "x", 1.5, 2**70),
        *with_value("metadata.ownerReferences", [5], [{"controller": "x"}]),
        *with_value("metadata.managedFields", [5], [{"time": "x"}]),
        *with_value(
            "metadata.creationTimestamp", 5, {}, "", "x", "2020-01-01", "2020-01-01T00:00:00"
        ),
        *with_value("metadata.creationTimestamp", "2020-13-01T00:00:00Z", "2020-02-30T00:00:00Z"),
        *with_value("metadata.creationTimestamp", "2020-01-01T25:00:00Z", "2020-01-01T00:00:00Zé"),
    ],
    "v1 Pod": [
        *with_value("spec", 5),
        *with_value("spec.containers", {}, ["a"]),
        *in_container({"ports": [{"containerPort": "a"}]}, {"ports": [{"containerPort": 2**31}]}),
        *in_container(*({"resources": {"limits": {"cpu": x}}} for x in ("x", "", "1ii", True))),
        *in_container({"livenessProbe": {"httpGet": {"port": 5.5}}}),
        *in_container({"livenessProbe": {"httpGet": {"port": {}}}}),
        *in_container({"livenessProbe": {"tcpSocket": 5}}),
        *in_container({"env": [{"valueFrom": {"fieldRef": 5}}]}),
        *with_value("spec.volumes", [{"emptyDir": 5}], [{"emptyDir": {"sizeLimit": {}}}]),
        *with_value("spec.volumes", [{"configMap": {"name": 5}}]),
        *with_value("spec.volumes", [{"projected": {"sources": [{"secret": {"items": 1}}]}}]),
        *with_value("spec.nodeSelector", {"a": 5}),
        *with_value("spec", {"restartPolicy": 5, "overhead": {"cpu": "x"}}),
        *with_value("spec.tolerations", [{"tolerationSeconds": "x"}]),
        *with_value("spec.affinity.nodeAffinity", []),
    ],
    "apps/v1 Deployment": [
        *with_value("spec.replicas", "x", 5.5, 1.0, 2**40, 2**70, True, [], {}),
        '{"spec":{"replicas":1e2}}',
        *with_value("spec.strategy.rollingUpdate.maxSurge", True, 2**40, {}),
        '{"apiVersion":"apps/v1beta1","kind":"Deployment"}',
        '{"apiVersion":"extensions/v1beta1","kind":"Deployment"}',
        '{"apiVersion":"apps/v1","kind":"StatefulSet"}',
        '{"apiVersion":"foo/v1","kind":"Deployment"}',
    ],
    "coordination.k8s.io/v1 Lease": [
        *with_value("spec.renewTime", "x", 5, "2020-01-01T00:00:00Z", "2020-01-01T00:00:00"),
        *with_value("spec.renewTime", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00.1234567Z"),
    ],
    "apiextensions.k8s.io/v1 CustomResourceDefinition": [
        '{"apiVersion":"v1","kind":"ConfigMap"}',
        *with_value(
            "spec.versions", [{"schema": {"openAPIV3Schema": {"additionalProperties": 5}}}]
        ),
        *with_value("spec.versions", [{"schema": {"openAPIV3Schema": {"items": {"type": 5}}}}]),
        *with_value("spec.versions", [{"schema": {"openAPIV3Schema": {"maximum": "x"}}}]),
    ],
    "apiregistration.k8s.io/v1 APIService": ['{"kind":"Foo"}'],
}


@pytest.mark.parametrize(
    ("kind", "body"),
    [(kind, body) for kind, bodies in INVALID_BODIES.items() for body in bodies],
    ids=lambda value: str(value)[:60],
)
def test_an_undecodable_body_is_rejected_with_the_same_message(
    kind: str, body: str | bytes, server: Server
) -> None:
    gvk = GroupVersionKind.of(*kind.split())
    sent = body.encode() if isinstance(body, str) else body

    status, expected_response = server.send(sent, server.collection(RESOURCES[gvk]), method="POST")

    assert status == 400
    assert decode_locally(sent, DECODERS.builtin(gvk)) == expected_response["message"]


REPEATED = [
    '{"metadata":{"name":"a","labels":{"a":"1","a":"2"}},"data":{"a":"b","a":"c"},"data":{}}',
    '{"metadata":{"name":"a"},"data":{"a":":"},"data":{"a":"\\u003a"},"x\\ny\\"":{"a":1,"a":2}}',
    '{"metadata":{"name":"a","foo":1,"foo":2},"metadata":{"labels":{"a":"b"}}}',
]


@pytest.mark.parametrize("body", REPEATED)
def test_a_duplicate_field_is_reported_and_merged_the_same(body: str, server: Server) -> None:
    gvk = GroupVersionKind.of("v1", "ConfigMap")
    decoder = DECODERS.builtin(gvk)
    path, sent = server.collection(RESOURCES[gvk]), body.encode()

    _, rejection = server.send(sent, path, options="&fieldValidation=Strict", method="POST")
    _, merged = server.send(sent, path, options="&fieldValidation=Ignore", method="POST")

    assert decode_locally(sent, decoder, validation="Strict") == rejection["message"]
    assert list(different_fields(decode_locally(sent, decoder), merged)) == []


IN_YAML = [
    *("a: b: c", "\t", "- a", "a: [", "a: *b", '"a', "kind: Foo", "a: b\n  c: d\n e: f"),
    "metadata: {name: a}\ndata:\n  a: 5",
    "metadata: {name: a}\ndata:\n  a: b\n  a: c",
    "metadata: {name: a, creationTimestamp: 2020-01-01}",
    "metadata: {name: a}\ndata: {yes: x, 5: y, 1.5: z, a: 'yes', b: !!str 5}\n---\nfoo",
    "metadata: {name: a}\nbase: &base {x: y}\ndata: {<<: *base, z: ''}",
    "metadata: {name: a}\nimmutable: off\ndata: {a: |\n  x\n  y\n}",
    "metadata: {name: a}\nimmutable: n\ndata: {a: x, b: y z, c: '0x1F'}",
]


@pytest.mark.parametrize("body", IN_YAML)
def test_yaml_is_decoded_the_same(body: str, server: Server) -> None:
    gvk = GroupVersionKind.of("v1", "ConfigMap")
    path, sent = server.collection(RESOURCES[gvk]), body.encode()

    status, expected_response = server.send(
        sent, path, content_type=YAML, options="&fieldValidation=Strict", method="POST"
    )

    decoded = decode_locally(sent, DECODERS.builtin(gvk), content_type=YAML, validation="Strict")
    if status == 400:
        assert decoded == expected_response["message"]
    else:
        assert list(different_fields(decoded, expected_response)) == []


@pytest.mark.parametrize(
    ("path", "method", "kind", "body"),
    [
        ("pods/a/binding", "POST", "v1 Binding", '{"target":5}'),
        ("pods/a/eviction", "POST", "policy/v1 Eviction", '{"deleteOptions":{"dryRun":5}}'),
        ("serviceaccounts/a/token", "POST", "authentication.k8s.io/v1 TokenRequest", '{"spec":5}'),
    ],
)
def test_the_body_of_a_subresource_is_decoded_the_same(
    path: str, method: str, kind: str, body: str, server: Server
) -> None:
    decoder = DECODERS.builtin(GroupVersionKind.of(*kind.split()))
    full_path = f"/api/v1/namespaces/{server.namespace}/{path}"

    status, expected_response = server.send(body.encode(), full_path, method=method)

    assert status == 400
    assert decode_locally(body.encode(), decoder) == expected_response["message"]


WIDGET = '"apiVersion":"toys.example.com/v1","kind":"Widget"'
CUSTOM = [
    *("", "{", "null", "[]", "{}", '{"kind":"Widget"}', '{"kind":5}'),
    '{"apiVersion":"toys.example.com/v1"}',
    '{"apiVersion":"toys.example.com/v1beta1","kind":"Widget"}',
    '{"apiVersion":"v1","kind":"ConfigMap"}',
    '{"apiVersion":"a/b/c","kind":"Widget"}',
    '{"apiVersion":"toys.example.com/v1","kind":"Foo","metadata":{"name":"a"}}',
    *(f'{{{WIDGET},"metadata":{each}}}' for each in ("5", "[]", '{"name":5}', '{"labels":[]}')),
    *(f'{{{WIDGET},"metadata":{{"{each}":1.5}}}}' for each in ("creationTimestamp", "generation")),
    f'{{{WIDGET},"metadata":{{"name":"a","name":"b","foo":1,"bar":2}}}}',
]


@pytest.fixture(scope="module")
def widgets(real: ModuleRecording) -> None:
    """Widgets, on the real server."""
    real.define(as_document(WIDGETS))


@pytest.mark.parametrize("body", CUSTOM)
def test_a_custom_resource_is_rejected_with_the_same_message(
    body: str, widgets: None, server: Server
) -> None:
    decoder = DECODERS.custom(GroupVersionKind.of("toys.example.com/v1", "Widget"))
    path = f"/apis/toys.example.com/v1/namespaces/{server.namespace}/widgets"

    status, expected_response = server.send(
        body.encode(), path, options="&fieldValidation=Strict", method="POST"
    )

    assert status in (400, 422)
    assert (
        decode_locally(body.encode(), decoder, validation="Strict") == expected_response["message"]
    )
