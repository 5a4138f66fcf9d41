"""Records of writes and events, and the delays between them."""

from pathlib import Path

import pytest

from bench.harness.spans import (
    Write,
    deployment_times,
    durations,
    line_count,
    notes_in,
    percentile,
    percentiles,
    reached_at,
    reconcile_times,
    writes_in,
)


def write(name: str = "a", *, generation: int = 1, size: int = 1, sent_at: float = 0.0) -> Write:
    return Write(
        name=name,
        generation=generation,
        size=size,
        due_at=sent_at - 0.25,
        sent_at=sent_at,
        last_response_at=sent_at + 0.5,
    )


def test_a_write_round_trips_through_a_line() -> None:
    written = write("app-00017", generation=3, size=12, sent_at=1234.0625)

    assert Write.of(written.line()) == written


def test_an_incomplete_line_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text(f"{write('a').line()}\n{write('b').line()[:-3]}")

    assert [each.name for each in writes_in(file)] == ["a"]
    assert line_count(file) == 1


def test_a_missing_file_has_no_records(tmp_path: Path) -> None:
    assert notes_in(tmp_path / "nothing") == {}
    assert line_count(tmp_path / "nothing") == 0


def test_records_of_several_files_are_sorted_by_time(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    after.write_text("3.5 a 2\n")
    before.write_text("2.5 a 1\n2.0 b 1\n")

    assert notes_in(after, before) == {"a": [(2.5, 1), (3.5, 2)], "b": [(2.0, 1)]}


def test_a_reconcile_of_a_later_generation_covers_earlier_changes() -> None:
    starts = {"a": [(1.0, 1), (2.0, 4)]}
    writes = [write(generation=generation) for generation in (1, 2, 4, 5)]

    assert reconcile_times(writes, starts) == [1.0, 2.0, 2.0, None]


def test_a_deployment_matches_a_write_by_size_and_not_by_generation() -> None:
    seen = {"a": [(1.0, 3), (2.0, 12)]}

    assert deployment_times([write(generation=7, size=12)], seen) == [2.0]
    assert reached_at(seen, "b", 0) is None


def test_a_delay_is_never_negative() -> None:
    assert durations([1.0, 2.0], [0.9, 2.25]) == [0.0, 0.25]


def test_a_write_without_an_effect_is_an_error() -> None:
    with pytest.raises(AssertionError, match="1 of 2 writes"):
        durations([1.0, 2.0], [1.5, None])


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]

    assert (percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1.0)) == (
        50.0,
        99.0,
        100.0,
    )
    assert percentiles("sent", [7.0]) == {"sent_p50": 7.0, "sent_p99": 7.0, "sent_max": 7.0}
