"""Negotiation of the media types of responses and request bodies."""

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.metadata_encoder import MetadataEncoder
from steersman_cluster.apiserver.request.negotiation import (
    APPLY_PATCH,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    PLAIN,
    STRATEGIC_PATCH,
    YAML,
    ResponseFormat,
    accepted_format,
    body_type,
    clauses,
    error_language,
    negotiate,
    no_table,
    patch_type,
)
from steersman_cluster.apiserver.request.protobuf_responses import (
    WHOLE_MESSAGES,
    ProtobufMetadataEncoder,
)
from steersman_cluster.apiserver.request.response_encoders import ResponseEncoder
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF
from tests.unit.apiserver.urls import request

KUBECTL = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
NO_VERSION = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v2"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

ACCEPTED = {
    "": JSON,
    "application/json": JSON,
    "*/*": JSON,
    "application/yaml": YAML,
    "text/html,application/xhtml+xml,*/*;q=0.8": JSON,
    "application/yaml;q=0.1, application/json;q=0.9": JSON,
    "application/yaml, application/json": YAML,
    "application/json;q=often, application/yaml": YAML,
    "application/yaml;q=often": YAML,
    "application/json;as=": JSON,
    "application/json;as": JSON,
    "application/json;as=Table=": JSON,
    "application/yaml/json, application, application/json": JSON,
    KUBECTL: JSON,
}


@pytest.mark.parametrize("accept", ACCEPTED)
def test_the_response_has_the_supported_media_type_with_the_highest_weight(accept: str) -> None:
    encoder = negotiate(request("/", Accept=accept), custom=False)

    assert encoder == ResponseFormat(ACCEPTED[accept])


@pytest.mark.parametrize("accept", ["*", "*;q=.2", "application /yaml", "*/yaml"])
def test_builtin_resources_reject_abbreviated_media_ranges(accept: str) -> None:
    custom = negotiated_language(accept, custom=True)
    builtin = negotiated_language(accept, custom=False)

    assert custom == ("406" if accept == "*/yaml" else YAML if "yaml" in accept else JSON)
    assert builtin == "406"


def negotiated_language(accept: str, *, custom: bool) -> str:
    try:
        return negotiate(request("/", Accept=accept), custom=custom).language
    except StatusError as error:
        return str(error.code)


WANTED = {
    "": JSON,
    "*": JSON,
    "*/yaml": YAML,
    "application/*": JSON,
    "text/html, application/yaml;q=0.1": YAML,
    "text/plain": "",
}


@pytest.mark.parametrize("accept", WANTED)
def test_accepted_format_selects_the_media_type_with_the_highest_weight(accept: str) -> None:
    assert accepted_format(accept, (JSON, YAML)) == WANTED[accept]


def test_thousands_of_media_types_are_sorted_by_weight() -> None:
    """The order of the header does not affect the sorting time."""
    many = [f"text/html;q={weight / 5000}" for weight in range(4000)]
    accept = ",".join((*many, "application/yaml;q=0.9", JSON))

    first, second, *rest = clauses(accept)

    assert [first, second] == [(JSON, {}), (YAML, {})]
    assert len(rest) == len(many)


@pytest.mark.parametrize("name", ["Accept", "accept", "ACCEPT"])
def test_header_names_are_case_insensitive(name: str) -> None:
    encoder = negotiate(request("/", Host="here", **{name: YAML}), custom=False)

    assert encoder == ResponseFormat(YAML)


@pytest.mark.parametrize(
    "accept", [PROTOBUF, f"{PROTOBUF},{JSON}", f"{PROTOBUF}, */*", f"*/*,{PROTOBUF};q=0.5"]
)
def test_built_in_resources_are_encoded_in_protobuf_on_request(accept: str) -> None:
    for watches in (False, True):
        encoder = negotiate(request("/", accept=accept), custom=False, watches=watches)

        assert encoder == ResponseFormat(PROTOBUF, WHOLE_MESSAGES)


def test_custom_resources_are_encoded_in_json_if_protobuf_is_preferred() -> None:
    assert negotiate(request("/", accept=f"{PROTOBUF},{JSON}"), custom=True) == PLAIN


@pytest.mark.parametrize("custom", [True, False])
def test_metadata_is_encoded_in_protobuf_on_request(custom: bool) -> None:
    accept = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"

    encoder = negotiate(request("/", accept=accept), custom=custom)

    only = MetadataEncoder("PartialObjectMetadata", "v1")
    assert encoder == ResponseFormat(PROTOBUF, ProtobufMetadataEncoder(only))


