"""The state of a controller, for each run."""

import gc
from random import Random

from steersman_cluster.workloads.run_state import PerRun


def test_each_run_of_a_controller_has_its_own_state() -> None:
    memories, one, other = PerRun(list[str]), Random(0), Random(0)

    memories.of(one).append("a Pod failed")

    assert memories.of(one) == ["a Pod failed"]
    assert memories.of(other) == []


def test_the_state_of_a_finished_run_is_dropped() -> None:
    memories, run = PerRun(list[str]), Random(0)
    memories.of(run)

    del run
    gc.collect()

    assert len(memories) == 0
