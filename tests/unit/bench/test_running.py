"""Measures run one after another, independently."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bench.__main__ import RESULTS, main, place_for
from bench.harness.charts import Bars, Lines, Picture, Spread
from bench.harness.effort import PROMISED_ROUNDS, Effort
from bench.harness.pages import BROKEN_OFF
from bench.harness.report import Column, Limit, Section
from bench.harness.results import kept
from bench.harness.running import Measure, ResultStore, run
from bench.measures import MEASURES, measure


def quiet(_: str) -> None: ...


EFFORT = Effort(is_full=True, rounds=PROMISED_ROUNDS, progress=quiet)
FEW_ROUNDS = Effort(is_full=True, rounds=PROMISED_ROUNDS - 1, progress=quiet)
QUICK = Effort(is_full=False, rounds=PROMISED_ROUNDS, progress=quiet)


class FakeMeasure:
    """A measure with given results."""

    TITLE: str = "Nothing"

    def __init__(self, *found: float | None, fails: bool = False, draws: bool = True) -> None:
        self._found = found
        self._fails = fails
        self._draws = draws

    def sections(self, effort: Effort) -> Iterator[Section]:
        for number, found in enumerate(self._found):
            yield Section(
                name=f"part-{number}",
                title=f"Part {number}",
                columns=[Column(title="wall s", figure="wall", decimals=2)],
                costs={"steersman": [{} if found is None else {"wall": found}] * effort.rounds},
                limits=[Limit(what="wall", most=1.0, unit=" s", rounds=[found])],
            )
        if self._fails:
            raise AssertionError("the server is not what it was")

    def pictures(self, sections: Mapping[str, Section]) -> Iterator[Picture]:
        if not self._draws:
            raise ValueError("out of ink")
        costs = sections["part-0"].costs
        shown = {name: Spread.of(each, "wall") for name, each in costs.items()}
        yield Bars(name="wall", title="Wall", panels={"wall, s": shown}, limits={})


def store_of(stages: Mapping[str, Measure], directory: Path) -> ResultStore:
    return ResultStore(directory, load=stages.__getitem__, order=list(stages), summary_in=None)


def ran(stages: Mapping[str, Measure], directory: Path, *, effort: Effort = EFFORT) -> bool:
    store = store_of(stages, directory)
    return run(list(stages), load=stages.__getitem__, effort=effort, store=store)


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
    found = {result.measure: result.is_whole for result in kept(tmp_path, stages)}
    assert found == {"first": True, "broken": False, "last": True}
    assert "error: broken broke off" in capsys.readouterr().err


def test_results_before_a_failure_are_kept_and_drawn(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5, 0.6, fails=True)}, tmp_path)

    (result,) = kept(tmp_path, ["one"])
    assert not result.is_whole
    assert not result.is_held
    assert [section.name for section in result.sections] == ["part-0", "part-1"]
    assert list(result.charts) == ["one-wall.svg"]
    assert BROKEN_OFF in (tmp_path / "README.md").read_text()


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
        def sections(self, effort: Effort) -> Iterator[Section]:
            effort.progress("round 2 of 5: kopf")
            effort.progress("")
            yield from super().sections(effort)

    ran({"one": Slow(fails=True)}, tmp_path)

    assert "one broke off at 'round 2 of 5: kopf'" in capsys.readouterr().err


def test_a_run_with_too_few_rounds_is_not_judged(tmp_path: Path) -> None:
    assert ran({"one": FakeMeasure(1.1, None)}, tmp_path, effort=FEW_ROUNDS)

    (result,) = kept(tmp_path, ["one"])
    assert [limit.verdict for limit in result.limits] == ["not judged", "not judged"]


def test_a_missing_measure_does_not_stop_the_others(tmp_path: Path) -> None:
    stages = {"there": FakeMeasure(0.5)}

    is_well = run(
        ["missing", "there"],
        load=stages.__getitem__,
        effort=EFFORT,
        store=store_of(stages, tmp_path),
    )

    assert not is_well
    assert (tmp_path / "there.json").exists()


def test_a_run_passes_if_every_promise_is_kept(tmp_path: Path) -> None:
    assert ran({"one": FakeMeasure(0.5, 1.0)}, tmp_path)
    assert not ran({"one": FakeMeasure(0.5, 1.1)}, tmp_path)


def test_a_promise_without_a_figure_fails_the_run(tmp_path: Path) -> None:
    assert not ran({"one": FakeMeasure(0.5, None)}, tmp_path)

    (result,) = kept(tmp_path, ["one"])
    assert [limit.verdict for limit in result.limits] == ["ok", "NOT FOUND"]


def test_a_result_names_its_commit(tmp_path: Path) -> None:
    ran({"one": FakeMeasure(0.5)}, tmp_path)

    (result,) = kept(tmp_path, ["one"])
    assert set(result.source) == {"commit", "changes"}


def test_figures_are_kept_even_if_they_cannot_be_drawn(tmp_path: Path) -> None:
    is_well = ran({"plain": FakeMeasure(0.5, draws=False)}, tmp_path)

    assert not is_well
    assert [result.is_whole for result in kept(tmp_path, ["plain"])] == [True]
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
    assert all(picture.is_empty for picture in measure(name).pictures({}))


def test_a_chart_that_cannot_be_drawn_yet_is_skipped(tmp_path: Path) -> None:
    class Growing(FakeMeasure):
        def pictures(self, sections: Mapping[str, Section]) -> Iterator[Picture]:
            # A logarithmic scale cannot start at zero, as this one does at first.
            first, one = float(len(sections) - 1), Spread(low=1.0, middle=1.0, high=1.0)
            yield Lines(
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


def test_two_sections_with_the_same_name_are_rejected(tmp_path: Path) -> None:
    class Twice(FakeMeasure):
        def sections(self, effort: Effort) -> Iterator[Section]:
            yield from super().sections(effort)
            yield from super().sections(effort)

    assert not ran({"twice": Twice(0.5)}, tmp_path)


def test_without_a_store_no_result_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["one"], load=lambda _: FakeMeasure(0.5), effort=EFFORT, store=None)

    assert "Part 0" in capsys.readouterr().out


def test_an_unjudged_result_is_kept_only_on_request(tmp_path: Path) -> None:
    assert place_for(None, EFFORT) == RESULTS
    assert [place_for(None, effort) for effort in (FEW_ROUNDS, QUICK)] == [None, None]
    assert place_for(tmp_path, FEW_ROUNDS) == tmp_path


@pytest.mark.parametrize("too_little", [["--quick"], ["--rounds", "4"]])
def test_an_unjudged_result_does_not_replace_a_judged_one(
    too_little: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*too_little, "--results", str(RESULTS)])

    assert "only a run that is judged is kept there" in capsys.readouterr().err


def test_an_unknown_measure_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["warp"])

    assert "no such measure: warp; there are client, cold-sync" in capsys.readouterr().err
