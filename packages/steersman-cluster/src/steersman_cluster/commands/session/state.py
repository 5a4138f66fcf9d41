"""The state of an operator under development, and its display as lines. No I/O."""

import shlex
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import wrap
from typing import Final, Literal, TypeAlias

from steersman.names import GroupVersionKind, ObjectRef
from steersman.view import (
    Branch,
    Line,
    Reconciled,
    Span,
    fitting_lines,
    length_ago,
    printable,
    tree_lines,
)
from steersman_cluster.commands.session.reports import Kinds, Loaded, Report, Running

Phase: TypeAlias = Literal["starting", "running", "ended", "does not load"]

# Lines of the operator's output that are kept: more than a screen shows.
KEPT_LINES: Final = 200

# Lines of the operator's output that are always shown, however many objects there are.
MIN_LINES: Final = 6


@dataclass(slots=True, kw_only=True)
class SessionState:
    """The state of an operator under development, its last reconciles and its last output."""

    command: str = "dev"
    target: str
    kubeconfig: str
    hint: str
    phase: Phase = "starting"
    since_time: datetime | None = None
    saved: str = ""
    caption: str = ""
    notes: list[str] = field(default_factory=list)
    always_shown: frozenset[GroupVersionKind] = frozenset()
    roots: frozenset[GroupVersionKind] = frozenset()
    reconciles: dict[ObjectRef, Reconciled] = field(default_factory=dict)
    output: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))

    def start(self, now: datetime, *, saved: str) -> None:
        """Record that the operator starts; ``saved`` names the files whose save is the reason."""
        self.phase = "starting"
        self.since_time = now
        self.saved = saved
        self.output.clear()

    def update(self, report: Report, now: datetime) -> None:
        """Record ``report``, which the operator has sent at the time ``now``."""
        match report:
            case Loaded():
                pass
            case Kinds(reconciled=reconciled):
                self.roots = self.always_shown | {each.gvk for each in reconciled}
            case Running():
                self.phase = "running"
                self.since_time = now
            case Reconciled(ref=ref):
                before = self.reconciles.get(ref)
                self.reconciles[ref] = report if before is None else before.merged_with(report)

    def end(self, status: int, now: datetime) -> str:
        """Record that the operator ended by itself, with the exit status ``status``.

        Return a message if the operator was killed by a signal or has printed nothing; otherwise,
        return ``""``.
        """
        self.phase = "ended" if self.phase == "running" else "does not load"
        self.since_time = now
        if status < 0:
            line = f"the operator was killed by signal {-status}"
        elif not self.output:
            line = f"the operator ended with status {status}, without output"
        else:
            return ""
        self.output.append(line)
        return line

    def keep_only(self, refs: set[ObjectRef]) -> None:
        """Drop the recorded reconciles of all objects that are not in ``refs``."""
        for ref in self.reconciles.keys() - refs:
            del self.reconciles[ref]

    @property
    def is_running(self) -> bool:
        """Whether the operator is running or starting."""
        return self.phase in ("starting", "running")

    # What is shown

    @property
    def export(self) -> str:
        """Return the shell command with which another shell selects this cluster."""
        return f"export KUBECONFIG={shlex.quote(self.kubeconfig)}"

    def status(self, now: datetime | None = None) -> str:
        """Return the operator's phase in words; with ``now``, also how long it has been running."""
        match self.phase:
            case "starting":
                return f"starting, after {self.saved} was saved" if self.saved else "starting"
            case "running":
                if now is None or self.since_time is None:
                    return "running"
                return f"running for {length_ago((now - self.since_time).total_seconds())}"
            case "ended":
                return "ended; it restarts when a file is saved"
            case "does not load":
                return "does not start; it is started again when a file is saved"

    def lines(
        self, grown: Sequence[Branch], *, now: datetime, size: tuple[int, int]
    ) -> tuple[Line, ...]:
        """Return the lines of the complete view.

        ``grown`` are the objects to show, and ``size`` is the width and height of the screen.
        """
        width, height = size
        head = list(self._head(now, width))
        tree = tree_lines(grown, reconciles=self.reconciles, now=now, width=width)
        if not tree and self.phase == "running":
            tree = ((Span(self.hint, "quiet"),),)
        output = [line for text in self.output for line in self._wrapped(text, width)]
        room = max(height - len(head), 0)
        below = min(len(output), max(MIN_LINES, room - len(tree) - 1)) if output else 0
        above = max(room - below - 1, 0) if below else room
        if len(tree) > above:
            tree = fitting_lines(grown, reconciles=self.reconciles, now=now, size=(width, above))
        tail = [(), *output[-below:]] if below else []
        return (*head, *tree, *tail)

    def _head(self, now: datetime, width: int) -> Iterator[Line]:
        tone: Literal["good", "waiting", "bad"]
        tone = {"running": "good", "starting": "waiting"}.get(self.phase, "bad")  # type: ignore[assignment]
        yield (
            Span(f"steersman {self.command}", "strong"),
            Span(f"  {self.target}  "),
            Span(self.status(now), tone),
        )
        yield (Span(self.export), Span("   Press Ctrl-C to stop", "quiet"))
        yield ()
        if self.caption:
            yield (Span(f"» {self.caption}", "strong"),)
            for note in self.notes:
                for line in wrap(printable(note), max(width - 2, 20)):
                    yield (Span(f"  {line}"),)
            yield ()

    def _wrapped(self, text: str, width: int) -> list[Line]:
        tone: Literal["bad", ""] = "bad" if self.phase == "does not load" else ""
        lines = wrap(printable(text), max(width, 20), subsequent_indent="  ") or [""]
        return [(Span(line, tone),) for line in lines]
