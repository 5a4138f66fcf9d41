"""Results as Markdown: every table on one page, and the promises and charts for another."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from bench.harness.contenders import OURS, OURS_UVLOOP, THEIRS
from bench.harness.effort import PROMISED_ROUNDS
from bench.harness.report import Column, Floor, Limit, rounds_in_words
from bench.harness.results import Result, put
from bench.harness.rounds import BEST_RATIO, RATE, RATIO, Cost

NOTE = "Figures are medians, with the smallest and the largest in brackets; MB are 10⁶ bytes."

BROKEN_OFF = "**It broke off, or is not done yet: this is not all of it.**"

# Between these, a page written by hand has what the last run found.
BEGIN = "<!-- results: written by the run -->"
END = "<!-- end of results -->"


def write_pages(directory: Path, results: Sequence[Result], *, summary_in: Path | None) -> None:
    """The page of all tables, beside the charts; and a summary within another page."""
    put(directory / "README.md", "\n".join(page(results)) + "\n")
    if summary_in is not None:
        prefix = directory.relative_to(summary_in.parent)
        put(summary_in, with_summary(summary_in.read_text(), list(summary(results, prefix))))


def page(results: Sequence[Result]) -> Iterator[str]:
    """Where it ran, then every measure with its charts and tables."""
    yield "# Results"
    yield ""
    yield "Written by `python -m bench`, as [the page above](../README.md) explains."
    yield NOTE
    yield ""
    yield from _surroundings(results)
    for result in results:
        yield ""
        yield f"## {result.title}"
        yield ""
        yield f"`python -m bench {result.measure}`: {_effort(result)}."
        if not result.is_whole:
            yield BROKEN_OFF
        for file, title in result.charts.items():
            yield ""
            yield f"![{title}]({file})"
        for section in result.sections:
            yield ""
            yield from section.markdown()


def summary(results: Sequence[Result], prefix: Path) -> Iterator[str]:
    """The promises, and the charts; ``prefix`` is where those are."""
    yield from _surroundings(results)
    yield ""
    yield "| | promised | found | of the rounds | |"
    yield "|---|---:|---:|---|---|"
    for result in results:
        if result.limits or not result.is_whole:
            state = "" if result.is_whole else " broke off"
            yield f"| **{result.title}**, {_began(result):%Y-%m-%d} | | | |{state} |"
        for limit in result.limits:
            yield _promise(limit)
    if rows := list(behind(results)):
        yield ""
        yield f"### Where ours is behind {THEIRS}"
        yield ""
        yield "Wherever a table has a ratio to it that is on the wrong side of 1;"
        yield "to it as it comes, where nothing else is said."
        yield ""
        yield "| | | | ratio |"
        yield "|---|---|---|---:|"
        yield from rows
    for result in results:
        if not result.charts:
            continue
        yield ""
        yield f"### {result.title}"
        for file, title in result.charts.items():
            yield ""
            yield f"![{title}]({prefix.as_posix()}/{file})"


def with_summary(text: str, lines: Sequence[str]) -> str:
    """The same page, with these lines in their place."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no place for results, between {BEGIN!r} and {END!r}")
    return "\n".join([before + begin, "", *lines, "", end + after])


def _promise(limit: Limit | Floor) -> str:
    found = limit.found_in_words + ("" if limit.found is None else limit.unit)
    promised = f"{limit.sign} {limit.bound:,g}{limit.unit}"
    if not limit.judged:
        promised = f"({promised})"
    return f"| {limit.what} | {promised} | {found} | {limit.rounds_in_words} | {limit.verdict} |"


def behind(results: Sequence[Result]) -> Iterator[str]:
    """A row for each ratio to controller-runtime in the tables that is on the wrong side of 1."""
    for result in results:
        for section in result.sections:
            if THEIRS not in section.costs:
                continue
            work, *_ = re.split(r" \(|;", section.title)
            for name in (OURS, OURS_UVLOOP):
                costs = section.costs.get(name, ())
                for column, figure, words in _ratios(section.columns):
                    if _is_behind(costs, column, is_rate=figure.endswith(RATE)):
                        yield f"| {work} | {name} | {words} | {column.cell(costs)} |"


def _ratios(columns: Sequence[Column]) -> Iterator[tuple[Column, str, str]]:
    """The columns that are ratios, each with the figure of which it is one, and that in words."""
    titles = {column.figure: column.title for column in columns}
    for column in columns:
        # The longer one ends like the other.
        for suffix, whom in ((BEST_RATIO, f", of {THEIRS} at its best"), (RATIO, "")):
            figure = column.figure.removesuffix(suffix)
            if figure != column.figure and figure in titles:
                yield column, figure, f"{titles[figure]}{whom}"
                break


def _is_behind(costs: Sequence[Cost], column: Column, *, is_rate: bool) -> bool:
    """Whether it shows, as the table has it."""
    ratios = [cost[column.figure] for cost in costs if column.figure in cost]
    if not ratios:
        return False
    ratio = round(median(ratios), column.decimals)
    return ratio < 1 if is_rate else ratio > 1


def _surroundings(results: Sequence[Result]) -> Iterator[str]:
    """Where figures come from; whatever is not the same for all measures is told of each."""
    yield from _common("Machine", {result.measure: result.machine for result in results})
    yield from _common("Source", {result.measure: result.source for result in results})
    yield from _common("Versions", {result.measure: result.versions for result in results})


def _common(what: str, facts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The facts of all measures; or that they differ, and which are whose."""
    measures: dict[str, list[str]] = {}
    for measure, mine in facts.items():
        measures.setdefault(_listed(mine), []).append(measure)
    if len(measures) == 1:
        yield f"- {what}: {next(iter(measures))}."
    elif measures:
        yield f"- {what}: not the same for all of these measures."
        for listed, names in measures.items():
            yield f"  - {', '.join(names)}: {listed}."


def _listed(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())


def _began(result: Result) -> datetime:
    return datetime.fromisoformat(result.effort["began_time"]).astimezone(UTC)


def _effort(result: Result) -> str:
    rounds = result.effort["rounds"]
    if not result.effort["is_full"]:
        amount = "quickly, to see that it works"
    elif rounds < PROMISED_ROUNDS:
        amount = f"in {rounds_in_words(rounds)}, too few to be judged"
    else:
        amount = "everything"
    return (
        f"{amount}, on {_began(result):%Y-%m-%d at %H:%M} UTC,"
        f" in {result.effort['took_seconds'] / 60:.0f} minutes;"
        f" load average {result.effort['load_average']}"
    )
