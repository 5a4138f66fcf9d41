"""Measures run one after the other, and a failure does not affect the others."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bench.__main__ import RESULTS, main, results_directory
from bench.harness.charts import BarChart, Chart, LineChart, Spread
from bench.harness.pages import INCOMPLETE
from bench.harness.report import Column, Limit, Section
from bench.harness.results import stored
from bench.harness.run_options import LIMIT_ROUNDS, RunOptions
from bench.harness.runner import Measure, ResultStore, run
from bench.measures import MEASURES, measure


def wait_until_idle(_: str) -> None: ...


EFFORT = RunOptions(is_full=True, rounds=LIMIT_ROUNDS, progress=wait_until_idle)
FEW_ROUNDS = RunOptions(is_full=True, rounds=LIMIT_ROUNDS - 1, progress=wait_until_idle)
QUICK = RunOptions(is_full=False, rounds=LIMIT_ROUNDS, progress=wait_until_idle)


class FakeMeasure:
    """A measure with the given results."""

    TITLE: str = "Nothing"

    def __init__(self, *found: float | None, fails: bool = False, draws: bool = True) -> None:
        self._found = found
        self._fails = fails
        self._draws = draws

    def sections(self, options: RunOptions) -> Iterator[Section]:
        for number, found in enumerate(self._found):
            yield Section(
                name=f"part-{number}",
                title=f"Part {number}",
                columns=[Column(title="wall s", figure="wall", decimals=2)],
                costs={"steersman": [{} if found is None else {"wall": found}] * options.rounds},
                limits=[Limit(what="wall", most=1.0, unit=" s", rounds=[found])],
            )
        if self._fails:
            raise AssertionError("the server is not what it was")

    def charts(self, sections: Mapping[str, Section]) -> Iterator[Chart]:
        if not self._draws:
            raise ValueError("out of ink")
        costs = sections["part-0"].costs
        shown = {name: Spread.of(each, "wall") for name, each in costs.items()}
        yield BarChart(name="wall", title="Wall", panels={"wall, s": shown}, limits={})


def store_of(stages: Mapping[str, Measure], directory: Path) -> ResultStore:
    return ResultStore(directory, load=stages.__getitem__, order=list(stages), summary_in=None)


def ran(stages: Mapping[str, Measure], directory: Path, *, options: RunOptions = EFFORT) -> bool:
    store = store_of(stages, directory)
    return run(list(stages), load=stages.__getitem__, options=options, store=store)


def test_a_failed_measure_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = {
        "first": FakeMeasure(0.5),
        "broken": FakeMeasure(0.5, fails=True),
        "last": FakeMeasure(0.7),
    }

    is_well = ran(stages, tmp_path)

    assert not is_well
    found = {result.measure: result.is_whole for result in stored(tmp_path, stages)}
    assert found == {"first": True, "broken": False, "last": True}
    assert "error: broken failed" in capsys.readouterr().err


def test_results_before_a_failure_are_stored_and_drawn(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5, 0.6, fails=True)}, tmp_path)

    (result,) = stored(tmp_path, ["one"])
    assert not result.is_whole
    assert not result.passes
    assert [section.name for section in result.sections] == ["part-0", "part-1"]
    assert list(result.charts) == ["one-wall.svg"]
    assert INCOMPLETE in (tmp_path / "README.md").read_text()


def test_a_run_without_results_removes_earlier_results(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5)}, tmp_path)
    ran({"one": FakeMeasure(fails=True)}, tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_a_run_without_charts_removes_earlier_charts(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5)}, tmp_path)
    ran({"one": FakeMeasure(0.5, fails=True, draws=False)}, tmp_path)

    assert list(tmp_path.glob("*.svg")) == []


def test_a_failed_measure_reports_its_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Slow(FakeMeasure):
        def sections(self, options: RunOptions) -> Iterator[Section]:
            options.progress("round 2 of 5: kopf")
            options.progress("")
            yield from super().sections(options)

    ran({"one": Slow(fails=True)}, tmp_path)

    assert "one failed at 'round 2 of 5: kopf'" in capsys.readouterr().err


def test_a_run_with_too_few_rounds_enforces_no_limit(tmp_path: Path) -> None:
    assert ran({"one": FakeMeasure(1.1, None)}, tmp_path, options=FEW_ROUNDS)

    (result,) = stored(tmp_path, ["one"])
    assert [limit.verdict for limit in result.limits] == ["not enforced", "not enforced"]


def test_a_missing_measure_does_not_stop_the_others(tmp_path: Path) -> None:
    stages = {"there": FakeMeasure(0.5)}

    is_well = run(
        ["missing", "there"],
        load=stages.__getitem__,
        options=EFFORT,
        store=store_of(stages, tmp_path),
    )

    assert not is_well
    assert (tmp_path / "there.json").exists()


def test_a_run_passes_if_every_limit_is_met(tmp_path: Path) -> None:
    assert ran({"one": FakeMeasure(0.5, 1.0)}, tmp_path)
    assert not ran({"one": FakeMeasure(0.5, 1.1)}, tmp_path)


def test_a_limit_without_a_result_fails_the_run(tmp_path: Path) -> None:
    assert not ran({"one": FakeMeasure(0.5, None)}, tmp_path)

    (result,) = stored(tmp_path, ["one"])
    assert [limit.verdict for limit in result.limits] == ["ok", "NO RESULT"]


def test_a_result_names_its_commit(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5)}, tmp_path)

    (result,) = stored(tmp_path, ["one"])
    assert set(result.source) == {"commit", "changes"}


def test_figures_are_stored_even_if_they_cannot_be_drawn(tmp_path: Path) -> None:
    is_well = ran({"plain": FakeMeasure(0.5, draws=False)}, tmp_path)

    assert not is_well
    assert [result.is_whole for result in stored(tmp_path, ["plain"])] == [True]
    assert "Part 0" in (tmp_path / "README.md").read_text()


def test_stored_results_are_drawn_again_without_measuring(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5)}, tmp_path)
    pages = {path: path.read_text() for path in tmp_path.iterdir()}
    for path in pages:
        if path.suffix != ".json":
            path.unlink()

    store_of({"one": FakeMeasure(fails=True)}, tmp_path).redraw(["one"])

    assert {path: path.read_text() for path in tmp_path.iterdir()} == pages


@pytest.mark.parametrize("name", MEASURES)
def test_charts_without_sections_are_empty(name: str) -> None:
    assert all(chart.is_empty for chart in measure(name).charts({}))


def test_a_chart_that_cannot_be_drawn_yet_is_skipped(tmp_path: Path) -> None:
    class Growing(FakeMeasure):
        def charts(self, sections: Mapping[str, Section]) -> Iterator[Chart]:
            # A logarithmic scale cannot start at zero, as the first chart does.
            first, one = float(len(sections) - 1), Spread(low=1.0, middle=1.0, high=1.0)
            yield LineChart(
                name="wall",
                title="Wall",
                x_title="objects",
                y_title="s",
                series={"steersman": [(first, one), (10.0, one)]},
                is_logarithmic=True,
            )

    stages = {"one": Growing(0.5, 0.6)}

    assert ran(stages, tmp_path)
    assert (tmp_path / "one-wall.svg").exists()


def test_two_sections_with_the_same_name_are_an_error(tmp_path: Path) -> None:
    class Twice(FakeMeasure):
        def sections(self, options: RunOptions) -> Iterator[Section]:
            yield from super().sections(options)
            yield from super().sections(options)

    assert not ran({"twice": Twice(0.5)}, tmp_path)


def test_without_a_store_no_result_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["one"], load=lambda _: FakeMeasure(0.5), options=EFFORT, store=None)

    assert "Part 0" in capsys.readouterr().out


def test_a_result_of_a_small_run_is_stored_only_on_request(tmp_path: Path) -> None:
    assert results_directory(None, EFFORT) == RESULTS
    assert [results_directory(None, options) for options in (FEW_ROUNDS, QUICK)] == [None, None]
    assert results_directory(tmp_path, FEW_ROUNDS) == tmp_path


@pytest.mark.parametrize("too_little", [["--quick"], ["--rounds", "4"]])
def test_a_result_of_a_small_run_does_not_replace_a_complete_one(
    too_little: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*too_little, "--results", str(RESULTS)])

    assert "this directory is for complete runs" in capsys.readouterr().err


def test_an_unknown_measure_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["warp"])

    assert "unknown measure: warp; known: client, cold-sync" in capsys.readouterr().err
