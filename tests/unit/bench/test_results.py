"""Stored results, and the pages and charts that are drawn from them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from bench.harness.charts import BarChart, Spread
from bench.harness.pages import (
    BEGIN,
    END,
    HIGHLIGHTS,
    INCOMPLETE,
    behind,
    page,
    summary,
    with_summary,
    write_pages,
)
from bench.harness.report import Column, Floor, Limit, Section
from bench.harness.results import Result, as_json, draw_charts, from_json, stored, write_result
from bench.measures import MEASURES

Writing: TypeAlias = Callable[[Sequence[Result]], Iterable[str]]


def result(
    measure: str = "cold-sync",
    *,
    found: float | None = 0.41,
    cores: str = "2",
    commit: str = "abc",
) -> Result:
    return Result(
        measure=measure,
        title="Cold sync",
        machine={"cores": cores},
        source={"commit": commit, "changes": "none"},
        versions={"Python": "3.11.7", "kopf": "1.45.2"},
        run={
            "is_full": True,
            "rounds": 5,
            "began_time": "2026-11-16T05:00:00+00:00",
            "took_seconds": 840,
            "load_average": 2.1,
        },
        sections=[
            Section(
                name="sync",
                title="Sync 20,000 AppServices",
                columns=[Column(title="wall ms", figure="wall", decimals=0, factor=1e3)],
                costs={"kopf": [{"wall": 2.0}, {"wall": 4.0}], "steersman": [{"wall": 1.5}]},
                limits=[
                    Limit(what="wall time", most=0.5, unit="", rounds=[found]),
                    Floor(
                        what="rate", least=1000, unit=" a second", rounds=[3056.7], enforced=False
                    ),
                ],
            )
        ],
        charts={},
    )


def chart(name: str) -> BarChart:
    shown = {"wall, s": {"kopf": Spread(low=1.0, middle=2.0, high=3.0)}}
    return BarChart(name=name, title=f"Chart of {name}", panels=shown, limits={})


def in_summary(results: Sequence[Result]) -> Sequence[str]:
    return list(summary(results, Path("results")))


def test_a_result_round_trips_through_its_file() -> None:
    assert from_json(as_json(result())) == result()


def test_a_result_passes_unless_an_enforced_limit_is_exceeded() -> None:
    assert result(found=0.5).passes
    assert not result(found=0.51).passes


def test_a_newer_result_replaces_the_older_one_and_its_files(
    tmp_path: Path,
) -> None:
    write_result(tmp_path, result(found=0.4))
    write_result(tmp_path, result(found=0.3))

    assert list(stored(tmp_path, ["client", "cold-sync"])) == [result(found=0.3)]
    assert [path.name for path in tmp_path.iterdir()] == ["cold-sync.json"]


def test_results_come_in_the_order_of_the_measures(tmp_path: Path) -> None:
    for name in ("growth", "client"):
        write_result(tmp_path, result(name))

    found = stored(tmp_path, ["client", "cold-sync", "growth"])

    assert [each.measure for each in found] == ["client", "growth"]


def test_charts_of_a_result_replace_the_earlier_ones(tmp_path: Path) -> None:
    before = draw_charts(tmp_path, result(), [chart("old"), chart("both")])
    draw_charts(tmp_path, result("cold"), [chart("other")])

    after = draw_charts(tmp_path, before, [chart("both"), chart("new")])

    assert list(stored(tmp_path, ["cold-sync"])) == [after]
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == [
        "cold-other.svg",
        "cold-sync-both.svg",
        "cold-sync-new.svg",
    ]


def test_two_charts_with_the_same_name_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the same name"):
        draw_charts(tmp_path, result(), [chart("one"), chart("one")])


def test_the_page_has_every_table_verdict_and_chart(tmp_path: Path) -> None:
    text = "\n".join(page([draw_charts(tmp_path, result(), [chart("bars")])]))

    assert "- Machine: cores 2." in text
    assert "- Source: commit abc, changes none." in text
    assert "- Versions: Python 3.11.7, kopf 1.45.2." in text
    assert "| kopf | 3,000 (2,000-4,000) |" in text
    assert "| steersman | 1,500 |" in text
    assert "- wall time ≤ 0.5: 0.41 ok" in text
    assert "![Chart of bars](cold-sync-bars.svg)" in text


@pytest.mark.parametrize("written", [page, in_summary])
def test_values_shared_by_all_measures_are_shown_once(written: Writing) -> None:
    text = "\n".join(written([result("client"), result("growth")]))

    assert text.count("cores 2") == text.count("commit abc") == text.count("kopf 1.45.2") == 1


@pytest.mark.parametrize("written", [page, in_summary])
def test_measures_of_different_machines_or_commits_are_listed_separately(written: Writing) -> None:
    results = [
        result("client"),
        result("latency", cores="64"),
        result("growth", commit="def"),
    ]

    text = "\n".join(written(results))

    assert (
        "- Machine: differs between the measures.\n"
        "  - client, growth: cores 2.\n"
        "  - latency: cores 64.\n"
        "- Source: differs between the measures.\n"
        "  - client, latency: commit abc, changes none.\n"
        "  - growth: commit def, changes none.\n"
        "- Versions: Python"
    ) in text


def test_the_page_has_the_date_of_each_measure() -> None:
    lines = list(page([result("client"), result("growth")]))

    assert lines.count("| **Cold sync**, 2026-11-16 | | | | |") == 2


def test_the_page_and_the_summary_report_a_failed_measure() -> None:
    broken = replace(result(), is_whole=False)

    assert INCOMPLETE in list(page([broken]))
    assert "| **Cold sync**, 2026-11-16 | | | | failed |" in list(page([broken]))
    assert "| Cold sync | | | failed |" in in_summary([broken])


def test_the_page_says_when_a_measure_was_taken() -> None:
    text = "\n".join(page([result()]))

    assert "everything, on 2026-11-16 at 05:00 UTC, in 14 minutes" in text


def test_the_page_marks_runs_that_are_too_small_for_the_limits() -> None:
    few = replace(result(), run={**result().run, "rounds": 4})
    quick = replace(result(), run={**result().run, "is_full": False})

    assert "`: in 4 rounds, too few for the limits, on 2026-11-16" in "\n".join(page([few]))
    assert "`: small workloads, on 2026-11-16" in "\n".join(page([quick]))


def test_the_page_has_the_verdict_on_each_limit() -> None:
    lines = list(page([result(found=0.6)]))

    assert "| wall time | ≤ 0.5 | 0.6 | 1 round | EXCEEDED |" in lines
    assert "| rate | (≥ 1,000 a second) | 3,057 a second | 1 round | not enforced |" in lines


def test_the_page_names_each_limit_without_a_result() -> None:
    assert "| wall time | ≤ 0.5 | – | 1 round | NO RESULT |" in list(page([result(found=None)]))


def test_the_summary_has_the_main_limits_and_the_exceeded_ones() -> None:
    held = Limit(what="import steersman, wall", most=0.15, unit=" s", rounds=[0.012])
    sections = [replace(result().sections[0], limits=[held])]

    client = replace(result("client"), sections=sections)
    rows = in_summary([result(found=0.4), result(found=0.6), client])

    assert [row for row in rows if row.startswith("| ") and "limit" not in row] == [
        "| wall time | ≤ 0.5 | 0.6 | EXCEEDED |",
        "| `import steersman`, wall time | ≤ 0.15 s | 0.012 s | ok |",
    ]


def test_the_stored_summary_is_current_and_has_at_most_20_rows() -> None:
    bench = Path(__file__).parents[3] / "bench"
    results = list(stored(bench / "results", list(MEASURES)))
    text = (bench / "README.md").read_text(encoding="utf-8")

    rows = [line for line in text.splitlines() if re.match(r"\|.*\|$", line)]

    assert with_summary(text, list(summary(results, Path("results")))) == text
    assert 10 < len(rows) - len(["heading", "rule"]) <= 20
    shown = {(each.measure, limit.what) for each in results for limit in each.limits}
    assert set(HIGHLIGHTS) <= shown


def test_the_page_lists_the_figures_in_which_steersman_is_worse() -> None:
    columns = [
        Column(title=title, figure=figure, decimals=2)
        for title, figure in (
            ("wall s", "wall"),
            ("of c-r", "wall_ratio"),
            ("of best c-r", "wall_best_ratio"),
            ("a second", "rate"),
            ("rate of c-r", "rate_ratio"),
        )
    ]
    ratios = {"wall": 2.0, "wall_best_ratio": 2.0, "rate": 9.0}
    costs = {
        "controller-runtime": [{"wall": 1.0, "wall_ratio": 1.0, "rate": 10.0, "rate_ratio": 1.0}],
        "kopf": [{**ratios, "wall_ratio": 5.0, "rate_ratio": 0.1}],
        "steersman": [{**ratios, "wall_ratio": 1.25, "rate_ratio": 1.2}],
        "steersman, uvloop": [{**ratios, "wall_ratio": 1.004, "rate_ratio": 0.75}],
    }
    sync = Section(name="sync", title="Sync (5 rounds); of all", columns=columns, costs=costs)
    alone = replace(sync, costs={"steersman": costs["steersman"]})

    assert list(behind([replace(result(), sections=[sync, alone])])) == [
        "| Sync | steersman | wall s | 1.25 |",
        "| Sync | steersman | wall s, compared with the best controller-runtime | 2.00 |",
        "| Sync | steersman, uvloop | wall s, compared with the best controller-runtime | 2.00 |",
        "| Sync | steersman, uvloop | a second | 0.75 |",
    ]


def test_the_page_has_no_such_table_without_such_figures() -> None:
    assert not any("wrong side" in line for line in page([result()]))


def test_the_summary_replaces_only_its_section_of_a_page(tmp_path: Path) -> None:
    page_path = tmp_path / "README.md"
    page_path.write_text(f"# Benchmarks\n\n{BEGIN}\n\nearlier\n\n{END}\n\nThe rest.\n")
    directory = tmp_path / "results"
    results = [draw_charts(directory, result(), [chart("bars")])]

    for _ in range(2):
        write_pages(directory, results, summary_in=page_path)

    text = page_path.read_text()
    assert text.startswith(f"# Benchmarks\n\n{BEGIN}\n\n- Machine")
    assert text.endswith(f"{END}\n\nThe rest.\n")
    assert "earlier" not in text
    assert "![Chart of bars](results/cold-sync-bars.svg)" in text


def test_a_page_without_a_results_section_is_an_error() -> None:
    with pytest.raises(ValueError, match="lacks the comments"):
        with_summary("# Benchmarks\n", ["new"])
