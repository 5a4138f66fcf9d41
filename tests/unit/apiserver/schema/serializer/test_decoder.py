"""Decoding of request bodies.

The expected errors are those of kube-apiserver; tests/real/test_decoding_rules.py compares them.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.serializer.decoder import (
    BodyDecoder,
    BodyDecoders,
    Decoded,
    canonical,
    decode,
    settle,
)


@pytest.fixture(scope="module")
def expectations() -> BodyDecoders:
    return BodyDecoders(BuiltinSchemas.read())


def builtin(expectations: BodyDecoders, api_version: str, kind: str) -> BodyDecoder:
    return expectations.builtin(GroupVersionKind.of(api_version, kind))


@pytest.fixture(scope="module")
def config_maps(expectations: BodyDecoders) -> BodyDecoder:
    return builtin(expectations, "v1", "ConfigMap")


@pytest.fixture(scope="module")
def deployments(expectations: BodyDecoders) -> BodyDecoder:
    return builtin(expectations, "apps/v1", "Deployment")


@pytest.fixture(scope="module")
def widgets(expectations: BodyDecoders) -> BodyDecoder:
    return expectations.custom(GroupVersionKind.of("example.com/v1", "Widget"))


def read(body: Any, expected: BodyDecoder, content_type: str = "application/json") -> Decoded:
    written = body if isinstance(body, str) else json.dumps(body)
    return decode(written.encode(), expected, content_type=content_type)


def rejection(body: Any, expected: BodyDecoder, content_type: str = "application/json") -> str:
    with pytest.raises(StatusError) as raised:
        read(body, expected, content_type)
    assert raised.value.code == 400
    return raised.value.message


def pod_spec(spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": spec}}}


def spec_of(decoded: Decoded) -> dict[str, Any]:
    spec: dict[str, Any] = decoded.obj["spec"]["template"]["spec"]
    return spec


def test_kind_and_api_version_may_be_omitted(config_maps: BodyDecoder) -> None:
    obj, complaints = read({"metadata": {"name": "a"}}, config_maps)

    assert obj == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert complaints == []


def test_fields_that_go_always_writes_are_added(deployments: BodyDecoder) -> None:
    obj, _ = read({}, deployments)

    assert obj["metadata"] == {}
    assert obj["status"] == {}
    assert obj["spec"] == {
        "selector": None,
        "strategy": {},
        "template": {"metadata": {}, "spec": {"containers": None}},
    }


@pytest.mark.parametrize("empty", [False, None])
def test_empty_values_are_removed_where_go_omits_them(deployments: BodyDecoder, empty: Any) -> None:
    body = {"metadata": {"labels": {}, "name": ""}, "spec": {"paused": empty, "replicas": 0}}

    obj, _ = read(body, deployments)

    assert obj["metadata"] == {}
    assert "paused" not in obj["spec"]
    assert obj["spec"]["replicas"] == 0


def test_an_empty_required_list_becomes_null(deployments: BodyDecoder) -> None:
    spec = spec_of(read(pod_spec({"containers": [], "volumes": []}), deployments))

    assert spec == {"containers": None}


def test_an_empty_struct_behind_a_pointer_is_kept(deployments: BodyDecoder) -> None:
    volumes = [{"name": "a", "emptyDir": {}}]

    spec = spec_of(read(pod_spec({"volumes": volumes}), deployments))

    assert spec["volumes"] == volumes


def test_a_null_in_a_list_or_map_becomes_the_zero_value(
    deployments: BodyDecoder, config_maps: BodyDecoder
) -> None:
    spec = spec_of(read(pod_spec({"containers": [None]}), deployments))
    obj, _ = read({"data": {"a": None}}, config_maps)

    assert spec["containers"] == [{"name": "", "resources": {}}]
    assert obj["data"] == {"a": ""}


def test_openapi_defaults_are_set(deployments: BodyDecoder) -> None:
    container = {
        "name": "a",
        "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": ""}],
    }

    spec = spec_of(read(pod_spec({"containers": [container]}), deployments))

    assert [port["protocol"] for port in spec["containers"][0]["ports"]] == ["TCP", "TCP"]


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [
        ('"1000m"', "1"),
        ('"0.5"', "500m"),
        ("0.5", "500m"),
        ("2", "2"),
        ("1e3", "1e3"),
        ('"1024Mi"', "1Gi"),
        ('" 5 "', "5"),
        ("null", "0"),
    ],
)
def test_quantities_are_converted_to_their_canonical_form(
    deployments: BodyDecoder, written: str, canonical_form: str
) -> None:
    body = json.dumps(pod_spec({"overhead": {"cpu": "?"}})).replace('"?"', written)

    spec = spec_of(read(body, deployments))

    assert spec["overhead"] == {"cpu": canonical_form}


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("2020-01-01T02:00:00.9+02:00", "2020-01-01T00:00:00Z"),
        ("2020-01-01T2:00:00Z", "2020-01-01T02:00:00Z"),
    ],
)
def test_timestamps_are_converted_to_utc_and_truncated_to_seconds(
    config_maps: BodyDecoder, written: str, canonical_form: str
) -> None:
    obj, _ = read({"metadata": {"creationTimestamp": written}}, config_maps)

    assert obj["metadata"] == {"creationTimestamp": canonical_form}


def test_the_times_of_a_lease_have_microseconds(expectations: BodyDecoders) -> None:
    leases = builtin(expectations, "coordination.k8s.io/v1", "Lease")

    obj, _ = read({"spec": {"renewTime": "2020-01-01T02:00:00.000001+02:00"}}, leases)

    assert obj["spec"] == {"renewTime": "2020-01-01T00:00:00.000001Z"}
    assert rejection({"spec": {"renewTime": "2020-01-01T00:00:00Z"}}, leases).endswith(
        'as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
    )


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [("YQ==", "YQ=="), ("YW\nI=", "YWI="), ("YR==", "YQ=="), ([1], "AQ=="), (None, ""), ("", "")],
)
def test_base64_is_converted_to_its_canonical_form(
    expectations: BodyDecoders, written: Any, canonical_form: str
) -> None:
    secrets = builtin(expectations, "v1", "Secret")

    obj, _ = read({"data": {"a": written}}, secrets)

    assert obj["data"] == {"a": canonical_form}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", "unexpected end of JSON input (<empty>)"),
        ('{"a":1', 'unexpected end of JSON input ({"a":1)'),
        ('{"a":}', "invalid character '}' looking for beginning of value ({\"a\":})"),
        ('{"a" 1}', "invalid character '1' after object key ({\"a\" 1})"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ('{"a":1} x', "invalid character 'x' after top-level value"),
        ('{"a":"\x01"}', r"invalid character '\x01' in string literal"),
        ('{"a":"\\x"}', "invalid character 'x' in string escape code"),
        ('{"a":"\\u12x4"}', r"invalid character 'x' in \u hexadecimal character escape"),
        ('{"a":tru}', "invalid character '}' in literal true (expecting 'e')"),
        ("not json", "invalid character 'o' in literal null (expecting 'u') (6e6f74206a736f6e)"),
        ('{"a":-}', "invalid character '}' in numeric literal"),
        ('{"a":1.}', "invalid character '}' after decimal point in numeric literal"),
        ('{"a":1e}', "invalid character '}' in exponent of numeric literal"),
        ('{"a":01}', "invalid character '1' after object key:value pair"),
        ("{'a':1}", r"invalid character '\'' looking for beginning of object key string"),
        ('{"é":1 é', "invalid character 'Ã' after object key:value pair"),
        ("[" * 10_001, "invalid character '[' exceeded max depth (5b5b"),
        # The nesting limit of Python's parser depends on its version, and so does the message.
        ("[" * 5_000 + "]" * 5_000, "(5b5b"),
    ],
)
def test_a_syntax_error_is_reported_with_the_message_of_go(
    config_maps: BodyDecoder, body: str, problem: str
) -> None:
    message = rejection(body, config_maps)

    assert message.startswith(
        "the object provided is unrecognized (must be of type ConfigMap):"
        " couldn't get version/kind; json parse error: "
    )
    assert problem in message


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            {"spec": {"replicas": "x"}},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas"
            " of type int32",
        ),
        (
            '{"spec":{"replicas":1e2}}',
            "json: cannot unmarshal number 1e2 into Go struct field DeploymentSpec.spec.replicas"
            " of type int32",
        ),
        (
            {"spec": {"replicas": 2**40}},
            "json: cannot unmarshal number 1099511627776 into Go struct field"
            " DeploymentSpec.spec.replicas of type int32",
        ),
        (
            pod_spec({"containers": {}}),
            "json: cannot unmarshal object into Go struct field"
            " PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            pod_spec({"containers": ["a"]}),
            "json: cannot unmarshal string into Go struct field"
            " PodSpec.spec.template.spec.containers of type v1.Container",
        ),
        (
            pod_spec({"volumes": [{"emptyDir": 5}]}),
            "json: cannot unmarshal number into Go struct field"
            " Volume.spec.template.spec.volumes.VolumeSource.emptyDir"
            " of type v1.EmptyDirVolumeSource",
        ),
        (
            pod_spec({"nodeSelector": {"a": 5}}),
            "json: cannot unmarshal number into Go struct field"
            " PodSpec.spec.template.spec.nodeSelector of type string",
        ),
        (
            {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 5.5}}}},
            "json: cannot unmarshal number 5.5 into Go struct field"
            " RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            {"metadata": {"creationTimestamp": 5}},
            "json: cannot unmarshal number into Go struct field"
            " ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            {"metadata": {"creationTimestamp": "2020-13-01T00:00:00Z"}},
            'parsing time "2020-13-01T00:00:00Z": month out of range',
        ),
        (
            {"metadata": {"creationTimestamp": "2020-02-30T00:00:00Z"}},
            'parsing time "2020-02-30T00:00:00Z": day out of range',
        ),
        (
            {"metadata": {"creationTimestamp": "2020-01-01"}},
            'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
        ),
        (
            pod_spec({"overhead": {"cpu": "1x"}}),
            "quantities must match the regular expression"
            " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (pod_spec({"overhead": {"cpu": "1ii"}}), "unable to parse quantity's suffix"),
    ],
)
def test_a_wrong_type_is_reported_with_its_path(
    deployments: BodyDecoder, body: Any, problem: str
) -> None:
    message = rejection(body, deployments)

    assert message == f'Deployment in version "v1" cannot be handled as a Deployment: {problem}'


def test_an_invalid_quantity_is_reported_before_a_wrong_type(deployments: BodyDecoder) -> None:
    body = {"spec": {"replicas": "x", "template": {"spec": {"overhead": {"cpu": "?"}}}}}

    assert "quantities must match" in rejection(body, deployments)


@pytest.mark.parametrize(
    ("text", "byte"), [("a", 0), ("YQ", 0), ("YQ=", 3), ("YQ=a", 2), ("YQ==YQ==", 4), ("YW!=", 2)]
)
def test_invalid_base64_is_reported_with_its_position(
    expectations: BodyDecoders, text: str, byte: int
) -> None:
    message = rejection({"data": {"a": text}}, builtin(expectations, "v1", "Secret"))

    assert message.endswith(f"illegal base64 data at input byte {byte}")


@pytest.mark.parametrize(
    ("api_version", "kind", "message"),
    [
        (
            "v1",
            "Pod",
            'Pod in version "v1" cannot be handled as a Deployment:'
            " converting (v1.Pod) to (apps.Deployment): unknown conversion",
        ),
        (
            "apps/v1",
            "Foo",
            'Foo in version "v1" cannot be handled as a Deployment: no kind "Foo" is registered'
            ' for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            "apps/v1beta1",
            "Deployment",
            "the API version in the data (apps/v1beta1) does not match"
            " the expected API version (apps/v1)",
        ),
        (
            "a/b/c",
            "Deployment",
            "the object provided is unrecognized (must be of type Deployment): unexpected"
            ' GroupVersion string: a/b/c ({"apiVersion": "a/b/c", "kind" ...)',
        ),
        (
            5,
            "Deployment",
            "the object provided is unrecognized (must be of type Deployment):"
            " couldn't get version/kind; json parse error: json: cannot unmarshal number into"
            ' Go struct field .apiVersion of type string ({"apiVersion": 5, "kind": "Dep ...)',
        ),
    ],
)
def test_a_body_of_another_kind_is_rejected(
    deployments: BodyDecoder, api_version: Any, kind: str, message: str
) -> None:
    assert rejection({"apiVersion": api_version, "kind": kind}, deployments) == message


def test_unknown_and_duplicate_fields_are_reported_in_order(
    config_maps: BodyDecoder,
) -> None:
    body = (
        '{"metadata":{"foo":1,"labels":{"a":"1","a":"2"},"ownerReferences":[{"bar":1}]},'
        '"data":{"a":"b"},"foo":{"bar":1},"data":{"c":"x"},"Data":{}}'
    )

    obj, complaints = read(body, config_maps)

    assert complaints == [
        'unknown field "metadata.foo"',
        'duplicate field "metadata.labels.a"',
        'unknown field "metadata.ownerReferences[0].bar"',
        'unknown field "foo"',
        'duplicate field "data"',
        'unknown field "Data"',
    ]
    assert obj["metadata"]["labels"] == {"a": "2"}
    assert obj["data"] == {"a": "b", "c": "x"}


@pytest.mark.parametrize("colon", [":", r"\u003a", r"\u003A", r"\\u003a", r"\\:"])
def test_a_duplicate_key_is_found_next_to_strings_with_colons(
    config_maps: BodyDecoder, colon: str
) -> None:
    once = f'{{"data" :{{"a":"{colon}"}}}}'
    twice = f'{{"data" :{{"a":"{colon}", "a" : ""}}}}'

    assert read(once, config_maps).complaints == []
    assert read(twice, config_maps).complaints == ['duplicate field "data.a"']


def test_complaints_are_warnings_errors_or_ignored(config_maps: BodyDecoder) -> None:
    complaints = ['unknown field "a"', 'duplicate field "b"']

    with pytest.raises(StatusError) as raised:
        settle(complaints, config_maps, field_validation="Strict")

    assert raised.value.message == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap:'
        ' strict decoding error: unknown field "a", duplicate field "b"'
    )
    assert settle(complaints, config_maps, field_validation="Warn") == complaints
    assert settle(complaints, config_maps, field_validation="") == complaints
    assert settle(complaints, config_maps, field_validation="Ignore") == []
    assert settle([], config_maps, field_validation="Strict") == []


def test_lone_surrogates_and_invalid_bytes_are_replaced(config_maps: BodyDecoder) -> None:
    escaped, _ = read(r'{"data":{"a":"\ud800x"}}', config_maps)
    raw, _ = decode(b'{"data":{"a":"\xff"}}', config_maps, content_type="")

    assert escaped["data"] == {"a": "\ufffdx"}
    assert raw["data"] == {"a": "\ufffd"}


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["metadata", "spec", "labels", "a"]), inner, max_size=3)
    ),
    max_leaves=10,
)
BODIES = st.binary(max_size=40) | JSON_VALUES.map(lambda value: json.dumps(value).encode())


@given(body=BODIES, content_type=st.sampled_from(["application/json", "application/yaml"]))
def test_a_body_decodes_to_an_object_or_is_rejected(
    body: bytes, content_type: str, deployments: BodyDecoder, widgets: BodyDecoder
) -> None:
    for expected in (deployments, widgets):
        try:
            obj, _ = decode(body, expected, content_type=content_type)
        except StatusError:
            continue
        assert isinstance(obj["metadata"], dict)


def test_only_the_metadata_of_a_custom_resource_is_converted(widgets: BodyDecoder) -> None:
    body = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "labels": {}, "foo": 1},
        "spec": {"empty": {}, "none": None, "cpu": "1000m"},
    }

    obj, complaints = read(body, widgets)

    assert obj == {**body, "metadata": {"name": "a"}}
    assert complaints == ['unknown field "metadata.foo"']


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"kind": None},
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing"
            ' in \'{"apiVersion": "example.com/v1", "kind": null}\''
            ' ({"apiVersion": "example.com/v1 ...)',
        ),
        (
            {"apiVersion": "example.com/v2"},
            "the API version in the data (example.com/v2) does not match"
            " the expected API version (example.com/v1)",
        ),
        (
            {"metadata": 5},
            'Widget in version "v1" cannot be handled as a Widget:'
            " json: cannot unmarshal number into Go value of type v1.ObjectMeta",
        ),
        (
            {"metadata": {"name": 5}},
            'Widget in version "v1" cannot be handled as a Widget:'
            " json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
        ),
    ],
)
def test_a_malformed_custom_resource_is_rejected(
    widgets: BodyDecoder, changes: dict[str, Any], message: str
) -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Widget", **changes}

    assert rejection(body, widgets) == message


def test_duplicate_fields_of_a_custom_resource_are_reported(widgets: BodyDecoder) -> None:
    body = '{"apiVersion":"example.com/v1","kind":"Widget","spec":[{"a":1,"a":2}]}'

    obj, complaints = read(body, widgets)

    assert obj["spec"] == [{"a": 2}]
    assert complaints == ['duplicate field "spec[0].a"']


def test_a_canonical_object_is_unchanged(deployments: BodyDecoder) -> None:
    once, _ = read(pod_spec({"containers": [{"name": "a"}], "overhead": {"cpu": 0.5}}), deployments)
    before = json.dumps(once)

    twice, complaints = canonical(once, deployments)

    assert json.dumps(twice) == before
    assert complaints == []


def definition(schema: Any) -> Any:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {"spec": {"versions": [version]}}


@pytest.fixture(scope="module")
def definitions(expectations: BodyDecoders) -> BodyDecoder:
    return builtin(expectations, "apiextensions.k8s.io/v1", "CustomResourceDefinition")


def test_a_nested_schema_in_a_definition_is_converted_to_its_canonical_form(
    definitions: BodyDecoder,
) -> None:
    schema = {
        "type": "object",
        "nullable": False,
        "default": {"kept": None},
        "additionalProperties": {"type": "string", "title": ""},
        "items": {"type": "string", "enum": []},
        "dependencies": {"a": ["b"]},
    }

    obj, _ = read(definition(schema), definitions)

    assert obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "default": {"kept": None},
        "additionalProperties": {"type": "string"},
        "items": {"type": "string"},
        "dependencies": {"a": ["b"]},
    }


def test_a_null_in_a_list_of_schemas_becomes_an_empty_schema(definitions: BodyDecoder) -> None:
    schema = {"items": [None, {"type": "string"}], "dependencies": {"a": ["b", None]}}

    obj, _ = read(definition(schema), definitions)

    assert obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "items": [{}, {"type": "string"}],
        "dependencies": {"a": ["b", ""]},
    }


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"items": ["a"]}, "string into Go struct field {}.items of type v1.JSONSchemaProps"),
        (
            {"dependencies": {"a": [{}]}},
            "object into Go struct field {}.dependencies of type string",
        ),
    ],
)
def test_a_string_in_place_of_a_schema_is_rejected_and_vice_versa(
    schema: Any, problem: str, definitions: BodyDecoder
) -> None:
    where = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema"

    message = rejection(definition(schema), definitions)

    assert message.endswith(f"json: cannot unmarshal {problem.format(where)}")
