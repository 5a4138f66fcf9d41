"""The revision of a template, and revisions beyond the limit."""

from datetime import UTC, datetime, timedelta

from steersman.kinds import apps_v1, meta_v1
from steersman_cluster.workloads.revisions import (
    CreateRevision,
    KeepRevision,
    RenumberRevision,
    excess,
    in_order,
    make_plan,
)

Revision = apps_v1.ControllerRevision
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def revision(name: str, number: int, *, data: str = "", after: float = 0.0) -> Revision:
    return apps_v1.ControllerRevision(
        metadata=meta_v1.ObjectMeta(name=name, creation_timestamp=EPOCH + timedelta(seconds=after)),
        data={"is": data or name},
        revision=number,
    )


def test_the_first_revision_is_one() -> None:
    assert make_plan((), b'{"is":"new"}') == CreateRevision(number=1)


def test_the_newest_revision_is_kept_while_the_template_stays_the_same() -> None:
    history = (revision("one", 1), revision("two", 2))

    assert make_plan(history, b'{"is":"two"}') == KeepRevision(revision=history[1])


def test_an_earlier_template_keeps_its_revision_with_a_new_number() -> None:
    history = (revision("one", 1), revision("two", 2))

    assert make_plan(history, b'{"is":"one"}') == RenumberRevision(revision=history[0], number=3)


def test_a_new_template_gets_the_next_number() -> None:
    history = (revision("one", 3), revision("two", 7))

    assert make_plan(history, b'{"is":"new"}') == CreateRevision(number=8)


def test_revisions_with_the_same_number_are_ordered_by_age_and_name() -> None:
    mixed = [
        revision("c", 2, after=5),
        revision("b", 2),
        revision("a", 2),
        revision("d", 1, after=9),
    ]

    assert [each.name for each in in_order(mixed)] == ["d", "a", "b", "c"]


def test_a_revision_in_use_is_never_deleted() -> None:
    history = [revision(name, number) for number, name in enumerate("abcde")]

    gone = excess(history, is_live=lambda each: each.name in ("a", "e"), limit=1)

    assert [each.name for each in gone] == ["b", "c"]


def test_without_a_limit_the_whole_history_is_kept() -> None:
    history = [revision(name, number) for number, name in enumerate("abc")]

    assert excess(history, is_live=lambda _: False, limit=None) == ()
    assert excess(history, is_live=lambda _: False, limit=-1) == ()
