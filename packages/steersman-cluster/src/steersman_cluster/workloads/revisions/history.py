"""The history of revisions: the revision of a template, and revisions beyond the limit. No I/O."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from steersman.kinds import apps_v1
from steersman_cluster.workloads.revisions.content import canonical

Revision: TypeAlias = apps_v1.ControllerRevision

_LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepRevision:
    """The plan if the newest revision already has the template."""

    revision: Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class RenumberRevision:
    """The plan if an older revision has the template: this revision becomes the newest."""

    revision: Revision
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRevision:
    """The plan if no revision has the template: a revision is created."""

    number: int


RevisionPlan: TypeAlias = KeepRevision | RenumberRevision | CreateRevision


def in_order(revisions: Iterable[Revision]) -> tuple[Revision, ...]:
    """Return the revisions sorted from the oldest to the newest."""
    return tuple(sorted(revisions, key=_age))


def next_number(history: Sequence[Revision]) -> int:
    """Return the number that follows the highest number in the history; the history must be in
    order.
    """
    return history[-1].revision + 1 if history else 1


def make_plan(history: Sequence[Revision], patch: bytes) -> RevisionPlan:
    """Return how the revision with this patch becomes the newest; the history must be in order."""
    # Nearly always the newest one.
    for revision in reversed(history):
        if canonical(revision.data) != patch:
            continue
        if revision is history[-1]:
            return KeepRevision(revision=revision)
        return RenumberRevision(revision=revision, number=next_number(history))
    return CreateRevision(number=next_number(history))


def excess(
    history: Sequence[Revision], *, is_live: Callable[[Revision], bool], limit: int | None
) -> tuple[Revision, ...]:
    """Return the unused revisions beyond the limit; the history must be in order.

    Without a limit, or with a negative limit, the result is empty.
    """
    past = [each for each in history if not is_live(each)]
    if limit is None or limit < 0:
        return ()
    return tuple(past[: max(0, len(past) - limit)])


def _age(revision: Revision) -> tuple[int, datetime, str]:
    made_time = revision.metadata.creation_timestamp or _LONG_AGO
    return revision.revision, made_time, revision.name
