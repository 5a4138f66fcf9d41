"""Tables, limits and charts of the cold-sync measure."""

import pytest

from bench.harness.charts import svg
from bench.harness.contenders import (
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_ALIKE,
    CONTROLLER_RUNTIME_LISTING,
    CONTROLLER_RUNTIME_STRIPPED,
    LIST_ALONE,
    STEERSMAN,
)
from bench.harness.report import Limit, Section
from bench.harness.rounds import Cost
from bench.harness.run_options import RunOptions
from bench.measures.cold_sync import (
    ALL_CONTROLLER_RUNTIME,
    ALWAYS,
    COLUMNS,
    LIMIT_OBJECTS,
    LIMITS,
    MEMORY,
    charts,
    distinct_step,
    limits_of,
    memory,
    ratios_to_controller_runtime,
    steps,
)


def options(*, is_full: bool, rounds: int) -> RunOptions:
    return RunOptions(is_full=is_full, rounds=rounds, progress=lambda _: None)


@pytest.mark.parametrize("is_full", [True, False])
def test_each_step_only_adds_objects(is_full: bool) -> None:
    sizes = [step.objects for step in steps(options(is_full=is_full, rounds=5))]

    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_peers_take_part_in_at_most_three_rounds_of_every_step(rounds: int) -> None:
    plan = steps(options(is_full=True, rounds=rounds))

    assert [step.peer_rounds for step in plan] == [min(rounds, 3)] * len(plan)
    assert all(step.peer_rounds <= step.rounds for step in plan)
    assert [step.rounds for step in plan if step.objects == LIMIT_OBJECTS] == [rounds]


def test_a_title_names_the_contenders_that_miss_rounds() -> None:
    title = steps(options(is_full=True, rounds=5))[1].title

    assert "20,000" in title
    assert "(5 rounds, 3 of the Python libraries; without an index of kopf)" in title


@pytest.mark.parametrize("is_full", [True, False])
def test_the_step_with_distinct_objects_has_the_size_of_the_limits_and_no_limits(
    is_full: bool,
) -> None:
    mine = options(is_full=is_full, rounds=5)
    step, plan = distinct_step(mine), steps(mine)

    assert step.objects == (LIMIT_OBJECTS if is_full else 2_000)
    assert step.rounds == (3 if is_full else 1)
    assert step.name not in {MEMORY, *(each.name for each in plan)}
    assert not step.has_limits
    assert [each.has_limits for each in plan if each.objects == LIMIT_OBJECTS] == [True] * is_full
    assert not {*ALWAYS}.intersection(step.left_out)
    assert "distinct content" in step.title


def turn(megabytes: float, **more: float) -> Cost:
    """The cost of one turn, with the given figures."""
    return {"wall": 1.0, "cpu": 1.0, "resident": megabytes, "later_resident": megabytes, **more}


def test_a_ratio_is_to_default_controller_runtime_in_the_same_round() -> None:
    costs = {
        **{name: [turn(150.0), turn(50.0)] for name in ALL_CONTROLLER_RUNTIME},
        CONTROLLER_RUNTIME: [turn(200.0), turn(100.0)],
        STEERSMAN: [turn(60.0), turn(50.0)],
        "kr8s": [turn(400.0)],
    }

    assert [each["resident_ratio"] for each in ratios_to_controller_runtime(costs, STEERSMAN)] == [
        0.3,
        0.5,
    ]
    assert [each["resident_ratio"] for each in ratios_to_controller_runtime(costs, "kr8s")] == [2.0]


def test_a_second_ratio_is_to_the_best_controller_runtime_figure_of_each_round() -> None:
    costs = {
        CONTROLLER_RUNTIME: [turn(200.0, wall=4.0), turn(100.0, wall=2.0)],
        CONTROLLER_RUNTIME_STRIPPED: [turn(150.0, wall=5.0), turn(125.0, wall=5.0)],
        CONTROLLER_RUNTIME_LISTING: [turn(180.0, wall=2.0), turn(200.0, wall=4.0)],
        CONTROLLER_RUNTIME_ALIKE: [turn(180.0, wall=3.0), turn(200.0, wall=4.0)],
        STEERSMAN: [turn(75.0, wall=1.0), turn(75.0, wall=1.0)],
    }

    beside = ratios_to_controller_runtime(costs, STEERSMAN)

    assert [each["resident_best_ratio"] for each in beside] == [0.5, 0.75]
    assert [each["wall_best_ratio"] for each in beside] == [0.5, 0.5]


