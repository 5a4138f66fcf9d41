"""What was counted beside what it should be: pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# Of two runs of the same code, counts differ by less than a tenth of this.
TOLERANCE = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One count, now and when it was last recorded."""

    name: str
    before: float | None
    now: float

    @property
    def ratio(self) -> float | None:
        """Of now to before, if it was ever recorded."""
        return None if self.before is None else self.now / self.before

    @property
    def is_too_many(self) -> bool:
        """Whether it has grown."""
        return self.ratio is not None and self.ratio > 1 + TOLERANCE

    @property
    def is_worth_recording(self) -> bool:
        """Whether it is new, or clearly less: what is not recorded may be lost again unseen."""
        return self.ratio is None or self.ratio < 1 - TOLERANCE

    @property
    def word(self) -> str:
        """For people."""
        if self.ratio is None:
            return "new"
        return "TOO MANY" if self.is_too_many else "fewer" if self.is_worth_recording else "ok"


def judged(before: Mapping[str, float], now: Mapping[str, float]) -> Sequence[Verdict]:
    """A verdict on each count, in the order in which they were made."""
    return [Verdict(name=name, before=before.get(name), now=count) for name, count in now.items()]


def lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """As a table, and what to do about it."""
    rows = [("instructions for each", "recorded", "now", "ratio", "")]
    for each in verdicts:
        before = "-" if each.before is None else f"{each.before:,.0f}"
        ratio = "-" if each.ratio is None else f"{each.ratio:.3f}"
        rows.append((each.name, before, f"{each.now:,.0f}", ratio, each.word))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells, word in rows:
        shown = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=False))
        yield "  ".join([f"{name:<{widths[0]}}", *shown, word]).rstrip()
    if any(each.is_too_many for each in verdicts):
        yield f"More than {TOLERANCE:.0%} above what is recorded: find out why, or record it."
    if any(each.is_worth_recording for each in verdicts):
        yield "Record what is new or fewer: python -m bench.instructions --record"


def nothing_for(interpreter: str, recorded: Iterable[str]) -> str:
    """That there are no counts of this interpreter, and how there will be some."""
    known = "; ".join(recorded) or "none"
    return (
        f"nothing to compare with: no counts are recorded for {interpreter}, only for: {known}\n\n"
        "hint: use one of those, or count at a commit to compare with, and come back\n"
        "  git switch --detach COMMIT\n"
        "  python -m bench.instructions --record\n"
        "  git switch --merge -"
    )
