"""Results as Markdown: a page with every table, and a summary with the main figures and charts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from bench.harness.contenders import CONTROLLER_RUNTIME, STEERSMAN, STEERSMAN_UVLOOP
from bench.harness.report import Column, Floor, Limit, rounds_text
from bench.harness.results import Result, write_atomically
from bench.harness.rounds import BEST_RATIO, RATE, RATIO, Cost
from bench.harness.run_options import LIMIT_ROUNDS

NOTE = "Figures are medians, with the smallest and the largest in brackets; MB are 10⁶ bytes."

INCOMPLETE = "**This measure failed or is not complete: some tables are missing.**"

# The limits in the summary, each with a description that needs no context.
HIGHLIGHTS = {
    ("client", "import steersman, wall"): "`import steersman`, wall time",
    ("client", "listing, CPU"): "list 20,000 custom resources, CPU",
    ("client", "CPU of one request, ratio to bare aiohttp, msgspec"): (
        "one GET, CPU; ratio to aiohttp with msgspec"
    ),
    ("cold-sync", f"{STEERSMAN}, wall time, ratio to {CONTROLLER_RUNTIME}"): (
        f"cold sync of 20,000 objects, wall time; ratio to {CONTROLLER_RUNTIME}"
    ),
    (
        "cold-sync",
        f"{STEERSMAN}, CPU, ratio to {CONTROLLER_RUNTIME}",
    ): f"the same, CPU; ratio to {CONTROLLER_RUNTIME}",
    ("cold-sync", f"{STEERSMAN}, resident memory, ratio to {CONTROLLER_RUNTIME}"): (
        f"the same, resident memory; ratio to {CONTROLLER_RUNTIME}"
    ),
    ("reconcile", f"{STEERSMAN}, CPU of one AppService, ratio to {CONTROLLER_RUNTIME}"): (
        f"reconcile 1,000 AppServices, CPU of each; ratio to {CONTROLLER_RUNTIME}"
    ),
    ("reconcile", f"{STEERSMAN}, AppServices a second, ratio to {CONTROLLER_RUNTIME}"): (
        f"the same, AppServices a second; ratio to {CONTROLLER_RUNTIME}"
    ),
    ("reconcile", f"{STEERSMAN}, requests, ratio to {CONTROLLER_RUNTIME}"): (
        f"the same, requests; ratio to {CONTROLLER_RUNTIME}"
    ),
    ("reconcile", f"{STEERSMAN}, CPU of one AppService, ratio to kopf"): (
        "the same, CPU of each; ratio to kopf"
    ),
    ("latency", f"{STEERSMAN}, response to start of the reconcile, p99"): (
        "change to start of its reconcile, p99"
    ),
    ("restart", f"{STEERSMAN}, killed: delay of new objects while others are queued, p99"): (
        "restart with 20,000 queued objects: delay of a new object, p99"
    ),
    (
        "failover",
        f"{STEERSMAN}, paused: writes of the former leader after the first of the new one",
    ): ("failover: writes of the former leader after the first write of the new leader"),
    ("embedded", "steersman cluster up, start to first response"): (
        "`steersman cluster up`, start to first response"
    ),
    ("embedded", "create ConfigMaps of 1 kB"): "embedded cluster, creates of ConfigMaps",
    ("embedded", "create Deployments"): "embedded cluster, creates of Deployments",
    ("growth", f"{STEERSMAN}: Cold sync, exponent"): (
        "cold sync, exponent of the growth with the number of objects"
    ),
    ("growth", f"{STEERSMAN}: AppServices to Deployment, Service and status, exponent"): (
        "reconcile, exponent of the growth with the number of objects"
    ),
}

# A page contains the summary of the last run between these comments.
BEGIN = "<!-- results: written by the run -->"
END = "<!-- end of results -->"


def write_pages(directory: Path, results: Sequence[Result], *, summary_in: Path | None) -> None:
    """Write the page of all tables, and replace the summary in another page."""
    write_atomically(directory / "README.md", "\n".join(page(results)) + "\n")
    if summary_in is not None:
        prefix = directory.relative_to(summary_in.parent)
        write_atomically(
            summary_in, with_summary(summary_in.read_text(), list(summary(results, prefix)))
        )


def page(results: Sequence[Result]) -> Iterator[str]:
    """The machine and the versions, every limit, and the charts and tables of every measure."""
    yield "# Results"
    yield ""
    yield "Written by `python -m bench`. [How the benchmarks measure](method.md) explains them."
    yield NOTE
    yield ""
    yield from _surroundings(results)
    yield from _limits(results)
    if rows := list(behind(results)):
        yield ""
        yield f"## Figures in which steersman is worse than {CONTROLLER_RUNTIME}"
        yield ""
        default = f"{CONTROLLER_RUNTIME} with default settings"
        yield f"The ratio is to {default}, unless the row says otherwise."
        yield ""
        yield "| work | contender | figure | ratio |"
        yield "|---|---|---|---:|"
        yield from rows
    for result in results:
        yield ""
        yield f"## {result.title}"
        yield ""
        yield f"`python -m bench {result.measure}`: {_options(result)}."
        if not result.is_whole:
            yield INCOMPLETE
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
            state = "" if result.is_whole else " failed"
            yield f"| **{result.title}**, {_began(result):%Y-%m-%d} | | | |{state} |"
        for limit in result.limits:
            bound = _bound(limit) if limit.enforced else f"({_bound(limit)})"
            yield (
                f"| {limit.what} | {bound} | {_found(limit)}"
                f" | {limit.rounds_text} | {limit.verdict} |"
            )


def summary(results: Sequence[Result], prefix: Path) -> Iterator[str]:
    """The main figures, every limit that is exceeded, and the charts in ``prefix``."""
    yield from _surroundings(results)
    yield ""
    yield "| | limit | result | |"
    yield "|---|---:|---:|---|"
    for result in results:
        if not result.is_whole:
            yield f"| {result.title} | | | failed |"
        for limit in result.limits:
            what = HIGHLIGHTS.get((result.measure, limit.what))
            if what or not limit.passes:
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
    """The page with a new summary."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks the comments {BEGIN!r} and {END!r}")
    return "\n".join([before + begin, "", *lines, "", end + after])


