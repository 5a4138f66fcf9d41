"""Both servers decode a body to the same object, or reject it with the same error.

Nothing is written: every request is a dry run.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from steersman.kinds import Codec
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
from steersman_cluster.testing import RealControlPlane
from steersman_cluster.testing.calls import HttpCaller
from steersman_cluster.testing.namespaces import fresh_namespace
from tests.real.samples import reviews, rules_review, samples

SCHEMAS = BuiltinSchemas.read()
EXPECTATIONS = BodyDecoders(SCHEMAS)
CODEC = Codec()

RESOURCES = {each.gvk: each for each in SCHEMAS.resources if "create" in each.verbs}
KINDS = sorted(RESOURCES, key=str)
# The others are sent to subresources only.
SAMPLED = sorted(
    {type(each).resource_type.gvk for each in (*samples("x"), *reviews("x"), rules_review("x"))},
    key=str,
)
# Kinds with a rule that sees an empty list, which is none by the time it is stored.
SEE_EMPTY = {"CustomResourceDefinition", "Pod", "ResourceClaimTemplate", "ResourceSlice"}

NOTHING = {"string": "", "integer": 0, "boolean": False}
NOTHING_AT_ALL = {**NOTHING, "array": [], "object": {}}

JSON, YAML = "application/json", "application/yaml"


def sample_bodies(namespace: str) -> dict[GroupVersionKind, dict[str, Any]]:
    every = [*samples(namespace), *reviews(namespace), rules_review(namespace)]
    return {type(each).resource_type.gvk: msgspec.json.decode(CODEC.encode(each)) for each in every}


class Server:
    """The real one, and a namespace of our own in it."""

    def __init__(self, api: HttpCaller, namespace: str) -> None:
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
def server(control_plane: RealControlPlane) -> Iterator[Server]:
    with fresh_namespace(control_plane) as namespace, control_plane.caller() as api:
        yield Server(api, namespace)


def ours(
    body: bytes, expected: BodyDecoder, *, content_type: str = JSON, validation: str = ""
) -> Any:
    """The object, or the sentence of refusal."""
    try:
        obj, complaints = decode(body, expected, content_type=content_type)
        settle(complaints, expected, field_validation=validation)
    except StatusError as refusal:
        return refusal.message
    return obj


def misplaced(ours: Any, theirs: Any, where: str = "") -> Iterator[str]:
    """The places where what we keep is not what the server keeps."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from misplaced(value, theirs.get(key, UNSET), f"{where}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, value in enumerate(ours):
            yield from misplaced(value, theirs[index], f"{where}[{index}]")
    elif ours != theirs:
        yield f"{where}: ours {ours!r}, theirs {theirs!r}"


def decided_elsewhere(place: str) -> bool:
    """Defaults in place of a null, statuses, what a kind reads for itself, asked questions."""
    return "ours None" in place or place.startswith((".status", ".stringData", ".spec.namespace"))


def with_each_missing(body: Any, schema: Schema, nothing: dict[str, Any] | None) -> Any:
    """With what is nothing, or else a null, wherever something could be and is not."""
    if isinstance(body, list) and schema.items is not None:
        return [with_each_missing(each, schema.items, nothing) for each in body]
    if not isinstance(body, dict) or schema.preserve_unknown or not schema.properties:
        return body
    filled = {
        name: with_each_missing(value, schema.properties[name], nothing)
        for name, value in body.items()
    }
    for name, each in schema.properties.items():
        if name in filled or name in ("kind", "apiVersion"):
            continue
        if nothing is None:
            filled[name] = None
        elif each.drops_empty and each.type in nothing and each.format != "date-time":
            filled[name] = nothing[each.type]
    return filled


def steady(obj: dict[str, Any]) -> Any:
    """Without what differs from one creation to the next."""
    uid = obj["metadata"].get("uid", "no uid")
    obj = json.loads(json.dumps(obj).replace(uid, "uid"))
    for field in ("uid", "creationTimestamp", "managedFields"):
        obj["metadata"].pop(field, None)
    # In another order each time; allocated again for each attempt.
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
    expected = EXPECTATIONS.builtin(gvk)

    status, theirs = server.create(body, gvk)
    mine = ours(json.dumps(body).encode(), expected)

    assert status == 201, theirs["message"]
    assert [each for each in misplaced(mine, theirs) if not decided_elsewhere(each)] == []
    written = json.dumps(theirs, sort_keys=True)
    again, complaints = canonical(theirs, expected)
    assert (json.dumps(again, sort_keys=True), complaints) == (written, [])


