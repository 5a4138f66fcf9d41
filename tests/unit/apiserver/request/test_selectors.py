"""Label and field selectors: matching, and the errors of kube-apiserver for invalid ones."""

from collections.abc import Mapping
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.selectors import (
    NOT_SUPPORTED,
    label_selector,
    parse_field_selector,
    parse_label_selector,
    selected_name,
)

LABELS = {"app": "web", "tier": "front", "size": "7", "empty": ""}
FIELDS = {"metadata.name": "web", "metadata.namespace": "default", "status.phase": ""}

# Valid label selectors. tests/real compares them with kube-apiserver.
VALID = {
    "": True,
    "app=web": True,
    "app==web": True,
    "app = web": True,
    "app=db": False,
    "app!=db": True,
    "app!=web": False,
    "missing!=web": True,
    "missing=": False,
    "empty=": True,
    "empty": True,
    "missing": False,
    "!missing": True,
    "! missing": True,
    "!app": False,
    "app in (web, db)": True,
    "app in(db)": False,
    "missing in (web)": False,
    "app notin (db)": True,
    "app notin (web,db)": False,
    "missing notin (web)": True,
    "empty in ()": True,
    "empty in (,)": True,
    "empty in (x,,y)": True,
    "empty in (,x)": True,
    "empty in (x,)": True,
    "app in (in,notin)": False,
    "in": False,
    "notin notin (in)": True,
    "size>6": True,
    "size > 7": False,
    "size<8": True,
    "size<7": False,
    "app>1": False,
    "missing<1": False,
    "size>0000000000000000000000000000001": True,
    "app=web,tier=front": True,
    "app=web,tier=back": False,
    "app\tin\n(web)\r": True,
    "empty=\0x": True,
}

_NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',"
    "  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"

INVALID = {
    "a b": f"unable to parse requirement: found 'b', expected: {_OPERATORS}",
    "a !b": f"unable to parse requirement: found '!', expected: {_OPERATORS}",
    "a=b=c": "found '=', expected: ',' or 'end of string'",
    "!a=b": "found '=', expected: ',' or 'end of string'",
    "a=b c": "found 'c', expected: ',' or 'end of string'",
    "a,": "found '', expected: identifier after ','",
    "a,,b": "found ',', expected: identifier after ','",
    ",a": "found ',', expected: !, identifier, or 'end of string'",
    "(": "found '(', expected: !, identifier, or 'end of string'",
    "=a": "found '=', expected: !, identifier, or 'end of string'",
    "a in": "unable to parse requirement: found '' expected: '('",
    "a in b": "unable to parse requirement: found 'b' expected: '('",
    "a in (": "unable to parse requirement: found '', expected: ',', ')' or identifier",
    "a in (!)": "unable to parse requirement: found '!', expected: ',', ')' or identifier",
    "a in (x": "unable to parse requirement: found '', expected: ',' or ')'",
    "a in (x y)": "unable to parse requirement: found 'y', expected: ',' or ')'",
    "a in (x,": "unable to parse requirement: found '', expected: ',', or identifier",
    "a=(": "unable to parse requirement: found '(', expected: identifier",
    "a>=1": "unable to parse requirement: found '=', expected: identifier",
    "!": "unable to parse requirement: found '', expected: identifier",
    "!!a": "unable to parse requirement: found '!', expected: identifier",
    "-a": f'unable to parse requirement: <nil>: Invalid value: "-a": {_NAME_PART}',
    "a=-b": f'unable to parse requirement: values[0][a]: Invalid value: "-b": {_VALUE}',
    "a>x": f'unable to parse requirement: values[0]: Invalid value: "x": {_INTEGER}',
    "a<": f'unable to parse requirement: values[0]: Invalid value: "": {_INTEGER}',
    "a>9223372036854775808": (
        f'unable to parse requirement: values[0]: Invalid value: "9223372036854775808": {_INTEGER}'
    ),
    "a in (-x,-y)": (
        f'unable to parse requirement: [values[0][a]: Invalid value: "-x": {_VALUE},'
        f' values[1][a]: Invalid value: "-y": {_VALUE}]'
    ),
}

VALID_FIELDS = {
    "": True,
    ",": True,
    "=": True,
    "!=": True,
    "metadata.name=web": True,
    "metadata.name==web": True,
    "metadata.name!=web": False,
    "metadata.name=web,metadata.namespace=default": True,
    "metadata.name=web,metadata.namespace!=default": False,
    "metadata.name=web,": True,
    "metadata.name=a\\,b": False,
    "metadata.name!=a\\=b\\\\c": True,
}

