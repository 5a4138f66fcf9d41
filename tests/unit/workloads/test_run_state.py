"""What a controller remembers, run by run."""

import gc
from random import Random

from steersman_cluster.workloads.run_state import PerRun


def test_no_run_of_a_controller_knows_what_another_remembers() -> None:
    memories, one, other = PerRun(list[str]), Random(0), Random(0)

    memories.of(one).append("a Pod failed")

    assert memories.of(one) == ["a Pod failed"]
    assert memories.of(other) == []


def test_nothing_is_kept_of_a_run_that_is_over() -> None:
    memories, run = PerRun(list[str]), Random(0)
    memories.of(run)

    del run
    gc.collect()

    assert len(memories) == 0
