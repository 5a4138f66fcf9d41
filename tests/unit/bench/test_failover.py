"""The limit for concurrent writers."""

from bench.harness.contenders import OURS, THEIRS
from bench.measures.failover import BETWEEN, never


def test_a_limit_of_zero_is_judged_by_steersmans_worst_round() -> None:
    costs = {THEIRS: [{"between": 7.0}], OURS: [{"between": 0.0}, {"between": 1.0}]}

    broken = never(costs, "between", BETWEEN, judged=True)
    kept = never({OURS: costs[OURS][:1]}, "between", BETWEEN, judged=True)

    assert (broken.found, broken.verdict) == (1.0, "MISSED")
    assert kept.verdict == "ok"