def test_limits_of_later_memory_and_of_the_best_figures_are_not_enforced() -> None:
    costs = {
        **{name: [turn(100.0)] for name in ALL_CONTROLLER_RUNTIME},
        CONTROLLER_RUNTIME: [turn(200.0, wall=4.0, cpu=8.0)],
        STEERSMAN: [turn(80.0, later_resident=90.0)],
    }

    found = list(
        limits_of(STEERSMAN, ratios_to_controller_runtime(costs, STEERSMAN), enforced=True)
    )

    assert [(each.most, each.found) for each in found if each.enforced] == [
        (LIMITS["wall"], 0.25),
        (LIMITS["cpu"], 0.125),
        (LIMITS["resident"], 0.4),
    ]
    assert [each.found for each in found if not each.enforced] == [0.45, 1.0, 1.0, 0.8, 0.9]


def test_memory_of_an_object_is_the_growth_of_later_memory_in_the_same_round() -> None:
    section = memory(
        {
            1_000: {
                CONTROLLER_RUNTIME: [
                    turn(900.0, later_resident=50.0),
                    turn(900.0, later_resident=60.0),
                ],
                STEERSMAN: [turn(40.0), turn(44.0)],
            },
            17_000: {
                CONTROLLER_RUNTIME: [
                    turn(900.0, later_resident=178.0),
                    turn(900.0, later_resident=252.0),
                ],
                STEERSMAN: [turn(104.0), turn(92.0), turn(100.0)],
            },
        }
    )

    assert [each["1,000 to 17,000"] for each in section.costs[STEERSMAN]] == [0.004, 0.003]
    assert [each["1,000 to 17,000_ratio"] for each in section.costs[STEERSMAN]] == [0.5, 0.25]


def test_a_contender_without_a_step_or_round_has_no_memory_there() -> None:
    section = memory(
        {
            1_000: {
                "steersman": [turn(40.0), turn(40.0)],
                "kopf": [turn(60.0), turn(60.0)],
                "kopf, index": [turn(60.0)],
            },
            2_000: {"steersman": [turn(45.0), turn(45.0)], "kopf": [turn(80.0)]},
            4_000: {"steersman": [turn(55.0)]},
        }
    )

    assert {name: list(map(list, costs)) for name, costs in section.costs.items()} == {
        "steersman": [["1,000 to 2,000", "2,000 to 4,000"], ["1,000 to 2,000"]],
        "kopf": [["1,000 to 2,000"]],
    }
    assert all("steersman" in svg(chart) for chart in charts({section.name: section}))


def test_the_list_alone_has_a_time_but_no_memory() -> None:
    alone: Cost = {"wall": 2.0, "server_cpu": 3.0}
    costs = {
        **{name: [turn(100.0, wall=4.0)] for name in ALL_CONTROLLER_RUNTIME},
        LIST_ALONE: [alone],
    }

    section = memory({1_000: costs, 2_000: costs})

    assert LIST_ALONE not in section.costs
    assert ratios_to_controller_runtime(costs, LIST_ALONE) == [
        {**alone, "wall_ratio": 0.5, "wall_best_ratio": 0.5}
    ]


def test_a_step_with_limits_has_a_chart_with_limits_and_one_without_python_libraries() -> None:
    cost = dict.fromkeys([column.figure for column in COLUMNS], 4.0)
    limit = Limit(what="wall", most=LIMITS["wall"], unit="", rounds=[0.4])
    section = Section(
        name="20000",
        title="Sync 20,000 AppServices",
        columns=COLUMNS,
        costs={"controller-runtime": [cost], "steersman": [cost], "kr8s": [cost]},
        limits=[limit],
    )

    all_contenders, without_peers = charts({section.name: section})

    assert all_contenders.limits == {"wall, s": 2.0, "CPU, s": 1.0, "resident memory, MB": 2.4}
    assert without_peers.limits == all_contenders.limits
    assert list(all_contenders.panels["wall, s"]) == ["controller-runtime", "steersman", "kr8s"]
    assert list(without_peers.panels["wall, s"]) == ["controller-runtime", "steersman"]


def test_a_step_without_limits_has_one_chart() -> None:
    step = distinct_step(options(is_full=True, rounds=5))
    cost = dict.fromkeys([column.figure for column in COLUMNS], 4.0)
    costs = {name: [cost] for name in ALWAYS}
    section = Section(name=step.name, title=step.title, columns=COLUMNS, costs=costs)

    (chart,) = charts({section.name: section})

    assert chart.limits == {}
    assert list(chart.panels["wall, s"]) == list(ALWAYS)
