"""Documents as YAML, for readers who read other versions of it than PyYAML does."""

import pytest
import yaml

from steersman.manifests import yaml_of


@pytest.mark.parametrize("text", ["y", "N", "1e3", "+.5E-3", "1.", "017", "0o17", "-12"])
def test_what_another_reader_would_take_for_a_number_or_a_truth_is_quoted(text: str) -> None:
    written = yaml_of([{"value": text, text: "key"}])

    assert written == f"value: '{text}'\n'{text}': key\n"


def test_text_of_several_lines_is_shown_as_such() -> None:
    assert yaml_of([{"text": "one\ntwo\n"}]) == "text: |\n  one\n  two\n"


@pytest.mark.parametrize("text", ["a\u2028b", "a\x85b\nc", "a\u2029"])
def test_line_ends_that_only_some_readers_know_are_written_as_escapes(text: str) -> None:
    written = yaml_of([{"text": text}])

    assert written.isascii()
    assert yaml.safe_load(written) == {"text": text}


def test_the_same_part_in_two_places_is_written_twice() -> None:
    part = {"a": [1]}

    assert yaml_of([{"one": part, "two": part}]) == "one:\n  a:\n  - 1\ntwo:\n  a:\n  - 1\n"


def test_several_documents_are_one_text() -> None:
    assert yaml_of([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
