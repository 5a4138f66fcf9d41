"""Results as Markdown: every table on one page, and the promises and charts for another."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.harness.report import Limit
from bench.harness.results import Result, put

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
    common = _surroundings(results[0]) if results else []
    yield from common
    for result in results:
        yield ""
        yield f"## {result.title}"
        yield ""
        yield f"`python -m bench {result.measure}`: {_effort(result)}."
        if not result.is_whole:
            yield BROKEN_OFF
        own = _surroundings(result)
        if own != common:
            yield ""
            yield from own
        for file, title in result.charts.items():
            yield ""
            yield f"![{title}]({file})"
        for section in result.sections:
            yield ""
            yield from section.markdown()


def summary(results: Sequence[Result], prefix: Path) -> Iterator[str]:
    """The promises, and the charts; ``prefix`` is where those are."""
    common = _surroundings(results[0]) if results else []
    yield from common
    yield ""
    yield "| | promised | found | |"
    yield "|---|---:|---:|---|"
    for result in results:
        if result.limits or not result.is_whole:
            state = "" if result.is_whole else " broke off"
            yield f"| **{result.title}**, {_began(result):%Y-%m-%d} | | |{state} |"
        for limit in result.limits:
            sign, bound = ("≤", limit.most) if isinstance(limit, Limit) else ("≥", limit.least)
            found = f"{limit.found_in_words}{limit.unit}"
            yield f"| {limit.what} | {sign} {bound:,g}{limit.unit} | {found} | {limit.verdict} |"
    for result in results:
        if not result.charts:
            continue
        yield ""
        yield f"### {result.title}"
        if (own := _surroundings(result)) != common:
            yield ""
            yield from own
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


def _surroundings(result: Result) -> Sequence[str]:
    return [
        f"- Machine: {_listed(result.machine)}.",
        f"- Versions: {_listed(result.versions)}.",
    ]


def _listed(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())


def _began(result: Result) -> datetime:
    return datetime.fromisoformat(result.effort["began_time"]).astimezone(UTC)


def _effort(result: Result) -> str:
    amount = "everything" if result.effort["is_full"] else "quickly, to see that it works"
    return (
        f"{amount}, on {_began(result):%Y-%m-%d at %H:%M} UTC,"
        f" in {result.effort['took_seconds'] / 60:.0f} minutes;"
        f" load average {result.effort['load_average']}"
    )
