"""The limit of overlapping writers."""

from bench.harness.contenders import CONTROLLER_RUNTIME, STEERSMAN
from bench.measures.failover import BETWEEN, never


def test_a_limit_of_zero_applies_to_the_worst_round_of_steersman() -> None:
    costs = {
        CONTROLLER_RUNTIME: [{"between": 7.0}],
        STEERSMAN: [{"between": 0.0}, {"between": 1.0}],
    }

    broken = never(costs, "between", BETWEEN, enforced=True)
    kept = never({STEERSMAN: costs[STEERSMAN][:1]}, "between", BETWEEN, enforced=True)

    assert (broken.found, broken.verdict) == (1.0, "EXCEEDED")
    assert kept.verdict == "ok"
