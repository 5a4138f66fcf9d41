"""What stands in the query, and the words with which it is refused."""

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.options import ListOptions, WriteOptions, boolean, integer
from tests.unit.apiserver.urls import asking

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
def test_anything_but_no_is_a_yes(query: str) -> None:
    assert boolean(asking(f"/?{query}"), "a") is BOOLEANS[query]


INTEGERS = {"": None, "n=": None, "n=7": 7, "n=-7": -7, "n=%2B7": 7, "n=007": 7}


@pytest.mark.parametrize("query", INTEGERS)
def test_a_whole_number_is_read(query: str) -> None:
    assert integer(asking(f"/?{query}"), "n") == INTEGERS[query]


NOT_INTEGERS = {
    "many": 'strconv.ParseInt: parsing "many": invalid syntax',
    "1.5": 'strconv.ParseInt: parsing "1.5": invalid syntax',
    "1_000": 'strconv.ParseInt: parsing "1_000": invalid syntax',
    "%207": 'strconv.ParseInt: parsing " 7": invalid syntax',
    "9223372036854775808": ('strconv.ParseInt: parsing "9223372036854775808": value out of range'),
}


@pytest.mark.parametrize("text", NOT_INTEGERS)
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(StatusError) as refused:
        integer(asking(f"/?n={text}"), "n")

    assert (refused.value.code, refused.value.message) == (400, NOT_INTEGERS[text])


def test_list_options_are_read_from_the_query() -> None:
    options = ListOptions.of(
        asking(
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


REFUSED_LISTS = {
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


@pytest.mark.parametrize("query", REFUSED_LISTS)
def test_list_options_that_contradict_each_other_are_refused(query: str) -> None:
    with pytest.raises(StatusError) as refused:
        ListOptions.of(asking(f"/?{query}"))

    said = f'ListOptions.meta.k8s.io "" is invalid: {REFUSED_LISTS[query]}'
    assert (refused.value.code, refused.value.message) == (422, said)


def test_several_contradictions_are_reported_together() -> None:
    with pytest.raises(StatusError) as refused:
        ListOptions.of(asking("/?watch=1&resourceVersionMatch=Exact&sendInitialEvents=1"))

    details = refused.value.details or {}
    assert [cause["field"] for cause in details["causes"]] == ["resourceVersionMatch"] * 2
    assert [cause["reason"] for cause in details["causes"]] == [
        "FieldValueForbidden",
        "FieldValueNotSupported",
    ]


def test_write_options_are_read_from_the_query() -> None:
    query = "/?dryRun=All&fieldManager=me&fieldValidation=Strict&force=true"

    options = WriteOptions.of(asking(query), kind="PatchOptions", is_apply=True)

    assert options == WriteOptions(
        dry_run=True, field_manager="me", field_validation="Strict", force=True
    )


def test_without_a_word_a_write_is_made_and_what_is_odd_is_warned_of() -> None:
    options = WriteOptions.of(asking("/"), kind="CreateOptions")

    assert options == WriteOptions(
        dry_run=False, field_manager="", field_validation="Warn", force=None
    )


REFUSED_WRITES = {
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


@pytest.mark.parametrize("query", REFUSED_WRITES)
def test_write_options_that_make_no_sense_are_refused(query: str) -> None:
    with pytest.raises(StatusError) as refused:
        WriteOptions.of(asking(f"/?{query}"), kind="PatchOptions")

    said = f'PatchOptions.meta.k8s.io "" is invalid: {REFUSED_WRITES[query]}'
    assert (refused.value.code, refused.value.message) == (422, said)


def test_an_apply_names_its_field_manager() -> None:
    with pytest.raises(StatusError, match="422"):
        WriteOptions.of(asking("/"), kind="PatchOptions", is_apply=True)
