"""What was counted beside what it should be: pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# Of two runs of the same code, counts differ by less than a tenth of this.
TOLERANCE = 0.03

RECORDING = "python -m bench.instructions --record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One count, now and when it was last recorded; one of the two may be missing."""

    name: str
    before: float | None
    now: float | None

    @property
    def ratio(self) -> float | None:
        """Of now to before, if there are both."""
        return None if self.before is None or self.now is None else self.now / self.before

    @property
    def is_too_many(self) -> bool:
        """Whether it has grown."""
        return self.ratio is not None and self.ratio > 1 + TOLERANCE

    @property
    def is_fewer(self) -> bool:
        """Whether it is clearly less: what is not recorded may be lost again unseen."""
        return self.ratio is not None and self.ratio < 1 - TOLERANCE

    @property
    def is_bad(self) -> bool:
        """Whether it has grown, or this is unknown."""
        return self.ratio is None or self.is_too_many

    @property
    def word(self) -> str:
        """For people."""
        if self.before is None:
            return "NOT RECORDED"
        if self.now is None:
            return "NOT COUNTED"
        return "TOO MANY" if self.is_too_many else "fewer" if self.is_fewer else "ok"


def judged(
    before: Mapping[str, float], now: Mapping[str, float], *, is_all: bool
) -> Sequence[Verdict]:
    """A verdict on each count, in the order in which they were made.

    If ``is_all`` there is to count, there is one on each that was recorded and is not there now.
    """
    names = [*now, *(name for name in before if is_all and name not in now)]
    return [Verdict(name=name, before=before.get(name), now=now.get(name)) for name in names]


def lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """As a table."""
    rows = [("instructions for each", "recorded", "now", "ratio", "")]
    for each in verdicts:
        before, now = (
            "-" if count is None else f"{count:,.0f}" for count in (each.before, each.now)
        )
        ratio = "-" if each.ratio is None else f"{each.ratio:.3f}"
        rows.append((each.name, before, now, ratio, each.word))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells, word in rows:
        shown = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=False))
        yield "  ".join([f"{name:<{widths[0]}}", *shown, word]).rstrip()


def advice(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What to do about it."""
    if any(each.is_too_many for each in verdicts):
        yield f"More than {TOLERANCE:.0%} above what is recorded: find out why, or record it."
    if new := [each.name for each in verdicts if each.before is None]:
        yield f"Nothing to compare with, record it: {', '.join(new)}; {RECORDING}"
    if gone := [each.name for each in verdicts if each.now is None]:
        yield f"No workload counts it any more, remove it from counts.json: {', '.join(gone)}"
    if any(each.is_fewer for each in verdicts):
        yield f"Record what is fewer: {RECORDING}"


def nothing_for(interpreter: str, recorded: Iterable[str]) -> str:
    """That there are no counts of this interpreter, and how there will be some."""
    known = "; ".join(recorded) or "none"
    return (
        f"nothing to compare with: no counts are recorded for {interpreter}, only for: {known}\n\n"
        "hint: use one of those, or count at a commit to compare with, and come back\n"
        "  git switch --detach COMMIT\n"
        f"  {RECORDING}\n"
        "  git switch --merge -"
    )
