"""Writers at once must be one."""

from bench.harness.contenders import OURS, THEIRS
from bench.measures.failover import BETWEEN, never


def test_what_must_never_be_is_judged_by_the_worst_round_of_ours() -> None:
    costs = {THEIRS: [{"between": 7.0}], OURS: [{"between": 0.0}, {"between": 1.0}]}

    broken = never(costs, "between", BETWEEN, judged=True)
    kept = never({OURS: costs[OURS][:1]}, "between", BETWEEN, judged=True)

    assert (broken.found, broken.verdict) == (1.0, "MISSED")
    assert kept.verdict == "ok"
