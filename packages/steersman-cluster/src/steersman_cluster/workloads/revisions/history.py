"""The history of revisions: which revision has a Pod template, and which to delete. No I/O."""

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
    """The plan to change nothing, because the newest revision already has the Pod template."""

    revision: Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class RenumberRevision:
    """The plan to make ``revision``, an older one that has the Pod template, the newest."""

    revision: Revision
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRevision:
    """The plan to create a revision, because no revision has the Pod template."""

    number: int


RevisionPlan: TypeAlias = KeepRevision | RenumberRevision | CreateRevision


def in_order(revisions: Iterable[Revision]) -> tuple[Revision, ...]:
    """Return ``revisions`` sorted from the oldest to the newest."""
    return tuple(sorted(revisions, key=_age))


def next_number(history: Sequence[Revision]) -> int:
    """Return the highest revision number in ``history``, plus one.

    ``history`` must be sorted from the oldest to the newest.
    """
    return history[-1].revision + 1 if history else 1


def make_plan(history: Sequence[Revision], patch: bytes) -> RevisionPlan:
    """Return the plan that makes the revision with ``patch`` the newest revision.

    ``history`` must be sorted from the oldest to the newest.
    """
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
    """Return the unused revisions in ``history`` beyond the history limit ``limit``.

    ``history`` must be sorted from the oldest to the newest. ``is_live`` returns whether a revision
    is in use. Without a limit, or with a negative limit, the result is empty.
    """
    past = [each for each in history if not is_live(each)]
    if limit is None or limit < 0:
        return ()
    return tuple(past[: max(0, len(past) - limit)])


def _age(revision: Revision) -> tuple[int, datetime, str]:
    made_time = revision.metadata.creation_timestamp or _LONG_AGO
    return revision.revision, made_time, revision.name
