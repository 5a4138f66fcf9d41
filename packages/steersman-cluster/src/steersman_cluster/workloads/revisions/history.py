"""A history of revisions: which of them a template is, and which are too many. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from steersman.kinds import apps_v1
from steersman_cluster.workloads.revisions.content import canonical

Revision: TypeAlias = apps_v1.ControllerRevision

_LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """The newest revision is this template already."""

    revision: Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Renumber:
    """An older revision is this template; it becomes the newest."""

    revision: Revision
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """There never was such a template: it is to have a revision of its own."""

    number: int


Plan: TypeAlias = Keep | Renumber | Make


def in_order(revisions: Iterable[Revision]) -> tuple[Revision, ...]:
    """From the oldest to the newest."""
    return tuple(sorted(revisions, key=_age))


def next_number(history: Sequence[Revision]) -> int:
    """The number of the revision that comes after these, which are in order."""
    return history[-1].revision + 1 if history else 1


def planned(history: Sequence[Revision], patch: bytes) -> Plan:
    """What makes the newest revision of a history, which is in order, the one with this patch."""
    # From the newest on, which it nearly always is.
    for revision in reversed(history):
        if canonical(revision.data) != patch:
            continue
        if revision is history[-1]:
            return Keep(revision=revision)
        return Renumber(revision=revision, number=next_number(history))
    return Make(number=next_number(history))


def excess(
    history: Sequence[Revision], *, is_live: Callable[[Revision], bool], limit: int | None
) -> tuple[Revision, ...]:
    """What of a history, which is in order, is more than may be kept of what is no longer in use.

    Without a limit, or with one below zero, all may be kept.
    """
    past = [each for each in history if not is_live(each)]
    if limit is None or limit < 0:
        return ()
    return tuple(past[: max(0, len(past) - limit)])


def _age(revision: Revision) -> tuple[int, datetime, str]:
    made_time = revision.metadata.creation_timestamp or _LONG_AGO
    return revision.revision, made_time, revision.name
