"""What somebody who develops an operator is to see of it: pure, from what is known to lines."""

import shlex
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import wrap
from typing import Final, Literal, TypeAlias

from steersman.cli.reports import AtWork, Kinds, Loaded, Report
from steersman.dashboard import (
    Branch,
    Line,
    Reconciled,
    Span,
    fitting_lines,
    length_ago,
    printable,
    tree_lines,
)
from steersman.names import GroupVersionKind, ObjectRef

Phase: TypeAlias = Literal["starting", "at work", "ended", "does not load"]

# Of what the operator wrote; more than a screen shows.
KEPT_WORDS: Final = 200

# However many objects there are, what the operator wrote last can be read.
FEWEST_WORDS: Final = 6


@dataclass(slots=True, kw_only=True)
class Session:
    """The life of an operator that is being written: how it stands, and what it did."""

    command: str = "dev"
    target: str
    kubeconfig: str
    hint: str
    started_time: datetime
    phase: Phase = "starting"
    since_time: datetime | None = None
    saved: str = ""
    caption: str = ""
    notes: list[str] = field(default_factory=list)
    always_shown: frozenset[GroupVersionKind] = frozenset()
    roots: frozenset[GroupVersionKind] = frozenset()
    reconciles: dict[ObjectRef, Reconciled] = field(default_factory=dict)
    words: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_WORDS))

    def begin(self, now: datetime, *, saved: str) -> None:
        """Another life begins, because these files were saved."""
        self.phase = "starting"
        self.since_time = now
        self.saved = saved
        self.words.clear()

    def hear(self, report: Report, now: datetime) -> None:
        """What the operator told."""
        match report:
            case Loaded():
                pass
            case Kinds(reconciled=reconciled):
                self.roots = self.always_shown | {each.gvk for each in reconciled}
            case AtWork():
                self.phase = "at work"
                self.since_time = now
            case Reconciled(ref=ref):
                before = self.reconciles.get(ref)
                self.reconciles[ref] = report if before is None else before.then(report)

    def end(self, status: int, now: datetime) -> str:
        """It has ended by itself; gives what is to be said of it, where it said nothing itself."""
        self.phase = "ended" if self.phase == "at work" else "does not load"
        self.since_time = now
        if status < 0:
            said = f"the operator was killed by signal {-status}"
        elif not self.words:
            said = f"the operator ended with status {status}, and wrote nothing"
        else:
            return ""
        self.words.append(said)
        return said

    def forget(self, there: set[ObjectRef]) -> None:
        """What is gone is of no interest any more."""
        for ref in self.reconciles.keys() - there:
            del self.reconciles[ref]

    @property
    def is_running(self) -> bool:
        """Whether it is at work, or about to be."""
        return self.phase in ("starting", "at work")

    # What is seen of it

    @property
    def export(self) -> str:
        """What to paste into a shell beside it."""
        return f"export KUBECONFIG={shlex.quote(self.kubeconfig)}"

    def status(self, now: datetime | None = None) -> str:
        """How the operator stands, in a few words; with a ``now``, for how long."""
        match self.phase:
            case "starting":
                return f"starting, after {self.saved} was saved" if self.saved else "starting"
            case "at work":
                if now is None or self.since_time is None:
                    return "at work"
                return f"at work for {length_ago((now - self.since_time).total_seconds())}"
            case "ended":
                return "ended; it is started again when a file is saved"
            case "does not load":
                return "does not start; it is tried again when a file is saved"

    def lines(
        self, grown: Sequence[Branch], *, now: datetime, size: tuple[int, int]
    ) -> tuple[Line, ...]:
        """All of it, on a screen of so many columns and lines."""
        width, height = size
        head = list(self._head(now, width))
        tree = tree_lines(grown, reconciles=self.reconciles, now=now, width=width)
        if not tree and self.phase == "at work":
            tree = ((Span(self.hint, "quiet"),),)
        words = [line for text in self.words for line in self._word(text, width)]
        room = max(height - len(head), 0)
        below = min(len(words), max(FEWEST_WORDS, room - len(tree) - 1)) if words else 0
        above = max(room - below - 1, 0) if below else room
        if len(tree) > above:
            tree = fitting_lines(grown, reconciles=self.reconciles, now=now, size=(width, above))
        tail = [(), *words[-below:]] if below else []
        return (*head, *tree, *tail)

    def _head(self, now: datetime, width: int) -> Iterator[Line]:
        tone: Literal["good", "waiting", "bad"]
        tone = {"at work": "good", "starting": "waiting"}.get(self.phase, "bad")  # type: ignore[assignment]
        yield (
            Span(f"steersman {self.command}", "strong"),
            Span(f"  {self.target}  "),
            Span(self.status(now), tone),
        )
        yield (Span(self.export), Span("   Ctrl-C ends it all", "quiet"))
        yield ()
        if self.caption:
            yield (Span(f"» {self.caption}", "strong"),)
            for note in self.notes:
                for line in wrap(printable(note), max(width - 2, 20)):
                    yield (Span(f"  {line}"),)
            yield ()

    def _word(self, text: str, width: int) -> list[Line]:
        tone: Literal["bad", ""] = "bad" if self.phase == "does not load" else ""
        lines = wrap(printable(text), max(width, 20), subsequent_indent="  ") or [""]
        return [(Span(line, tone),) for line in lines]
