"""The reconcile measure: ratios within a round, limits, and charts."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.harness.contenders import (
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_PATCHING,
    KOPF,
    STEERSMAN,
    STEERSMAN_UVLOOP,
)
from bench.harness.operators import with_resync
from bench.harness.report import Floor, Limit, Section
from bench.harness.rounds import Cost
from bench.harness.run_options import RunOptions
from bench.measures.reconcile import (
    BEST,
    QUICK,
    charts,
    columns,
    limits_of,
    ratios_to_others,
    resync_section,
)


def turn(*, cpu: float, rate: float = 50.0, requests: float = 4.0) -> Cost:
    """The cost of one turn with the given figures."""
    return {
        "cpu": cpu,
        "each_cpu": cpu / 2000,
        "each_server_cpu": 0.02,
        "rate": rate,
        "requests": requests,
        "resident": 70.0,
        "peak": 80.0,
        "look_cpu": cpu / 4000,
    }


def enforced(promised: Iterable[Limit | Floor]) -> Sequence[Limit | Floor]:
    """The enforced limits."""
    return [promise for promise in promised if promise.enforced]


def test_a_ratio_is_to_a_figure_of_the_same_round() -> None:
    costs = {
        CONTROLLER_RUNTIME: [turn(cpu=2.0), turn(cpu=4.0)],
        KOPF: [turn(cpu=8.0), turn(cpu=8.0)],
        STEERSMAN: [turn(cpu=1.0), turn(cpu=4.0)],
    }

    ratios = ratios_to_others(costs)[STEERSMAN]

    assert [each["cpu_ratio"] for each in ratios] == [0.5, 1.0]
    assert [each[f"cpu of {KOPF}"] for each in ratios] == [0.125, 0.5]


def test_a_contender_with_fewer_rounds_is_compared_in_those() -> None:
    costs = {
        CONTROLLER_RUNTIME: [turn(cpu=2.0)] * 3,
        KOPF: [turn(cpu=8.0)],
        STEERSMAN: [turn(cpu=1.0)] * 3,
    }

    beside = ratios_to_others(costs)

    assert [f"cpu of {KOPF}" in each for each in beside[STEERSMAN]] == [True, False, False]
    assert [each["cpu_ratio"] for each in beside[KOPF]] == [4.0]


def test_the_best_of_controller_runtime_is_the_highest_rate_and_the_lowest_cost() -> None:
    costs = {
        CONTROLLER_RUNTIME: [turn(cpu=2.0, rate=50.0), turn(cpu=4.0, rate=80.0)],
        CONTROLLER_RUNTIME_PATCHING: [turn(cpu=4.0, rate=80.0), turn(cpu=2.0, rate=50.0)],
        STEERSMAN: [turn(cpu=1.0, rate=40.0), turn(cpu=1.0, rate=40.0)],
    }

    ratios = ratios_to_others(costs)[STEERSMAN]

    assert [each["cpu_best_ratio"] for each in ratios] == [0.5, 0.5]
    assert [each["rate_best_ratio"] for each in ratios] == [0.5, 0.5]


def test_the_best_figure_is_unknown_if_a_variant_is_missing() -> None:
    costs = {CONTROLLER_RUNTIME: [turn(cpu=2.0)], STEERSMAN: [turn(cpu=1.0)]}

    ratios = ratios_to_others(costs)[STEERSMAN]

    assert not any(figure.endswith("_best_ratio") for figure in ratios[0])


def test_ratios_to_the_best_of_controller_runtime_are_not_enforced() -> None:
    costs = {
        CONTROLLER_RUNTIME: [turn(cpu=2.0)],
        CONTROLLER_RUNTIME_PATCHING: [turn(cpu=0.5)],
        STEERSMAN: [turn(cpu=1.0)],
    }

    found = list(limits_of(STEERSMAN, ratios_to_others(costs)[STEERSMAN], enforced=True))

    shown = [promise for promise in found if BEST in promise.what]
    assert [promise.found for promise in shown] == [2.0, 2.0, 1.0, 1.0]
    assert not any(promise.enforced for promise in shown)
    assert all(promise.enforced for promise in found if promise not in shown)


def test_a_limit_relative_to_a_failed_contender_has_no_result() -> None:
    costs = {CONTROLLER_RUNTIME: [turn(cpu=2.0)], STEERSMAN: [turn(cpu=1.0)]}

    found = enforced(limits_of(STEERSMAN, ratios_to_others(costs)[STEERSMAN], enforced=True))

    assert [promise.found for promise in found] == [0.5, 0.5, 1.0, 1.0, None, None]


def test_every_ratio_has_exactly_one_column() -> None:
    costs = {
        name: [turn(cpu=2.0)]
        for name in (CONTROLLER_RUNTIME, CONTROLLER_RUNTIME_PATCHING, KOPF, STEERSMAN)
    }
    figures = [column.figure for column in columns((CONTROLLER_RUNTIME, BEST, KOPF))]

    ratios = {
        figure for figure in ratios_to_others(costs)[STEERSMAN][0] if figure not in turn(cpu=2.0)
    }

    assert len(set(figures)) == len(figures)
    # The ratio of writes is part of the requests.
    assert ratios - set(figures) == {"requests_ratio", "requests_best_ratio"}


def test_a_limit_applies_to_the_median_round() -> None:
    costs = {
        CONTROLLER_RUNTIME: [turn(cpu=2.0)] * 3,
        KOPF: [turn(cpu=8.0)] * 3,
        STEERSMAN: [turn(cpu=1.0, rate=60.0), turn(cpu=1.8), turn(cpu=9.0, requests=5.0)],
    }

    found = enforced(limits_of(STEERSMAN, ratios_to_others(costs)[STEERSMAN], enforced=True))

    assert [promise.found for promise in found] == pytest.approx([0.9, 0.9, 1.0, 1.0, 0.225, 0.225])
    assert all(promise.passes for promise in found)


def test_every_contender_is_in_every_chart_of_its_sections() -> None:
    some = {
        name: [turn(cpu=2.0)] for name in (CONTROLLER_RUNTIME, KOPF, STEERSMAN, STEERSMAN_UVLOOP)
    }
    many = {name: some[name] for name in (CONTROLLER_RUNTIME, KOPF, STEERSMAN)}
    costs = {"some": some, "many": many, "idle": some, "resync": some}
    sections = {
        name: Section(name=name, title=name, columns=(), costs=each) for name, each in costs.items()
    }

    drawn = {chart.name: chart.panels for chart in charts(sections)}

    assert all(panel.keys() == some.keys() for panel in drawn["cost"].values())
    assert [panel.keys() for panel in drawn["throughput"].values()] == [some.keys(), many.keys()]


def test_a_chart_title_has_the_number_of_objects_and_the_duration() -> None:
    titles = {
        "some": "50 AppServices to Deployment, Service and status, in a new process (1 round)",
        "many": "1,200 AppServices (1 round)",
        "idle": "5 s idle, and 50 AppServices; all at the same time (1 round)",
        "resync": "A resync of 50 AppServices with nothing to do",
    }
    sections = {
        name: Section(name=name, title=title, columns=(), costs={STEERSMAN: [turn(cpu=2.0)]})
        for name, title in titles.items()
    }

    drawn = {chart.name: list(chart.panels) for chart in charts(sections)}

    assert drawn["throughput"] == ["50 of them", "1,200 of them"]
    assert drawn["memory"] == ["50 AppServices, peak MB", "1,200 AppServices, peak MB"]
    assert [title.partition(",")[0] for title in drawn["idle"]] == [
        *("5 s", "5 s", "one reconcile of a resync")
    ]


def test_a_contender_that_did_not_converge_is_not_resynced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def resynced(name: str, place: Any, **_: Any) -> Cost:
        return turn(cpu=2.0)

    monkeypatch.setattr("bench.measures.reconcile.measure_resync", resynced)
    at: Any = dict.fromkeys((CONTROLLER_RUNTIME, KOPF, STEERSMAN))
    rested = Section(
        name="idle",
        title="idle",
        columns=(),
        costs={CONTROLLER_RUNTIME: [turn(cpu=2.0)], STEERSMAN: [turn(cpu=2.0)]},
        notes=["without kopf, which failed"],
    )

    section = resync_section(
        at, rested, QUICK, RunOptions(is_full=False, rounds=1, progress=lambda _: None)
    )

    assert list(section.costs) == [CONTROLLER_RUNTIME, STEERSMAN]
    assert section.notes == ["without kopf, which failed"]


def test_each_operator_has_its_own_trigger_for_a_resync() -> None:
    starts = Path("/starts")

    assert with_resync(CONTROLLER_RUNTIME, ["operator"], seconds=10, starts=starts) == [
        *("operator", "-resync", "10s", "--starts", "/starts")
    ]
    assert with_resync(STEERSMAN, ["python"], seconds=10, starts=starts) == [
        *("python", "--resync-seconds", "10", "--starts", "/starts")
    ]
    assert with_resync(KOPF, ["kopf"], seconds=10, starts=starts) == [
        *("kopf", "--resync-seconds", "10", "--starts", "/starts")
    ]
