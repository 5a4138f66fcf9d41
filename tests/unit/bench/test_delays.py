"""The costs of a turn with several paces."""

from bench.harness.delays import Pace


def test_each_pace_extracts_its_own_costs() -> None:
    slow, fast = Pace(rate=10.0, seconds=2.0), Pace(rate=100.0, seconds=1.5)
    turn = {**slow.with_prefix({"cpu": 1.0}), **fast.with_prefix({"cpu": 2.0})}

    assert slow.of([turn, turn]) == [{"cpu": 1.0}, {"cpu": 1.0}]
    assert fast.of([turn]) == [{"cpu": 2.0}]
    assert fast.changes == 150
