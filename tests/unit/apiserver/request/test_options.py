"""Options in the query, and the errors for invalid ones."""

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.options import ListOptions, WriteOptions, boolean, integer
from tests.unit.apiserver.urls import request_info

BOOLEANS = {
    "a": True,
    "a=": True,
    "a=1": True,
    "a=yes": True,
    "a=0": False,
    "a=False": False,
    "b": None,
}


@pytest.mark.parametrize("query", BOOLEANS)
def test_a_boolean_option_is_true_unless_it_is_0_or_false(query: str) -> None:
    assert boolean(request_info(f"/?{query}"), "a") is BOOLEANS[query]


INTEGERS = {"": None, "n=": None, "n=7": 7, "n=-7": -7, "n=%2B7": 7, "n=007": 7}


@pytest.mark.parametrize("query", INTEGERS)
def test_an_integer_option_is_parsed(query: str) -> None:
    assert integer(request_info(f"/?{query}"), "n") == INTEGERS[query]


NOT_INTEGERS = {
    "many": 'strconv.ParseInt: parsing "many": invalid syntax',
    "1.5": 'strconv.ParseInt: parsing "1.5": invalid syntax',
    "1_000": 'strconv.ParseInt: parsing "1_000": invalid syntax',
    "%207": 'strconv.ParseInt: parsing " 7": invalid syntax',
    "9223372036854775808": ('strconv.ParseInt: parsing "9223372036854775808": value out of range'),
}


@pytest.mark.parametrize("text", NOT_INTEGERS)
def test_an_option_that_is_not_an_integer_is_rejected(text: str) -> None:
    with pytest.raises(StatusError) as raised:
        integer(request_info(f"/?n={text}"), "n")

    assert (raised.value.code, raised.value.message) == (400, NOT_INTEGERS[text])


def test_list_options_are_read_from_the_query() -> None:
    options = ListOptions.of(
        request_info(
            "/?watch=true&labelSelector=a%3Db&fieldSelector=c%3Dd&resourceVersion=5"
            "&resourceVersionMatch=NotOlderThan&limit=10&timeoutSeconds=30"
            "&allowWatchBookmarks=true&sendInitialEvents=true"
        )
    )

    assert options == ListOptions(
        watch=True,
        label_selector="a=b",
        field_selector="c=d",
        resource_version="5",
        resource_version_match="NotOlderThan",
        limit=10,
        continued="",
        timeout_seconds=30,
        bookmarks=True,
        send_initial_events=True,
    )


REJECTED_LISTS = {
    "resourceVersionMatch=Exact": (
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion"
        " is provided"
    ),
    "resourceVersion=5&resourceVersionMatch=Exact&continue=x": (
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is"
        " provided"
    ),
    "resourceVersion=5&resourceVersionMatch=Nearly": (
        'resourceVersionMatch: Unsupported value: "Nearly": supported values: "Exact",'
        ' "NotOlderThan", ""'
    ),
    "resourceVersion=0&resourceVersionMatch=Exact": (
        'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for'
        ' resourceVersion "0"'
    ),
    "sendInitialEvents=false": (
        "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"
    ),
    "watch=1&sendInitialEvents=true": (
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch"
        " to NotOlderThan"
    ),
    "watch=1&resourceVersionMatch=NotOlderThan": (
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless"
        " sendInitialEvents is provided"
    ),
    "watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=1&continue=x": (
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is"
        " provided"
    ),
}


@pytest.mark.parametrize("query", REJECTED_LISTS)
def test_contradictory_list_options_are_rejected(query: str) -> None:
    with pytest.raises(StatusError) as raised:
        ListOptions.of(request_info(f"/?{query}"))

    message = f'ListOptions.meta.k8s.io "" is invalid: {REJECTED_LISTS[query]}'
    assert (raised.value.code, raised.value.message) == (422, message)


def test_several_contradictory_options_are_reported_together() -> None:
    with pytest.raises(StatusError) as raised:
        ListOptions.of(request_info("/?watch=1&resourceVersionMatch=Exact&sendInitialEvents=1"))

    details = raised.value.details or {}
    assert [cause["field"] for cause in details["causes"]] == ["resourceVersionMatch"] * 2
    assert [cause["reason"] for cause in details["causes"]] == [
        "FieldValueForbidden",
        "FieldValueNotSupported",
    ]


def test_write_options_are_read_from_the_query() -> None:
    query = "/?dryRun=All&fieldManager=me&fieldValidation=Strict&force=true"

    options = WriteOptions.of(request_info(query), kind="PatchOptions", is_apply=True)

    assert options == WriteOptions(
        dry_run=True, field_manager="me", field_validation="Strict", force=True
    )


def test_write_options_have_the_defaults_of_kube_apiserver() -> None:
    options = WriteOptions.of(request_info("/"), kind="CreateOptions")

    assert options == WriteOptions(
        dry_run=False, field_manager="", field_validation="Warn", force=None
    )


REJECTED_WRITES = {
    "dryRun=Some": 'dryRun: Unsupported value: ["Some"]: supported values: "All"',
    "fieldValidation=Maybe": (
        'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict",'
        ' "Warn"'
    ),
    "fieldManager=a%09b": (
        'fieldManager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)'
    ),
    f"fieldManager={'x' * 129}": "fieldManager: Too long: may not be more than 128 bytes",
    "force=true": "force: Forbidden: may not be specified for non-apply patch",
}


@pytest.mark.parametrize("query", REJECTED_WRITES)
def test_invalid_write_options_are_rejected(query: str) -> None:
    with pytest.raises(StatusError) as raised:
        WriteOptions.of(request_info(f"/?{query}"), kind="PatchOptions")

    message = f'PatchOptions.meta.k8s.io "" is invalid: {REJECTED_WRITES[query]}'
    assert (raised.value.code, raised.value.message) == (422, message)


def test_an_apply_requires_a_field_manager() -> None:
    with pytest.raises(StatusError, match="422"):
        WriteOptions.of(request_info("/"), kind="PatchOptions", is_apply=True)
