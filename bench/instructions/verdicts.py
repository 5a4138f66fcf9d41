"""Compares counts with the recorded ones. No I/O."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# Two runs of the same code differ by less than a tenth of this.
TOLERANCE = 0.03

RECORDING = "python -m bench.instructions --record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The recorded and the current count of one operation; either may be missing."""

    name: str
    before: float | None
    now: float | None

    @property
    def ratio(self) -> float | None:
        """The ratio of the current to the recorded count, if both exist."""
        return None if self.before is None or self.now is None else self.now / self.before

    @property
    def is_too_many(self) -> bool:
        """Whether the count has increased beyond the tolerance."""
        return self.ratio is not None and self.ratio > 1 + TOLERANCE

    @property
    def is_fewer(self) -> bool:
        """Whether the count is lower; unless it is recorded, a later increase is not detected."""
        return self.ratio is not None and self.ratio < 1 - TOLERANCE

    @property
    def is_bad(self) -> bool:
        """Whether the count has increased, or a count is missing."""
        return self.ratio is None or self.is_too_many

    @property
    def word(self) -> str:
        """The verdict for the table."""
        if self.before is None:
            return "NOT RECORDED"
        if self.now is None:
            return "NOT COUNTED"
        return "TOO MANY" if self.is_too_many else "fewer" if self.is_fewer else "ok"


def enforced(
    before: Mapping[str, float], now: Mapping[str, float], *, is_all: bool
) -> Sequence[Verdict]:
    """The verdicts, in the order of the counts.

    With ``is_all``, recorded counts without a current one are included.
    """
    names = [*now, *(name for name in before if is_all and name not in now)]
    return [Verdict(name=name, before=before.get(name), now=now.get(name)) for name in names]


def lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The verdicts as a table."""
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
    """The instructions for the user."""
    if any(each.is_too_many for each in verdicts):
        yield f"More than {TOLERANCE:.0%} above the recorded count: find the reason, or record it."
    if new := [each.name for each in verdicts if each.before is None]:
        yield f"No recorded count, record it: {', '.join(new)}; {RECORDING}"
    if gone := [each.name for each in verdicts if each.now is None]:
        yield f"No workload has this count, remove it from counts.json: {', '.join(gone)}"
    if any(each.is_fewer for each in verdicts):
        yield f"Record the lower counts: {RECORDING}"


def missing_record(interpreter: str, recorded: Iterable[str]) -> str:
    """The error for an interpreter without recorded counts."""
    known = "; ".join(recorded) or "none"
    return (
        f"no counts are recorded for {interpreter}, only for: {known}\n\n"
        "hint: use one of those, or record the counts of an earlier commit, and switch back\n"
        "  git switch --detach COMMIT\n"
        f"  {RECORDING}\n"
        "  git switch --merge -"
    )
