"""The revision log: optimistic locking, order and compaction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.apiserver.storage import Compacted, Key, RevisionConflict, RevisionLog, View

WEB = Key("pods", "default/web")
DB = Key("pods", "default/db")


def values(log: RevisionLog, *, revision: int | None = None) -> list[object]:
    return [entry.value for entry in View(log).page("pods", revision=revision).entries]


def test_a_write_based_on_an_old_revision_changes_nothing() -> None:
    log = RevisionLog()
    first = log.append(WEB, {"size": 1}, expected=0)
    log.append(WEB, {"size": 2}, expected=first.revision)

    with pytest.raises(RevisionConflict) as stale:
        log.append(WEB, {"size": 9}, expected=first.revision)

    assert stale.value.current is not None
    assert stale.value.current.value == {"size": 2}
    assert values(log) == [{"size": 2}]


def test_an_existing_object_cannot_be_created_nor_a_missing_one_replaced() -> None:
    log = RevisionLog()
    entry = log.append(WEB, {}, expected=0)

    with pytest.raises(RevisionConflict):
        log.append(WEB, {}, expected=0)
    with pytest.raises(RevisionConflict):
        log.append(DB, {}, expected=entry.revision)


def test_a_deleted_object_can_be_created_again() -> None:
    log = RevisionLog()
    entry = log.append(WEB, {"size": 1}, expected=0)
    log.append(WEB, None, expected=entry.revision)

    log.append(WEB, {"size": 2}, expected=0)

    assert values(log) == [{"size": 2}]


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_a_revision_is_never_assigned_twice(names: list[str]) -> None:
    log = RevisionLog()

    entries = []
    for name in names:
        key = Key("pods", name)
        current = View(log).get(key)
        entries.append(log.append(key, {}, expected=current.revision if current else 0))

    revisions = [entry.revision for entry in entries]
    assert revisions == sorted(set(revisions))


def test_a_list_at_a_revision_does_not_change_during_later_writes() -> None:
    log = RevisionLog()
    web = log.append(WEB, {"size": 1}, expected=0)
    db = log.append(DB, {"size": 1}, expected=0)
    then = log.revision

    log.append(WEB, {"size": 2}, expected=web.revision)
    log.append(DB, None, expected=db.revision)
    log.append(Key("pods", "default/new"), {"size": 1}, expected=0)

    assert values(log, revision=then) == [{"size": 1}, {"size": 1}]


def test_objects_are_listed_in_the_key_order_of_etcd() -> None:
    log = RevisionLog()
    places = ["a/b", "a-b/a", "a/a", "a.b/c", "b/a"]
    for place in places:
        log.append(Key("pods", place), {"at": place}, expected=0)

    found = [entry.key.place for entry in View(log).page("pods").entries]

    assert found == ["a-b/a", "a.b/c", "a/a", "a/b", "b/a"]


def test_a_page_contains_only_keys_with_its_prefix() -> None:
    log = RevisionLog()
    for place in ("a/x", "a/y", "a-b/x", "ab/x"):
        log.append(Key("pods", place), {}, expected=0)

    page = View(log).page("pods", prefix="a/")

    assert [entry.key.place for entry in page.entries] == ["a/x", "a/y"]


def test_consecutive_pages_have_no_gap_or_overlap() -> None:
    log = RevisionLog()
    places = [f"default/{number:03}" for number in range(25)]
    for place in places:
        log.append(Key("pods", place), {}, expected=0)
    view = View(log)

    found: list[str] = []
    remaining = [25]
    while remaining[-1]:
        page = view.page("pods", after=found[-1] if found else "", limit=10)
        found += [entry.key.place for entry in page.entries]
        remaining.append(page.remaining)

    assert found == places
    assert remaining == [25, 15, 5, 0]


def test_a_read_of_compacted_history_fails_instead_of_returning_a_part() -> None:
    log = RevisionLog()
    web = log.append(WEB, {"size": 1}, expected=0)
    log.append(WEB, {"size": 2}, expected=web.revision)

    log.compact(log.revision)

    view = View(log)
    with pytest.raises(Compacted):
        view.since(web.revision, "pods")
    with pytest.raises(Compacted):
        view.page("pods", revision=web.revision)
    assert view.since(log.revision, "pods") == []
    assert values(log) == [{"size": 2}]


def test_a_watch_survives_a_compaction_after_writes_to_another_resource() -> None:
    log = RevisionLog()
    seen = log.append(WEB, {"size": 1}, expected=0).revision
    log.append(Key("nodes", "one"), {}, expected=0)
    log.compact(log.revision)

    log.append(WEB, {"size": 2}, expected=seen)

    view = View(log)
    assert [entry.value for entry in view.since(seen, "pods")] == [{"size": 2}]
    with pytest.raises(Compacted):
        view.check(seen)


def test_compaction_removes_deleted_objects_and_keeps_current_ones() -> None:
    log = RevisionLog()
    web = log.append(WEB, {"size": 1}, expected=0)
    log.append(WEB, None, expected=web.revision)
    log.append(DB, {"size": 1}, expected=0)

    log.compact(log.revision)

    assert log.latest(WEB) is None
    assert values(log) == [{"size": 1}]
    assert log.resource_log("pods").places == [DB.place]


def test_compaction_keeps_later_changes_with_their_previous_values() -> None:
    log = RevisionLog()
    web = log.append(WEB, {"size": 1}, expected=0)
    log.compact(web.revision)

    log.append(WEB, {"size": 2}, expected=web.revision)

    [entry] = View(log).since(web.revision, "pods")
    assert entry.previous is not None
    assert (entry.previous.value, entry.value) == ({"size": 1}, {"size": 2})


def test_a_view_shows_the_state_of_its_last_advance() -> None:
    log = RevisionLog()
    web = log.append(WEB, {"size": 1}, expected=0)
    lagging = View(log)
    log.append(WEB, {"size": 2}, expected=web.revision)
    log.append(DB, {"size": 1}, expected=0)

    before = [entry.value for entry in lagging.page("pods").entries]
    nothing_new = lagging.since(web.revision, "pods")
    lagging.advance(log.revision)

    assert before == [{"size": 1}]
    assert nothing_new == []
    assert len(lagging.since(web.revision, "pods")) == 2
    assert lagging.get(DB) is not None


def test_a_fork_starts_with_the_current_objects_and_diverges() -> None:
    log = RevisionLog()
    first = log.append(WEB, {"size": 1}, expected=0)
    second = log.append(WEB, {"size": 2}, expected=first.revision)
    gone = log.append(DB, {}, expected=0)
    log.append(DB, None, expected=gone.revision)

    fork = log.fork()
    there = fork.append(WEB, {"size": 3}, expected=second.revision)
    here = log.append(WEB, {"size": 4}, expected=second.revision)

    assert [each.value for each in fork.current_entries()] == [{"size": 3}]
    assert [each.value for each in log.current_entries()] == [{"size": 4}]
    assert there.revision == here.revision
    assert fork.latest(DB) is None
    with pytest.raises(Compacted):
        fork.since(first.revision, "pods", until=there.revision)


def test_current_entries_are_sorted_by_key() -> None:
    keys = [Key("secrets", "default/a"), DB, WEB]
    log = RevisionLog()
    for key in reversed(keys):
        log.append(key, {}, expected=0)

    assert [each.key for each in log.current_entries()] == [DB, WEB, keys[0]]
