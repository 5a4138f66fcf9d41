"""Exponents of growth, and the growth measure."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import product
from math import isclose

import pytest

from bench.harness.charts import svg
from bench.harness.contenders import CONTROLLER_RUNTIME, STEERSMAN
from bench.harness.power_law import exponent, exponent_above, slopes
from bench.harness.rounds import Cost, Turn
from bench.harness.run_options import RunOptions
from bench.measures.growth import (
    ABOVE_MOST,
    FEW,
    FULL,
    NAMES,
    RECONCILE,
    RECONCILE_MEMORY,
    SYNC,
    SYNC_MEMORY,
    Found,
    Quantity,
    by_size,
    charts,
    growth_section,
    memory,
)

SIZES = (1_000, 2_000, 4_000, 8_000)


def points(power: float, *, start: float = 0.0) -> list[tuple[float, float]]:
    return [(size, start + 1e-3 * size**power) for size in SIZES]


def found(value: Callable[[int], float]) -> Found:
    """The same costs for each contender, in two rounds."""
    figures = ("wall", "cpu", "resident", "later_resident")
    sizes = (FEW, *SIZES)
    by_size: dict[int, Cost] = {size: dict.fromkeys(figures, value(size)) for size in sizes}
    return {name: [by_size, by_size] for name in NAMES}


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power: float) -> None:
    assert isclose(exponent(points(power)), power, abs_tol=1e-9)


@pytest.mark.parametrize("found", [[(1_000, 1.0), (1_000, 2.0)], [(1_000, 0.0), (2_000, 1.0)]])
def test_fewer_than_two_sizes_have_no_exponent(
    found: list[tuple[float, float]],
) -> None:
    with pytest.raises(ValueError, match="two different numbers of objects and no zero"):
        exponent(found)


def test_a_constant_start_time_does_not_change_the_exponent() -> None:
    square = points(2.0, start=1e6)

    above = exponent_above(1e6, square)

    assert exponent(square) < 0.1
    assert above is not None
    assert isclose(above, 2.0, abs_tol=1e-6)


def test_a_time_no_longer_than_the_start_has_no_exponent() -> None:
    assert exponent_above(2.0, [(1, 2.5), (2, 3.0), (4, 2.0)]) is None


def test_linear_growth_with_ten_percent_noise_meets_the_limit() -> None:
    start, sizes = 0.2, FULL.sync
    for noise in product((0.9, 1.1), repeat=len(sizes)):
        noisy = [(n, (start + 34e-6 * n) * by) for n, by in zip(sizes, noise, strict=True)]

        above = exponent_above(start, noisy)

        assert above is not None
        assert above <= ABOVE_MOST


def test_memory_per_object_excludes_the_initial_memory() -> None:
    assert slopes([(10, 120.0), (20, 140.0), (40, 180.0)]) == [(20, 2.0), (40, 2.0)]


@pytest.mark.parametrize(("power", "passes"), [(1.0, True), (1.3, False)])
def test_only_linear_time_meets_the_limit(power: float, passes: bool) -> None:
    section = growth_section(SYNC[0], found(lambda size: size**power), enforced=True)

    assert [limit.passes for limit in section.limits] == [passes, passes]


@pytest.mark.parametrize("quantity", [*SYNC, *RECONCILE], ids=lambda each: each.name)
def test_a_constant_start_time_does_not_hide_an_exceeded_limit(quantity: Quantity) -> None:
    section = growth_section(quantity, found(lambda size: 1e9 + size**1.5), enforced=True)

    assert [limit.passes for limit in section.limits] == [True, False]


def test_a_round_without_an_exponent_exceeds_the_limit() -> None:
    growing, constant = (
        found(lambda size: 1.0 + size)[STEERSMAN][0],
        found(lambda _: 1.0)[STEERSMAN][0],
    )

    def verdicts(*rounds: Mapping[int, Cost]) -> list[str]:
        section = growth_section(SYNC[0], dict.fromkeys(NAMES, rounds), enforced=True)
        return [limit.verdict for limit in section.limits]

    assert verdicts(growing, constant, growing) == ["ok", "ok"]
    assert verdicts(growing, constant, constant) == ["ok", "NO RESULT"]


@pytest.mark.parametrize(("power", "passes"), [(1.0, True), (1.2, False)])
def test_only_constant_memory_per_object_meets_the_limit(power: float, passes: bool) -> None:
    section = memory(SYNC_MEMORY, found(lambda size: 50.0 + size**power), enforced=True)

    assert [limit.passes for limit in section.limits] == [passes]


def test_a_doubling_without_added_memory_has_no_ratio_and_meets_no_limit() -> None:
    measured = found(lambda size: 50.0 + max(size - 2_000, 0))

    section = memory(SYNC_MEMORY, measured, enforced=True)

    largest = f"at {max(measured[STEERSMAN][0])}_ratio"
    assert all("ratio" not in cost and cost[largest] == 1.0 for cost in section.costs[STEERSMAN])
    assert [limit.verdict for limit in section.limits] == ["NO RESULT"]


def test_the_memory_of_an_operator_has_no_limit() -> None:
    section = memory(RECONCILE_MEMORY, found(lambda size: size**3.0), enforced=True)

    assert not section.limits


def test_a_run_that_is_not_full_enforces_no_limit() -> None:
    section = growth_section(SYNC[0], found(lambda size: size**3.0), enforced=False)

    assert all(limit.passes for limit in section.limits)


@pytest.mark.parametrize("sizes", [FULL.sync, FULL.reconcile])
def test_a_full_run_has_four_sizes_that_double(sizes: Sequence[int]) -> None:
    assert list(sizes) == [sizes[0] * 2**number for number in range(4)]


def test_every_section_has_a_chart_with_every_size() -> None:
    measured = found(lambda size: 50.0 + size)
    sections = [
        growth_section(SYNC[0], measured, enforced=True),
        memory(SYNC_MEMORY, measured, enforced=True),
    ]

    drawn = list(charts({section.name: section for section in sections}))

    assert [[x for x, _ in chart.series["steersman"]] for chart in drawn] == [
        list(SIZES),
        list(SIZES[1:]),
    ]
    assert [chart.is_logarithmic for chart in drawn] == [True, False]
    assert all("8,000" in svg(chart) for chart in drawn)


def test_each_round_covers_all_sizes_and_alternates_the_contenders() -> None:
    options = RunOptions(is_full=True, rounds=5, progress=lambda _: None)
    taken: list[tuple[int, str]] = []

    def turns(size: int) -> Mapping[str, Turn]:
        def turn(name: str) -> Turn:
            def take() -> Cost:
                taken.append((size, name))
                return {"wall": float(size)}

            return take

        return {name: turn(name) for name in NAMES}

    found = by_size(options, (10, 20), lambda: nullcontext(turns), rounds=2)

    assert taken == [
        *((10, CONTROLLER_RUNTIME), (10, STEERSMAN), (20, STEERSMAN), (20, CONTROLLER_RUNTIME)),
        *((10, STEERSMAN), (10, CONTROLLER_RUNTIME), (20, CONTROLLER_RUNTIME), (20, STEERSMAN)),
    ]
    assert found[STEERSMAN] == [{10: {"wall": 10.0}, 20: {"wall": 20.0}}] * 2


def test_a_round_has_the_medians_of_turns_with_alternating_contenders() -> None:
    options = RunOptions(is_full=True, rounds=5, progress=lambda _: None)
    taken: list[str] = []
    walls = {name: iter([3.0, 90.0, 4.0]) for name in NAMES}

    def turns(_: int) -> Mapping[str, Turn]:
        def turn(name: str) -> Turn:
            def take() -> Cost:
                taken.append(name)
                return {"wall": next(walls[name]), "cpu": 1.0}

            return take

        return {name: turn(name) for name in NAMES}

    found = by_size(options, (10,), lambda: nullcontext(turns), rounds=1, turns_each=3)

    assert taken == [
        CONTROLLER_RUNTIME,
        STEERSMAN,
        STEERSMAN,
        CONTROLLER_RUNTIME,
        CONTROLLER_RUNTIME,
        STEERSMAN,
    ]
    assert found[STEERSMAN] == [{10: {"wall": 4.0, "cpu": 1.0}}]
