"""What the cold-sync measure makes of what was found."""

import pytest

from bench.harness.charts import svg
from bench.harness.contenders import OURS, THEIRS, THEIRS_LISTING, THEIRS_STRIPPED
from bench.harness.effort import Effort
from bench.harness.report import Limit, Section
from bench.harness.rounds import Cost
from bench.measures.cold_sync import (
    COLUMNS,
    JUDGED_AT,
    LIMITS,
    beside_theirs,
    memory,
    pictures,
    steps,
)


def effort(*, is_full: bool, rounds: int) -> Effort:
    return Effort(is_full=is_full, rounds=rounds, progress=lambda _: None)


@pytest.mark.parametrize("is_full", [True, False])
def test_objects_are_only_added_from_step_to_step(is_full: bool) -> None:
    sizes = [step.objects for step in steps(effort(is_full=is_full, rounds=5))]

    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_peers_are_in_no_more_rounds_than_there_are(rounds: int) -> None:
    plan = steps(effort(is_full=True, rounds=rounds))

    assert all(1 <= step.peer_rounds <= step.rounds for step in plan)
    assert [step.rounds for step in plan if step.objects == JUDGED_AT] == [rounds]


def test_a_title_says_who_is_not_in_every_round() -> None:
    title = steps(effort(is_full=True, rounds=5))[1].title

    assert "20,000" in title
    assert "(5 rounds, 3 of the Python peers; without an index of kopf)" in title


def turn(megabytes: float, **more: float) -> Cost:
    """What one turn took, of which memory matters, and what else is said."""
    return {"wall": 1.0, "cpu": 1.0, "resident": megabytes, **more}


def test_a_ratio_is_to_controller_runtime_as_it_comes_in_the_same_round() -> None:
    costs = {
        THEIRS: [turn(200.0), turn(100.0)],
        THEIRS_STRIPPED: [turn(150.0), turn(50.0)],
        THEIRS_LISTING: [turn(150.0), turn(50.0)],
        OURS: [turn(60.0), turn(50.0)],
        "kr8s": [turn(400.0)],
    }

    assert [each["resident_ratio"] for each in beside_theirs(costs, OURS)] == [0.3, 0.5]
    assert [each["resident_ratio"] for each in beside_theirs(costs, "kr8s")] == [2.0]


def test_another_ratio_is_to_the_best_of_its_turns_figure_by_figure_and_round_by_round() -> None:
    costs = {
        THEIRS: [turn(200.0, wall=4.0), turn(100.0, wall=2.0)],
        THEIRS_STRIPPED: [turn(150.0, wall=5.0), turn(125.0, wall=5.0)],
        THEIRS_LISTING: [turn(180.0, wall=2.0), turn(200.0, wall=4.0)],
        OURS: [turn(75.0, wall=1.0), turn(75.0, wall=1.0)],
    }

    beside = beside_theirs(costs, OURS)

    assert [each["resident_best_ratio"] for each in beside] == [0.5, 0.75]
    assert [each["wall_best_ratio"] for each in beside] == [0.5, 0.5]


def test_memory_that_was_looked_at_twice_is_compared_twice() -> None:
    costs = {
        THEIRS: [turn(200.0, later_resident=120.0)],
        THEIRS_STRIPPED: [turn(200.0, later_resident=80.0)],
        THEIRS_LISTING: [turn(200.0, later_resident=100.0)],
        OURS: [turn(60.0, later_resident=60.0)],
    }

    (beside,) = beside_theirs(costs, OURS)

    assert (beside["resident_ratio"], beside["later_resident_ratio"]) == (0.3, 0.5)
    assert beside["later_resident_best_ratio"] == 0.75


def test_memory_of_an_object_is_what_a_step_added() -> None:
    section = memory({1_000: {"steersman": 40.0}, 17_000: {"steersman": 104.0}})

    assert section.costs == {"steersman": [{"1,000 to 17,000": 0.004}]}


def test_who_was_left_out_of_a_step_has_no_memory_there() -> None:
    section = memory(
        {
            1_000: {"steersman": 40.0, "kopf": 60.0, "kopf, index": 60.0},
            2_000: {"steersman": 45.0, "kopf": 80.0},
            4_000: {"steersman": 55.0},
        }
    )

    assert {name: list(costs[0]) for name, costs in section.costs.items()} == {
        "steersman": ["1,000 to 2,000", "2,000 to 4,000"],
        "kopf": ["1,000 to 2,000"],
    }
    assert all("steersman" in svg(picture) for picture in pictures({section.name: section}))


def test_the_picture_of_a_judged_step_shows_its_limits() -> None:
    cost = dict.fromkeys([column.figure for column in COLUMNS], 4.0)
    limit = Limit(what="wall", most=LIMITS["wall"], unit="", found=0.4)
    section = Section(
        name="20000",
        title="Sync 20,000 AppServices",
        columns=COLUMNS,
        costs={"controller-runtime": [cost], "steersman": [cost]},
        limits=[limit],
    )

    (picture,) = pictures({section.name: section})

    assert picture.limits == {"wall, s": 2.0, "CPU, s": 1.0, "resident memory, MB": 2.4}