def test_a_table_is_not_encoded_in_protobuf() -> None:
    accept = TABLE.replace("json", "vnd.kubernetes.protobuf")

    encoder = negotiate(request("/", accept=f"{accept},{YAML}"), custom=False, table=no_table)

    assert encoder == ResponseFormat(YAML)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_response_can_contain_only_metadata(version: str) -> None:
    accept = f"application/yaml;as=PartialObjectMetadata;g=meta.k8s.io;v={version}"

    encoder = negotiate(request("/", accept=accept), custom=True)

    assert encoder == ResponseFormat(YAML, MetadataEncoder("PartialObjectMetadata", version))


def test_a_response_can_be_a_table_if_the_resource_has_one() -> None:
    info: list[str] = []

    def table(version: str) -> ResponseEncoder:
        info.append(version)
        return MetadataEncoder("PartialObjectMetadata", version)

    forms = [
        negotiate(request("/", accept=each), custom=False, table=table)
        for each in (KUBECTL, TABLE.replace("v=v1", "v=v1beta1"), f"{TABLE};q=0.1,*/*")
    ]

    assert info == ["v1", "v1beta1"]
    assert forms == [*(ResponseFormat(JSON, table(each)) for each in ("v1", "v1beta1")), PLAIN]


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        f"{PROTOBUF};stream=other",
        f"{YAML};stream=watch",
        TABLE,
        NO_VERSION,
        "application/json;as=Table",
        "application/json;g=meta.k8s.io",
        "application/json;stream=other",
        "application/json;sv=v2",
    ],
)
@pytest.mark.parametrize("custom", [True, False])
def test_an_unsupported_accept_header_is_rejected_with_the_supported_media_types(
    accept: str, custom: bool
) -> None:
    with pytest.raises(StatusError) as raised:
        negotiate(request("/", accept=accept), custom=custom)

    assert raised.value.code == 406
    assert raised.value.message.endswith(f"application/json, application/yaml, {PROTOBUF}")


def test_builtin_resources_reject_the_media_range_application_star() -> None:
    some = request("/", accept="application/*")

    assert negotiate(some, custom=True) == PLAIN
    with pytest.raises(StatusError, match="406"):
        negotiate(some, custom=False)


@pytest.mark.parametrize("accept", [YAML, "application/yaml, application/json;q=0.5"])
def test_a_watch_in_yaml_is_not_acceptable(accept: str) -> None:
    with pytest.raises(StatusError) as raised:
        negotiate(request("/", accept=accept), custom=False, watches=True)

    assert raised.value.message.endswith(
        f"accepted: application/json;stream=watch, {PROTOBUF};stream=watch"
    )


def test_a_rejected_list_names_the_media_types_of_its_watch() -> None:
    with pytest.raises(StatusError) as raised:
        negotiate(request("/", accept="text/html"), custom=False, lists=True)

    assert raised.value.message.endswith(
        f"{PROTOBUF}, application/json;stream=watch, {PROTOBUF};stream=watch"
    )


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        ("", JSON),
        ("application/yaml", YAML),
        ("application/yaml;as=Table;v=v1;g=meta.k8s.io", JSON),
        ("application/yaml;as=Table;v=v1;g=meta.k8s.io,application/yaml", YAML),
        ("text/html", JSON),
        (PROTOBUF, PROTOBUF),
        (f"{PROTOBUF};stream=watch", PROTOBUF),
        (f"{PROTOBUF};sv=v1", JSON),
        (f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io", JSON),
    ],
)
def test_an_error_has_an_accepted_media_type_for_whole_objects(accept: str, language: str) -> None:
    assert error_language(request("/", accept=accept)) == language


BODIES = {
    "": JSON,
    "application/json": JSON,
    "Application/JSON; charset=utf-8": JSON,
    "application/yaml": YAML,
    PROTOBUF: PROTOBUF,
}


@pytest.mark.parametrize("content_type", BODIES)
def test_the_content_type_header_determines_the_body_type(content_type: str) -> None:
    assert body_type(request("/", content_type=content_type)) == BODIES[content_type]


def test_a_body_with_an_unsupported_media_type_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        body_type(request("/", content_type="text/plain"))

    assert raised.value.code == 415


@pytest.mark.parametrize("language", [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH])
def test_a_patch_has_one_of_four_media_types(language: str) -> None:
    assert patch_type(request("/", content_type=language), custom=False) == language


def test_custom_resources_do_not_support_strategic_merge_patch() -> None:
    with pytest.raises(StatusError) as raised:
        patch_type(request("/", content_type=STRATEGIC_PATCH), custom=True)

    assert raised.value.code == 415
    assert STRATEGIC_PATCH not in raised.value.message
    assert MERGE_PATCH in raised.value.message


@pytest.mark.parametrize("custom", [True, False])
def test_a_patch_with_another_media_type_is_rejected(custom: bool) -> None:
    with pytest.raises(StatusError, match="415"):
        patch_type(request("/", content_type=JSON), custom=custom)
