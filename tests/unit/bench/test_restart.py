"""The figures and the limits of a restart."""

from bench.harness.contenders import STEERSMAN
from bench.harness.restarts import first_and_last
from bench.measures.restart import limits_of


def test_first_and_last_ignore_new_objects() -> None:
    starts = {"new": [(1.0, 1)], "a": [(3.0, 1), (9.0, 1)], "b": [(5.0, 1)], "newer": [(7.0, 1)]}

    assert first_and_last({"a", "b"}, starts) == (3.0, 5.0)


def test_the_limit_applies_to_the_slowest_round() -> None:
    (found, _) = limits_of(
        STEERSMAN, [{"busy_p99": 0.2}, {"busy_p99": 1.5}], "killed", enforced=True
    )

    assert (found.found, found.verdict) == (1.5, "EXCEEDED")


def test_a_round_without_a_figure_meets_no_limit() -> None:
    (found, _) = limits_of(STEERSMAN, [{"busy_p99": 0.2}, {}], "killed", enforced=True)

    assert found.found is None
    assert not found.is_met


def test_the_ratio_of_start_times_is_not_enforced() -> None:
    (_, shown) = limits_of(
        STEERSMAN, [{"busy_p99": 0.2, "start_p99_ratio": 1.2}], "killed", enforced=True
    )

    assert (shown.found, shown.verdict) == (1.2, "not enforced")