_ONLY = 'is not a known field selector: only "metadata.name", "metadata.namespace"'

INVALID_FIELDS = {
    "a": "invalid selector: 'a'; can't understand 'a'",
    "metadata.name>x": "invalid selector: 'metadata.name>x'; can't understand 'metadata.name>x'",
    "spec.x=1,a": "invalid selector: 'spec.x=1,a'; can't understand 'a'",
    "metadata.name=a\\b": "invalid field selector: invalid escape sequence: \\b",
    "metadata.name=a\\": "invalid field selector: invalid escape sequence: \\",
    "metadata.name=a=b": "invalid field selector: unescaped character in value: 61",
    "=x": f'"" {_ONLY}',
    "metadata.name = x": f'"metadata.name " {_ONLY}',
    "metadata.name=x,zz=1,aa=2": f'"aa" {_ONLY}',
}


@pytest.mark.parametrize(("text", "expected"), VALID.items())
def test_a_label_selector_matches_labels(text: str, expected: bool) -> None:
    assert parse_label_selector(text).matches(LABELS) is expected


@pytest.mark.parametrize(("text", "message"), INVALID.items())
def test_an_invalid_label_selector_is_rejected(text: str, message: str) -> None:
    with pytest.raises(StatusError) as raised:
        parse_label_selector(text)

    assert (raised.value.code, raised.value.message) == (400, message)


@pytest.mark.parametrize(("text", "expected"), VALID_FIELDS.items())
def test_a_field_selector_matches_fields(text: str, expected: bool) -> None:
    selector = parse_field_selector(text, known=FIELDS)

    assert selector.matches(FIELDS) is expected


@pytest.mark.parametrize(("text", "message"), INVALID_FIELDS.items())
def test_an_invalid_field_selector_is_rejected(text: str, message: str) -> None:
    with pytest.raises(StatusError) as raised:
        parse_field_selector(text, known=FIELDS)

    assert (raised.value.code, raised.value.message) == (400, message)


def test_a_kind_can_have_its_own_error_for_an_unknown_field() -> None:
    with pytest.raises(StatusError) as raised:
        parse_field_selector("spec.x=1", known=FIELDS, unsupported=NOT_SUPPORTED)

    assert raised.value.message == "field label not supported: spec.x"


NAMED = {
    "metadata.name=web": "web",
    "status.phase!=Running,metadata.name==web": "web",
    "nonsense=1,metadata.name=web": "web",
    "metadata.name!=web": "",
    "metadata.namespace=web": "",
    "metadata.name=..": "",
    "metadata.name=a/b": "",
    "metadata.name=we\\b": "",
    "": "",
}


@pytest.mark.parametrize("selector", NAMED)
def test_a_field_selector_can_require_a_single_name(selector: str) -> None:
    assert selected_name(selector) == NAMED[selector]


def test_a_selector_can_have_thousands_of_requirements() -> None:
    selector = parse_label_selector(",".join(["app=web"] * 3000))

    assert selector.matches(LABELS)
    assert not selector.matches({})


def test_an_empty_selector_matches_everything() -> None:
    assert parse_label_selector("").is_everything
    assert parse_label_selector(" ").is_everything
    assert parse_field_selector(",", known=()).is_everything
    assert not parse_label_selector("app").is_everything


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        (
            {
                "matchLabels": {"app": "web"},
                "matchExpressions": [{"key": "x", "operator": "Exists", "values": None}],
            },
            False,
        ),
    ],
)
def test_a_label_selector_object_matches_labels(
    selector: Mapping[str, Any] | None, expected: bool
) -> None:
    assert label_selector(selector).matches(LABELS) is expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            {"key": "app", "operator": "Like"},
            '"Like" is not a valid label selector operator',
        ),
        (
            {"key": "app", "operator": "In"},
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"key": "app", "operator": "Exists", "values": ["x"]},
            'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
        ),
        ({"key": "-", "operator": "Exists"}, f'key: Invalid value: "-": {_NAME_PART}'),
    ],
)
def test_an_invalid_label_selector_object_is_rejected(
    expression: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(StatusError) as raised:
        label_selector({"matchExpressions": [expression]})

    assert raised.value.message == message
