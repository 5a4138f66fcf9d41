"""Parsing of YAML bodies into JSON values, with complaints."""

from textwrap import dedent

import pytest
import yaml

from steersman_cluster.apiserver.schema.serializer.yaml_bodies import BadYaml, parse_yaml


def test_only_the_first_document_is_read() -> None:
    body = dedent("""
        name: &name web
        labels: {app: *name, on: "1", 5: five, 1.5: half}
        numbers: [3.0, 0.5, 0x10, 010, 0b11, 1_000, 1e3]
        truths: [yes, "yes", off, n, ~]
        moment: 2020-01-01
        base: &base {a: 1}
        merged: {<<: *base, b: 2}
        ---
        another: document
    """)

    value, complaints = parse_yaml(body.encode())

    assert complaints == []
    assert value == {
        "name": "web",
        "labels": {"app": "web", "true": "1", "5": "five", "1.5": "half"},
        "numbers": [3, 0.5, 16, 8, 3, 1000, 1000],
        "truths": [True, "yes", False, False, None],
        "moment": "2020-01-01",
        "base": {"a": 1},
        "merged": {"a": 1, "b": 2},
    }


def test_an_empty_body_is_null() -> None:
    assert parse_yaml(b"").value is None


def test_duplicate_keys_are_reported_with_their_line() -> None:
    value, complaints = parse_yaml(b"a: b\na: c\n")

    assert value == {"a": "c"}
    assert complaints == ['yaml: unmarshal errors:\n  line 2: key "a" already set in map']


def test_the_line_of_a_duplicate_key_is_that_of_its_value() -> None:
    _, complaints = parse_yaml(b"a: b\na:\n  c: d\n")

    assert complaints == ['yaml: unmarshal errors:\n  line 3: key "a" already set in map']


def test_the_later_of_a_number_key_and_an_equal_string_key_is_kept() -> None:
    value, complaints = parse_yaml(b'1: b\n"1": c\n')

    assert value == {"1": "c"}
    assert complaints == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("\t", "yaml: found character that cannot start any token"),
        ("a: *b", "yaml: unknown anchor 'b' referenced"),
        ("{[]: a}", "yaml: invalid map key"),
        ("<<: 5", "yaml: map merge requires map or sequence of maps as the value"),
        ("a: \x00", "yaml: control characters are not allowed"),
        ("[" * 300, "yaml: exceeded max depth of 200"),
    ],
)
@pytest.mark.parametrize("uses_libyaml", [True, False])
def test_invalid_yaml_is_reported_with_the_message_of_go(
    body: str, problem: str, uses_libyaml: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not uses_libyaml:
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)

    with pytest.raises(BadYaml, match="yaml: ") as raised:
        parse_yaml(body.encode())

    assert str(raised.value) == problem


def test_excessive_aliasing_is_rejected() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]

    with pytest.raises(BadYaml, match="document contains excessive aliasing"):
        parse_yaml("\n".join(lines).encode())


def test_excessive_alias_depth_is_rejected() -> None:
    deep = "[" * 150
    lines = [f"a0: &a0 {deep}{']' * 150}"]
    lines += [f"a{i}: &a{i} {deep}*a{i - 1}{']' * 150}" for i in range(1, 10)]

    with pytest.raises(BadYaml, match="exceeded max depth"):
        parse_yaml("\n".join(lines).encode())


def test_the_value_of_an_alias_is_a_copy() -> None:
    value, _ = parse_yaml(b"a: &a {b: [1]}\nc: *a\nd: {<<: *a}\n")

    value["c"]["b"].append(2)

    assert value == {"a": {"b": [1]}, "c": {"b": [1, 2]}, "d": {"b": [1]}}
