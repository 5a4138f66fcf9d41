"""Which language an answer is in, and which bodies are understood."""

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
def test_the_answer_is_in_the_most_wanted_language_that_is_spoken(accept: str) -> None:
    encoder = negotiate(request("/", Accept=accept), custom=False)

    assert encoder == ResponseFormat(ACCEPTED[accept])


@pytest.mark.parametrize("accept", ["*", "*;q=.2", "application /yaml", "*/yaml"])
def test_what_go_reads_is_read_but_not_where_the_way_is_found_by_whole_types(accept: str) -> None:
    custom = refusal_or_form(accept, custom=True)
    builtin = refusal_or_form(accept, custom=False)

    assert custom == ("406" if accept == "*/yaml" else YAML if "yaml" in accept else JSON)
    assert builtin == "406"


def refusal_or_form(accept: str, *, custom: bool) -> str:
    try:
        return negotiate(request("/", Accept=accept), custom=custom).language
    except StatusError as refusal:
        return str(refusal.code)


WANTED = {
    "": JSON,
    "*": JSON,
    "*/yaml": YAML,
    "application/*": JSON,
    "text/html, application/yaml;q=0.1": YAML,
    "text/plain": "",
}


@pytest.mark.parametrize("accept", WANTED)
def test_of_several_media_types_the_one_that_is_wanted_most_is_chosen(accept: str) -> None:
    assert accepted_format(accept, (JSON, YAML)) == WANTED[accept]


def test_many_wanted_languages_are_in_the_order_of_their_weights() -> None:
    """Because that takes no longer than to read them, in however bad an order they come."""
    many = [f"text/html;q={weight / 5000}" for weight in range(4000)]
    accept = ",".join((*many, "application/yaml;q=0.9", JSON))

    first, second, *rest = clauses(accept)

    assert [first, second] == [(JSON, {}), (YAML, {})]
    assert len(rest) == len(many)


@pytest.mark.parametrize("name", ["Accept", "accept", "ACCEPT"])
def test_a_header_is_found_however_its_name_is_written(name: str) -> None:
    encoder = negotiate(request("/", Host="here", **{name: YAML}), custom=False)

    assert encoder == ResponseFormat(YAML)


@pytest.mark.parametrize(
    "accept", [PROTOBUF, f"{PROTOBUF},{JSON}", f"{PROTOBUF}, */*", f"*/*,{PROTOBUF};q=0.5"]
)
def test_built_in_resources_are_answered_in_protobuf_where_that_is_wanted(accept: str) -> None:
    for watches in (False, True):
        encoder = negotiate(request("/", accept=accept), custom=False, watches=watches)

        assert encoder == ResponseFormat(PROTOBUF, WHOLE_MESSAGES)


def test_custom_resources_are_answered_in_json_where_protobuf_is_preferred() -> None:
    assert negotiate(request("/", accept=f"{PROTOBUF},{JSON}"), custom=True) == PLAIN


@pytest.mark.parametrize("custom", [True, False])
def test_metadata_is_answered_in_protobuf_where_that_is_wanted(custom: bool) -> None:
    accept = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"

    encoder = negotiate(request("/", accept=accept), custom=custom)

    only = MetadataEncoder("PartialObjectMetadata", "v1")
    assert encoder == ResponseFormat(PROTOBUF, ProtobufMetadataEncoder(only))


def test_a_table_is_never_in_protobuf() -> None:
    accept = TABLE.replace("json", "vnd.kubernetes.protobuf")

    encoder = negotiate(request("/", accept=f"{accept},{YAML}"), custom=False, table=no_table)

    assert encoder == ResponseFormat(YAML)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_answer_may_be_wanted_without_anything_but_metadata(version: str) -> None:
    accept = f"application/yaml;as=PartialObjectMetadata;g=meta.k8s.io;v={version}"

    encoder = negotiate(request("/", accept=accept), custom=True)

    assert encoder == ResponseFormat(YAML, MetadataEncoder("PartialObjectMetadata", version))


def test_the_answer_may_be_wanted_as_a_table_where_there_is_one() -> None:
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
def test_where_no_wanted_language_is_spoken_the_spoken_ones_are_named(
    accept: str, custom: bool
) -> None:
    with pytest.raises(StatusError) as refused:
        negotiate(request("/", accept=accept), custom=custom)

    assert refused.value.code == 406
    assert refused.value.message.endswith(f"application/json, application/yaml, {PROTOBUF}")


def test_the_way_to_built_in_resources_is_found_by_whole_types_alone() -> None:
    some = request("/", accept="application/*")

    assert negotiate(some, custom=True) == PLAIN
    with pytest.raises(StatusError, match="406"):
        negotiate(some, custom=False)


@pytest.mark.parametrize("accept", [YAML, "application/yaml, application/json;q=0.5"])
def test_a_watch_is_refused_where_yaml_is_preferred(accept: str) -> None:
    with pytest.raises(StatusError) as refused:
        negotiate(request("/", accept=accept), custom=False, watches=True)

    assert refused.value.message.endswith(
        f"accepted: application/json;stream=watch, {PROTOBUF};stream=watch"
    )


def test_a_list_that_is_not_acceptable_names_the_streams_of_its_watch() -> None:
    with pytest.raises(StatusError) as refused:
        negotiate(request("/", accept="text/html"), custom=False, lists=True)

    assert refused.value.message.endswith(
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
def test_a_refusal_is_in_a_language_that_was_wanted_for_whole_objects(
    accept: str, language: str
) -> None:
    assert error_language(request("/", accept=accept)) == language


BODIES = {
    "": JSON,
    "application/json": JSON,
    "Application/JSON; charset=utf-8": JSON,
    "application/yaml": YAML,
    PROTOBUF: PROTOBUF,
}


@pytest.mark.parametrize("content_type", BODIES)
def test_a_body_has_the_media_type_that_its_header_names(content_type: str) -> None:
    assert body_type(request("/", content_type=content_type)) == BODIES[content_type]


def test_a_body_in_another_language_is_refused() -> None:
    with pytest.raises(StatusError) as refused:
        body_type(request("/", content_type="text/plain"))

    assert refused.value.code == 415


@pytest.mark.parametrize("language", [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH])
def test_a_patch_is_in_one_of_four_languages(language: str) -> None:
    assert patch_type(request("/", content_type=language), custom=False) == language


def test_custom_resources_do_without_the_patch_that_needs_go_types() -> None:
    with pytest.raises(StatusError) as refused:
        patch_type(request("/", content_type=STRATEGIC_PATCH), custom=True)

    assert refused.value.code == 415
    assert STRATEGIC_PATCH not in refused.value.message
    assert MERGE_PATCH in refused.value.message


@pytest.mark.parametrize("custom", [True, False])
def test_a_patch_without_a_language_is_refused(custom: bool) -> None:
    with pytest.raises(StatusError, match="415"):
        patch_type(request("/", content_type=JSON), custom=custom)