def _bound(limit: Limit | Floor) -> str:
    return f"{limit.sign} {limit.bound:,g}{limit.unit}"


def _found(limit: Limit | Floor) -> str:
    return limit.found_text + ("" if limit.found is None else limit.unit)


def behind(results: Sequence[Result]) -> Iterator[str]:
    """A row for each ratio to controller-runtime in which steersman is worse."""
    for result in results:
        for section in result.sections:
            if CONTROLLER_RUNTIME not in section.costs:
                continue
            work, *_ = re.split(r" \(|;", section.title)
            for name in (STEERSMAN, STEERSMAN_UVLOOP):
                costs = section.costs.get(name, ())
                for column, figure, words in _ratios(section.columns):
                    if _is_behind(costs, column, is_rate=figure.endswith(RATE)):
                        yield f"| {work} | {name} | {words} | {column.cell(costs)} |"


def _ratios(columns: Sequence[Column]) -> Iterator[tuple[Column, str, str]]:
    """The columns with ratios, each with its figure and a description."""
    titles = {column.figure: column.title for column in columns}
    for column in columns:
        # The longer suffix ends with the shorter one.
        for suffix, reference in (
            (BEST_RATIO, f", compared with the best {CONTROLLER_RUNTIME}"),
            (RATIO, ""),
        ):
            figure = column.figure.removesuffix(suffix)
            if figure != column.figure and figure in titles:
                yield column, figure, f"{titles[figure]}{reference}"
                break


def _is_behind(costs: Sequence[Cost], column: Column, *, is_rate: bool) -> bool:
    """Whether the rounded median is on the wrong side of 1."""
    ratios = [cost[column.figure] for cost in costs if column.figure in cost]
    if not ratios:
        return False
    ratio = round(median(ratios), column.decimals)
    return ratio < 1 if is_rate else ratio > 1


def _surroundings(results: Sequence[Result]) -> Iterator[str]:
    """Machine, source and versions; if measures differ, each has its own line."""
    yield from _common("Machine", {result.measure: result.machine for result in results})
    yield from _common("Source", {result.measure: result.source for result in results})
    yield from _common("Versions", {result.measure: result.versions for result in results})


def _common(what: str, facts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """One line for all measures, or one for each group of measures with the same facts."""
    measures: dict[str, list[str]] = {}
    for measure, mine in facts.items():
        measures.setdefault(_listed(mine), []).append(measure)
    if len(measures) == 1:
        yield f"- {what}: {next(iter(measures))}."
    elif measures:
        yield f"- {what}: differs between the measures."
        for listed, names in measures.items():
            yield f"  - {', '.join(names)}: {listed}."


def _listed(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())


def _began(result: Result) -> datetime:
    return datetime.fromisoformat(result.run["began_time"]).astimezone(UTC)


def _options(result: Result) -> str:
    rounds = result.run["rounds"]
    if not result.run["is_full"]:
        amount = "small workloads"
    elif rounds < LIMIT_ROUNDS:
        amount = f"in {rounds_text(rounds)}, too few for the limits"
    else:
        amount = "everything"
    return (
        f"{amount}, on {_began(result):%Y-%m-%d at %H:%M} UTC,"
        f" in {result.run['took_seconds'] / 60:.0f} minutes;"
        f" load average {result.run['load_average']}"
    )
