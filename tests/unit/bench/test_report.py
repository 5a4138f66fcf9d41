"""Medians, tables and limits."""

from dataclasses import replace

from bench.harness.report import Column, Floor, Limit, Section, rounds_text

WALL = Column(title="wall ms", figure="wall", decimals=1, factor=1e3)


def test_a_cell_is_the_median_with_the_smallest_and_the_largest() -> None:
    costs = [{"wall": seconds} for seconds in (0.003, 0.001, 0.0021)]

    assert WALL.cell(costs) == "2.1 (1.0-3.0)"


def test_a_single_round_has_no_range_and_a_missing_figure_is_a_dash() -> None:
    assert WALL.cell([{"wall": 0.002}]) == "2.0"
    assert WALL.cell([{"cpu": 0.002}]) == "–"
    assert WALL.cell([]) == "–"


def test_a_figure_equal_to_its_limit_is_ok() -> None:
    held = Limit(what="wall", most=0.5, unit=" s", rounds=[0.5])
    missed = Limit(what="wall", most=0.5, unit=" s", rounds=[0.501])

    assert (held.passes, str(held)) == (True, "wall ≤ 0.5 s: 0.5 ok")
    assert (missed.passes, str(missed)) == (False, "wall ≤ 0.5 s: 0.501 EXCEEDED")


def test_a_figure_equal_to_its_floor_is_ok() -> None:
    held = Floor(what="creates", least=1000, unit=" a second", rounds=[1000])
    missed = Floor(what="creates", least=1000, unit=" a second", rounds=[999.4])

    assert (held.passes, str(held)) == (True, "creates ≥ 1,000 a second: 1,000 ok")
    assert (missed.passes, str(missed)) == (False, "creates ≥ 1,000 a second: 999 EXCEEDED")


def test_a_limit_that_is_not_enforced_is_not_exceeded() -> None:
    far_off = Limit(what="wall", most=0.5, unit="", rounds=[9.0], enforced=False)

    assert far_off.passes
    assert str(far_off) == "wall ≤ 0.5: 9 not enforced"


def test_a_figure_has_enough_digits_to_show_the_verdict() -> None:
    over = Limit(what="CPU", most=1.0, unit="", rounds=[1.0004])
    under = Floor(what="creates", least=1000, unit="", rounds=[999.96])
    large = Limit(what="bytes", most=20_000, unit="", rounds=[20_000.2])

    assert str(over) == "CPU ≤ 1: 1.0004 EXCEEDED"
    assert str(under) == "creates ≥ 1,000: 999.96 EXCEEDED"
    assert str(large) == "bytes ≤ 20,000: 20,000.2 EXCEEDED"
    assert Limit(what="CPU", most=1.0, unit="", rounds=[0.99996]).found_text == "1"


def test_a_limit_without_a_result_is_not_met() -> None:
    limit = Limit(what="exponent", most=1.2, unit="", rounds=[None])
    floor = Floor(what="rate", least=1.0, unit="", rounds=[None])

    assert (limit.passes, str(limit)) == (False, "exponent ≤ 1.2: – NO RESULT")
    assert (floor.passes, str(floor)) == (False, "rate ≥ 1: – NO RESULT")


def test_a_figure_is_the_median_or_the_worst_of_the_rounds() -> None:
    rounds = (3.0, 1.0, 1.5)

    limits = [
        Limit(what="wall", most=2.0, unit=" s", rounds=rounds, is_of_worst=is_of_worst)
        for is_of_worst in (False, True)
    ]
    floor = Floor(what="rate", least=1.0, unit="", rounds=rounds, is_of_worst=True)

    assert [str(each) for each in (*limits, floor)] == [
        "wall ≤ 2 s: 1.5 ok (median of 3, 1 to 3)",
        "wall ≤ 2 s: 3 EXCEEDED (worst of 3, 1 to 3)",
        "rate ≥ 1: 1 ok (worst of 3, 1 to 3)",
    ]


def test_a_round_without_a_figure_exceeds_the_limit() -> None:
    limit = Limit(what="wall", most=2.0, unit="", rounds=[1.0, None, 1.5])
    floor = Floor(what="rate", least=1.0, unit="", rounds=[1.0, None, 1.5])

    assert str(limit) == "wall ≤ 2: 1.5 ok (median of 3, 1 to 1.5, 1 without a result)"
    assert str(floor) == "rate ≥ 1: 1 ok (median of 3, 1 to 1.5, 1 without a result)"
    assert replace(limit, is_of_worst=True).verdict == "NO RESULT"
    assert replace(floor, is_of_worst=True).verdict == "NO RESULT"


def test_a_limit_that_is_not_enforced_needs_no_figure() -> None:
    unknown = Limit(what="exponent", most=1.2, unit="", rounds=[None], enforced=False)

    assert (unknown.passes, str(unknown)) == (True, "exponent ≤ 1.2: – not enforced")


def test_the_number_of_rounds_has_the_right_plural() -> None:
    assert [rounds_text(count) for count in (1, 3)] == ["1 round", "3 rounds"]


def test_a_section_is_one_table_in_text_and_markdown() -> None:
    section = Section(
        name="sync",
        title="Sync",
        columns=[WALL],
        costs={"kopf": [{"wall": 0.02}], "steersman": [{"wall": 0.001}]},
        limits=[Limit(what="wall", most=0.5, unit="", rounds=[0.05])],
        notes=["without kr8s"],
    )

    assert list(section.lines()) == [
        "Sync",
        "              wall ms",
        "  kopf           20.0",
        "  steersman       1.0",
        "  without kr8s",
        "  wall ≤ 0.5: 0.05 ok",
    ]
    assert list(section.markdown()) == [
        "### Sync",
        "",
        "| | wall ms |",
        "|---|---:|",
        "| kopf | 20.0 |",
        "| steersman | 1.0 |",
        "",
        "- without kr8s",
        "- wall ≤ 0.5: 0.05 ok",
    ]
