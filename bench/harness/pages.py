"""Results as Markdown: every table on one page, and the main figures and charts for another."""

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

# The limits that the summary shows, in words that need no other page.
HIGHLIGHTS = {
    ("client", "import steersman, wall"): "`import steersman`, wall time",
    ("client", "listing, CPU"): "list 20,000 custom resources, CPU",
    ("client", "a request, CPU of that of bare aiohttp, msgspec"): (
        "one GET, CPU; ratio to aiohttp with msgspec"
    ),
    ("cold-sync", f"{OURS}, wall time of that of {THEIRS}"): (
        f"cold sync of 20,000 objects, wall time; ratio to {THEIRS}"
    ),
    ("cold-sync", f"{OURS}, CPU of that of {THEIRS}"): f"the same, CPU; ratio to {THEIRS}",
    ("cold-sync", f"{OURS}, resident memory of that of {THEIRS}"): (
        f"the same, resident memory; ratio to {THEIRS}"
    ),
    ("reconcile", f"{OURS}, CPU for each AppService of that of {THEIRS}"): (
        f"reconcile 1,000 AppServices, CPU of each; ratio to {THEIRS}"
    ),
    ("reconcile", f"{OURS}, AppServices a second of those of {THEIRS}"): (
        f"the same, AppServices a second; ratio to {THEIRS}"
    ),
    ("reconcile", f"{OURS}, requests of those of {THEIRS}"): (
        f"the same, requests; ratio to {THEIRS}"
    ),
    ("reconcile", f"{OURS}, CPU for each AppService of that of kopf"): (
        "the same, CPU of each; ratio to kopf"
    ),
    ("latency", f"{OURS}, 99 % of changes, from the answer"): (
        "change to start of its reconcile, p99"
    ),
    ("restart", f"{OURS}, killed: 99 % of new ones that come while others queue"): (
        "restart with 20,000 queued objects: wait of a new object, p99"
    ),
    ("failover", f"{OURS}, stopped: writes by the former leader after another's first"): (
        "failover: writes of the former leader after the first write of the new leader"
    ),
    ("embedded", "steersman cluster up, start to first answer"): (
        "`steersman cluster up`, start to first response"
    ),
    ("embedded", "create ConfigMaps of 1 kB"): "embedded cluster, creates of ConfigMaps",
    ("embedded", "create Deployments"): "embedded cluster, creates of Deployments",
    ("growth", f"{OURS}: Cold sync, exponent"): (
        "cold sync, exponent of the growth with the number of objects"
    ),
    ("growth", f"{OURS}: AppServices to Deployment, Service and status, exponent"): (
        "reconcile, exponent of the growth with the number of objects"
    ),
}

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
    """Where it ran, every limit, then every measure with its charts and tables."""
    yield "# Results"
    yield ""
    yield "Written by `python -m bench`. [How it is measured](method.md) explains the figures."
    yield NOTE
    yield ""
    yield from _surroundings(results)
    yield from _limits(results)
    if rows := list(behind(results)):
        yield ""
        yield f"## Ratios on the wrong side of 1, compared with {THEIRS}"
        yield ""
        yield f"The ratio is to {THEIRS} with default settings, unless the row says otherwise."
        yield ""
        yield "| work | contender | figure | ratio |"
        yield "|---|---|---|---:|"
        yield from rows
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


def _limits(results: Sequence[Result]) -> Iterator[str]:
    yield ""
    yield "| | limit | result | of the rounds | |"
    yield "|---|---:|---:|---|---|"
    for result in results:
        if result.limits or not result.is_whole:
            state = "" if result.is_whole else " broke off"
            yield f"| **{result.title}**, {_began(result):%Y-%m-%d} | | | |{state} |"
        for limit in result.limits:
            bound = _bound(limit) if limit.judged else f"({_bound(limit)})"
            yield (
                f"| {limit.what} | {bound} | {_found(limit)}"
                f" | {limit.rounds_in_words} | {limit.verdict} |"
            )


def summary(results: Sequence[Result], prefix: Path) -> Iterator[str]:
    """The main figures, every limit that is not held, and the charts, which are in ``prefix``."""
    yield from _surroundings(results)
    yield ""
    yield "| | limit | result | |"
    yield "|---|---:|---:|---|"
    for result in results:
        if not result.is_whole:
            yield f"| {result.title} | | | broke off |"
        for limit in result.limits:
            what = HIGHLIGHTS.get((result.measure, limit.what))
            if what or not limit.is_held:
                yield (
                    f"| {what or limit.what} | {_bound(limit)}"
                    f" | {_found(limit)} | {limit.verdict} |"
                )
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


def _bound(limit: Limit | Floor) -> str:
    return f"{limit.sign} {limit.bound:,g}{limit.unit}"


def _found(limit: Limit | Floor) -> str:
    return limit.found_in_words + ("" if limit.found is None else limit.unit)


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
        for suffix, reference in ((BEST_RATIO, f", of {THEIRS} at its best"), (RATIO, "")):
            figure = column.figure.removesuffix(suffix)
            if figure != column.figure and figure in titles:
                yield column, figure, f"{titles[figure]}{reference}"
                break


def _is_behind(costs: Sequence[Cost], column: Column, *, is_rate: bool) -> bool:
    """Whether it shows, as the table has it."""
    ratios = [cost[column.figure] for cost in costs if column.figure in cost]
    if not ratios:
        return False
    ratio = round(median(ratios), column.decimals)
    return ratio < 1 if is_rate else ratio > 1


def _surroundings(results: Sequence[Result]) -> Iterator[str]:
    """Where figures come from; facts that differ between measures are listed for each measure."""
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
