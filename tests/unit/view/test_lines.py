"""Lines of text that fit into a terminal."""

import pytest

from steersman.view.lines import (
    Span,
    cut,
    padded,
    printable,
    shortened,
    text_of,
    width_of,
)


@pytest.mark.parametrize(
    ("width", "shown"), [(20, "one, two"), (8, "one, two"), (6, "one, …"), (1, "…"), (0, "")]
)
def test_a_truncated_line_ends_in_an_ellipsis(width: int, shown: str) -> None:
    line = (Span("one, "), Span("two", "good"))

    assert text_of(cut(line, width)) == shown


def test_a_truncated_line_keeps_its_tones() -> None:
    assert cut((Span("one, "), Span("three", "bad")), 8) == (Span("one, "), Span("th…", "bad"))


def test_wide_letters_take_two_columns_and_accents_none() -> None:
    assert width_of("日本") == 4
    assert width_of("e\u0301") == 1
    assert text_of(cut((Span("日本語"),), 4)) == "日…"
    assert padded("日本", 6) == "日本  "


def test_control_sequences_are_not_printed() -> None:
    assert printable("a\x1b[2Jb\nc\td") == "a\\x1b[2Jb c   d"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (20, "web-cf7f859f4-d5n28"),
        (19, "web-cf7f859f4-d5n28"),
        (12, "web-cf7…5n28"),
        (1, "…"),
        (0, ""),
    ],
)
def test_a_truncated_name_keeps_its_end(width: int, shown: str) -> None:
    assert shortened("web-cf7f859f4-d5n28", width) == shown


def test_a_name_of_wide_letters_never_exceeds_its_width() -> None:
    for width in range(20):
        assert width_of(shortened("漢字漢字漢字漢字", width)) <= width
