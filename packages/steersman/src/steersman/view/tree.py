"""Formats objects as a tree in which each object is below its owner.

No I/O: the objects and the time are arguments.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from steersman.kinds import Unstructured
from steersman.names import GroupVersionKind, ObjectRef
from steersman.view.lines import Line, Span, Tone, cut, padded, printable, shortened, width_of
from steersman.view.reconciles import Reconciled
from steersman.view.states import ObjectState, Word, state_of

# The share of a narrow terminal for the names; the rest is for the states.
_NAMES_SHARE: Final = 0.55
_AGE_WIDTH: Final = 5
_GAP: Final = "  "

_TONES: Final[Mapping[Word, Tone]] = {
    "ready": "good",
    "not ready": "waiting",
    "failed": "bad",
    "ending": "waiting",
    "–": "quiet",
}
_BAD_OUTCOMES: Final = frozenset({"failed", "permanent", "timed out"})


@dataclass(frozen=True, slots=True)
class Branch:
    """An object, with a branch for each object that it owns."""

    obj: Unstructured
    children: tuple["Branch", ...] = ()

    def __iter__(self) -> Iterator[Unstructured]:
        """Yield the object of the branch and all objects below it, owners first."""
        yield self.obj
        for child in self.children:
            yield from child


def branches(
    objects: Iterable[Unstructured], *, roots: Collection[GroupVersionKind]
) -> tuple[Branch, ...]:
    """Return a branch for each object with a kind in ``roots`` and no owner in ``objects``.

    A branch contains all objects below its object, at any depth. An object with several owners is
    below the owner that controls it.
    """
    by_uid = {obj.uid: obj for obj in objects}
    below: dict[str, list[Unstructured]] = {}
    top: list[Unstructured] = []
    for obj in by_uid.values():
        owner = owner_of(obj, by_uid)
        if owner is not None:
            below.setdefault(owner.uid, []).append(obj)
        elif obj.gvk in roots:
            top.append(obj)

    def branch(obj: Unstructured) -> Branch:
        return Branch(obj, tuple(map(branch, sorted(below.get(obj.uid, ()), key=_order))))

    # Each object has at most one parent, so objects in a cycle of owners are not reachable.
    return tuple(map(branch, sorted(top, key=_order)))


def owner_of(obj: Unstructured, by_uid: Mapping[str, Unstructured]) -> Unstructured | None:
    """Return the owner of ``obj`` in ``by_uid``: the controlling owner, or else any other."""
    references = obj.metadata.get("ownerReferences") or ()
    for reference in sorted(references, key=lambda each: not each.get("controller")):
        owner = by_uid.get(str(reference.get("uid")))
        if owner is not None and owner.uid != obj.uid:
            return owner
    return None


def tree_lines(
    grown: Sequence[Branch],
    *,
    reconciles: Mapping[ObjectRef, Reconciled],
    now: datetime,
    width: int,
) -> tuple[Line, ...]:
    """Return the branches ``grown`` as lines of at most ``width`` columns.

    The lines contain the names, states and ages of the objects, and their last reconciles.
    """
    rows = [row for branch in grown for row in _rows(branch, "", "", reconciles)]
    if not rows:
        return ()
    title = _Row(name="OBJECT", state=None, detail="STATE", created="AGE")
    shown = [title, *rows]
    # The names get their full width, up to their share.
    names = min(max(width_of(row.name) for row in shown), int(width * _NAMES_SHARE))
    words = max(len(row.state.word) if row.state else 0 for row in shown)
    details = max(width_of(row.detail) for row in shown)
    details = min(details, max(width - names - words - _AGE_WIDTH - 3 * len(_GAP), 0))
    laid = (_laid(row, now, (names, words, details)) for row in shown)
    return tuple(cut(line, width) for lines in laid for line in lines)


def fitting_lines(
    grown: Sequence[Branch],
    *,
    reconciles: Mapping[ObjectRef, Reconciled],
    now: datetime,
    size: tuple[int, int],
) -> tuple[Line, ...]:
    """Return the branches ``grown`` as lines that fit in ``size``, the columns and lines.

    If not all lines fit, objects whose branch has no problem are collapsed and listed last.
    """
    width, height = size
    lines = tree_lines(grown, reconciles=reconciles, now=now, width=width)
    if len(lines) <= height:
        return lines
    unwell = [each for each in grown if not _is_well(each, reconciles)]
    well = [Branch(each.obj) for each in grown if _is_well(each, reconciles)]
    listed = {obj.ref for each in unwell for obj in each}
    lines = tree_lines(
        (*unwell, *well),
        reconciles={ref: each for ref, each in reconciles.items() if ref in listed},
        now=now,
        width=width,
    )
    if len(lines) <= height:
        return lines
    shown = max(height - 1, 0)
    return (*lines[:shown], (Span(f"… and {len(lines) - shown} more lines", "quiet"),))


def _is_well(branch: Branch, reconciles: Mapping[ObjectRef, Reconciled]) -> bool:
    return all(
        state_of(obj).word in ("ready", "–")
        and (obj.ref not in reconciles or reconciles[obj.ref].outcome not in _BAD_OUTCOMES)
        for obj in branch
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    name: str
    state: ObjectState | None
    detail: str
    created: str
    below: str = ""  # the indent of further lines about the same object
    reconcile: Reconciled | None = None


def _rows(
    branch: Branch, lead: str, below: str, reconciles: Mapping[ObjectRef, Reconciled]
) -> Iterator[_Row]:
    obj = branch.obj
    state = state_of(obj)
    ref = obj.ref
    # An object below its owner is in the owner's namespace.
    name = str(ref) if not lead else f"{ref.kind} {ref.name}"
    children = branch.children
    yield _Row(
        name=printable(f"{lead}{name}"),
        state=state,
        detail=printable(state.detail),
        created=str(obj.metadata.get("creationTimestamp") or ""),
        below=f"{below}{'│' if children else ' '} ",
        reconcile=reconciles.get(ref),
    )
    for child in children:
        is_last = child is children[-1]
        yield from _rows(
            child,
            f"{below}{'└─ ' if is_last else '├─ '}",
            f"{below}{'   ' if is_last else '│  '}",
            reconciles,
        )


def _laid(row: _Row, now: datetime, widths: tuple[int, int, int]) -> Iterator[Line]:
    names, words, details = widths
    if row.state is None:
        heading = f"{padded(row.name, names)}{_GAP}{padded(row.detail, words + 2 + details)}"
        yield (Span(f"{heading}{_GAP}{row.created}", "quiet"),)
        return
    (detail,) = cut((Span(row.detail),), details) or (Span(""),)
    yield (
        Span(padded(shortened(row.name, names), names) + _GAP),
        Span(padded(row.state.word, words), _TONES[row.state.word]),
        Span(_GAP + padded(detail.text, details) + _GAP),
        Span(age(row.created, now), "quiet"),
    )
    if row.state.conditions:
        yield (Span(row.below, "quiet"), Span(f"conditions: {row.state.conditions}", "quiet"))
    if row.reconcile is not None:
        last = row.reconcile
        ago = length_ago((now - last.time).total_seconds())
        tone: Tone = "bad" if last.outcome in _BAD_OUTCOMES else "quiet"
        yield (
            Span(row.below, "quiet"),
            Span(f"reconciled {ago} ago: {printable(str(last))}", tone),
        )


def age(created: str, now: datetime) -> str:
    """Return the age at ``now`` of an object that was created at ``created``.

    The format is that of ``kubectl``: ``12s``, ``3m``, ``2h``, ``5d``.
    """
    try:
        seconds = (now - datetime.fromisoformat(created)).total_seconds()
    except (TypeError, ValueError):
        return "?"
    return length_ago(seconds)


def length_ago(seconds: float) -> str:
    """Return a duration as ``kubectl`` prints ages: ``12s``, ``3m``, ``2h``."""
    whole = max(int(seconds), 0)
    for unit, size, until in (("s", 1, 120), ("m", 60, 7200), ("h", 3600, 172_800)):
        if whole < until:
            return f"{whole // size}{unit}"
    return f"{whole // 86_400}d"


def _order(obj: Unstructured) -> tuple[str, str, str]:
    return (obj.namespace or "", obj.gvk.kind, obj.name)
