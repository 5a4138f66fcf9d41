"""Documents as YAML that other parsers than PyYAML read in the same way."""

import pytest
import yaml

from steersman.manifests import yaml_of


@pytest.mark.parametrize("text", ["y", "N", "1e3", "+.5E-3", "1.", "017", "0o17", "-12"])
def test_text_that_yaml_parsers_read_as_a_number_or_boolean_is_quoted(text: str) -> None:
    written = yaml_of([{"value": text, text: "key"}])

    assert written == f"value: '{text}'\n'{text}': key\n"


def test_text_of_several_lines_is_a_block_scalar() -> None:
    assert yaml_of([{"text": "one\ntwo\n"}]) == "text: |\n  one\n  two\n"


@pytest.mark.parametrize("text", ["a\u2028b", "a\x85b\nc", "a\u2029"])
def test_unusual_line_breaks_are_escaped(text: str) -> None:
    written = yaml_of([{"text": text}])

    assert written.isascii()
    assert yaml.safe_load(written) == {"text": text}


def test_a_repeated_part_is_written_without_an_alias() -> None:
    part = {"a": [1]}

    assert yaml_of([{"one": part, "two": part}]) == "one:\n  a:\n  - 1\ntwo:\n  a:\n  - 1\n"


def test_several_documents_are_one_text() -> None:
    assert yaml_of([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
