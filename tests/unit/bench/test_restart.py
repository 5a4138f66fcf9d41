"""The figures of a restart: its start, its end and its limits."""

from bench.harness.contenders import OURS
from bench.harness.restarting import first_and_last
from bench.measures.restart import promises


def test_first_and_last_ignore_new_objects() -> None:
    starts = {"new": [(1.0, 1)], "a": [(3.0, 1), (9.0, 1)], "b": [(5.0, 1)], "newer": [(7.0, 1)]}

    assert first_and_last({"a", "b"}, starts) == (3.0, 5.0)


def test_the_slowest_round_is_judged() -> None:
    (found, _) = promises(OURS, [{"busy_p99": 0.2}, {"busy_p99": 1.5}], "killed", judged=True)

    assert (found.found, found.verdict) == (1.5, "MISSED")


def test_a_round_without_a_figure_keeps_no_promise() -> None:
    (found, _) = promises(OURS, [{"busy_p99": 0.2}, {}], "killed", judged=True)

    assert found.found is None
    assert not found.is_kept


def test_the_ratio_of_start_times_is_shown_and_not_judged() -> None:
    (_, shown) = promises(OURS, [{"busy_p99": 0.2, "start_p99_ratio": 1.2}], "killed", judged=True)

    assert (shown.found, shown.verdict) == (1.2, "not judged")