@pytest.mark.parametrize("null", [True, False], ids=["null", "empty"])
@pytest.mark.parametrize("gvk", SAMPLED, ids=str)
def test_an_empty_value_is_decoded_like_a_missing_one(
    gvk: GroupVersionKind, null: bool, server: Server
) -> None:
    body = server.samples[gvk]
    expected = EXPECTATIONS.builtin(gvk)
    nothing = NOTHING if gvk.kind in SEE_EMPTY else NOTHING_AT_ALL
    filled = with_each_missing(body, expected.schema, None if null else nothing)

    _, plain = server.create(body, gvk)
    status, theirs = server.create(filled, gvk)

    assert status == 201, theirs["message"]
    assert steady(theirs) == steady(plain)
    assert ours(json.dumps(filled).encode(), expected) == ours(json.dumps(body).encode(), expected)


@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_a_wrong_type_is_refused_with_the_same_message(
    gvk: GroupVersionKind, server: Server
) -> None:
    expected = EXPECTATIONS.builtin(gvk)
    wrong = {name: 5.5 for name in reversed(expected.schema.properties) if name != "apiVersion"}
    del wrong["kind"]

    status, theirs = server.create(wrong, gvk)

    assert status == 400
    assert ours(json.dumps(wrong).encode(), expected) == theirs["message"]


@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_strict_decoding_refuses_an_unknown_field_with_the_same_message(
    gvk: GroupVersionKind, server: Server
) -> None:
    expected = EXPECTATIONS.builtin(gvk)
    body = {"metadata": {"foo": 1, "ownerReferences": [{}, {"bar": {}}]}, "Kind": gvk.kind}

    status, theirs = server.create(body, gvk, "&fieldValidation=Strict")

    assert status == 400
    mine = ours(json.dumps(body).encode(), expected, validation="Strict")
    assert mine == theirs["message"]


def wrong(field: str, *values: Any) -> list[str]:
    """Bodies with each value in one field."""
    bodies: list[str] = []
    for value in values:
        body = value
        for name in reversed(field.split(".")):
            body = {name: body}
        bodies.append(json.dumps(body))
    return bodies


def in_container(*containers: Any) -> list[str]:
    return wrong("spec.containers", *([each] for each in containers))


REFUSED: dict[str, list[str | bytes]] = {
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
        *wrong("data", [], 5, "x", {"a": 5}, {"a": {}}, {"a": True}),
        *wrong("immutable", "x", 1, []),
        *wrong("binaryData.a", "a", "YQ", "YQ=", "!", [256], [-1], 5),
        *wrong("metadata", 5, "x", [], {"name": 5}, {"labels": {"a": 5}}),
        *wrong("metadata.finalizers", "x", [5], {}),
        *wrong("metadata.generation", "x", 1.5, 2**70),
        *wrong("metadata.ownerReferences", [5], [{"controller": "x"}]),
        *wrong("metadata.managedFields", [5], [{"time": "x"}]),
        *wrong("metadata.creationTimestamp", 5, {}, "", "x", "2020-01-01", "2020-01-01T00:00:00"),
        *wrong("metadata.creationTimestamp", "2020-13-01T00:00:00Z", "2020-02-30T00:00:00Z"),
        *wrong("metadata.creationTimestamp", "2020-01-01T25:00:00Z", "2020-01-01T00:00:00Zé"),
    ],
    "v1 Pod": [
        *wrong("spec", 5),
        *wrong("spec.containers", {}, ["a"]),
        *in_container({"ports": [{"containerPort": "a"}]}, {"ports": [{"containerPort": 2**31}]}),
        *in_container(*({"resources": {"limits": {"cpu": x}}} for x in ("x", "", "1ii", True))),
        *in_container({"livenessProbe": {"httpGet": {"port": 5.5}}}),
        *in_container({"livenessProbe": {"httpGet": {"port": {}}}}),
        *in_container({"livenessProbe": {"tcpSocket": 5}}),
        *in_container({"env": [{"valueFrom": {"fieldRef": 5}}]}),
        *wrong("spec.volumes", [{"emptyDir": 5}], [{"emptyDir": {"sizeLimit": {}}}]),
        *wrong("spec.volumes", [{"configMap": {"name": 5}}]),
        *wrong("spec.volumes", [{"projected": {"sources": [{"secret": {"items": 1}}]}}]),
        *wrong("spec.nodeSelector", {"a": 5}),
        *wrong("spec", {"restartPolicy": 5, "overhead": {"cpu": "x"}}),
        *wrong("spec.tolerations", [{"tolerationSeconds": "x"}]),
        *wrong("spec.affinity.nodeAffinity", []),
    ],
    "apps/v1 Deployment": [
        *wrong("spec.replicas", "x", 5.5, 1.0, 2**40, 2**70, True, [], {}),
        '{"spec":{"replicas":1e2}}',
        *wrong("spec.strategy.rollingUpdate.maxSurge", True, 2**40, {}),
        '{"apiVersion":"apps/v1beta1","kind":"Deployment"}',
        '{"apiVersion":"extensions/v1beta1","kind":"Deployment"}',
        '{"apiVersion":"apps/v1","kind":"StatefulSet"}',
        '{"apiVersion":"foo/v1","kind":"Deployment"}',
    ],
    "coordination.k8s.io/v1 Lease": [
        *wrong("spec.renewTime", "x", 5, "2020-01-01T00:00:00Z", "2020-01-01T00:00:00"),
        *wrong("spec.renewTime", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00.1234567Z"),
    ],
    "apiextensions.k8s.io/v1 CustomResourceDefinition": [
        '{"apiVersion":"v1","kind":"ConfigMap"}',
        *wrong("spec.versions", [{"schema": {"openAPIV3Schema": {"additionalProperties": 5}}}]),
        *wrong("spec.versions", [{"schema": {"openAPIV3Schema": {"items": {"type": 5}}}}]),
        *wrong("spec.versions", [{"schema": {"openAPIV3Schema": {"maximum": "x"}}}]),
    ],
    "apiregistration.k8s.io/v1 APIService": ['{"kind":"Foo"}'],
}


@pytest.mark.parametrize(
    ("kind", "body"),
    [(kind, body) for kind, bodies in REFUSED.items() for body in bodies],
    ids=lambda value: str(value)[:60],
)
def test_an_undecodable_body_is_refused_with_the_same_message(
    kind: str, body: str | bytes, server: Server
) -> None:
    gvk = GroupVersionKind.of(*kind.split())
    sent = body.encode() if isinstance(body, str) else body

    status, theirs = server.send(sent, server.collection(RESOURCES[gvk]), method="POST")

    assert status == 400
    assert ours(sent, EXPECTATIONS.builtin(gvk)) == theirs["message"]


REPEATED = [
    '{"metadata":{"name":"a","labels":{"a":"1","a":"2"}},"data":{"a":"b","a":"c"},"data":{}}',
    '{"metadata":{"name":"a"},"data":{"a":":"},"data":{"a":"\\u003a"},"x\\ny\\"":{"a":1,"a":2}}',
    '{"metadata":{"name":"a","foo":1,"foo":2},"metadata":{"labels":{"a":"b"}}}',
]


@pytest.mark.parametrize("body", REPEATED)
def test_a_duplicate_field_is_reported_and_merged_the_same(body: str, server: Server) -> None:
    gvk = GroupVersionKind.of("v1", "ConfigMap")
    expected = EXPECTATIONS.builtin(gvk)
    path, sent = server.collection(RESOURCES[gvk]), body.encode()

    _, refused = server.send(sent, path, options="&fieldValidation=Strict", method="POST")
    _, merged = server.send(sent, path, options="&fieldValidation=Ignore", method="POST")

    assert ours(sent, expected, validation="Strict") == refused["message"]
    assert list(misplaced(ours(sent, expected), merged)) == []


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

    status, theirs = server.send(
        sent, path, content_type=YAML, options="&fieldValidation=Strict", method="POST"
    )

    mine = ours(sent, EXPECTATIONS.builtin(gvk), content_type=YAML, validation="Strict")
    if status == 400:
        assert mine == theirs["message"]
    else:
        assert list(misplaced(mine, theirs)) == []


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
    expected = EXPECTATIONS.builtin(GroupVersionKind.of(*kind.split()))
    place = f"/api/v1/namespaces/{server.namespace}/{path}"

    status, theirs = server.send(body.encode(), place, method=method)

    assert status == 400
    assert ours(body.encode(), expected) == theirs["message"]


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


@pytest.mark.parametrize("body", CUSTOM)
async def test_a_custom_resource_is_refused_with_the_same_message(
    body: str, widgets: None, server: Server
) -> None:
    expected = EXPECTATIONS.custom(GroupVersionKind.of("toys.example.com/v1", "Widget"))
    path = f"/apis/toys.example.com/v1/namespaces/{server.namespace}/widgets"

    status, theirs = server.send(
        body.encode(), path, options="&fieldValidation=Strict", method="POST"
    )

    assert status in (400, 422)
    assert ours(body.encode(), expected, validation="Strict") == theirs["message"]
