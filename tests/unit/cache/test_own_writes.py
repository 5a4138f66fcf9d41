"""Own writes over watch events: each sequence in which an old state could reappear."""

from collections.abc import Callable

import pytest

from steersman.cache import Indexer
from steersman.cache.inflight_writes import InflightWrites, WriteToken
from steersman.cache.own_writes import UNCONFIRMED_LIMIT, OwnWrites
from steersman.names import ObjectKey
from tests.unit.cache.sample_objects import Thing, thing

WEB = ObjectKey("default", "web")


class Cache:
    """The own writes of a cache whose watch has reached version 10."""

    def __init__(self, *, is_limited: bool = False, overlays_new: bool = True) -> None:
        self.shown = Indexer[Thing](failed=lambda *_: None)
        self.inflight = InflightWrites()
        self.writes = OwnWrites[Thing](
            self.shown, is_limited=is_limited, overlays_new=overlays_new, inflight=self.inflight
        )
        self.writes.finish_list("10", rewound=False)

    def receive(self, version: int, uid: str = "a", *, in_list: bool = False) -> None:
        obj = thing("web", version=version, uid=uid)
        if in_list:
            self.writes.received_list([(WEB, obj)])
        else:
            self.writes.received(obj, WEB, version=str(version))

    def receive_deletion(self, version: int, uid: str = "a") -> None:
        self.writes.received_deletion(WEB, uid)
        self.writes.advance_to(str(version))

    def record_write(
        self,
        version: int | str,
        uid: str = "a",
        *,
        belongs: bool = True,
        token: WriteToken | None = None,
    ) -> None:
        with token or WriteToken(self.inflight) as token:
            self.writes.add_write(thing("web", version=version, uid=uid), token, belongs=belongs)

    def record_deletion(
        self, uid: str = "a", version: str = "", *, token: WriteToken | None = None
    ) -> None:
        with token or WriteToken(self.inflight) as token:
            self.writes.add_deletion(WEB, uid, version, token)

    def start_write(self) -> WriteToken:
        """A write without a response yet."""
        return WriteToken(self.inflight).__enter__()

    @property
    def seen(self) -> tuple[str, str] | None:
        """Uid and version of the object that readers get."""
        found = self.shown.get(WEB)
        return None if found is None else (found.uid, found.resource_version)


@pytest.fixture
def cache() -> Cache:
    """A cache of all objects."""
    return Cache()


@pytest.fixture
def limited() -> Cache:
    """A cache of the objects with some label."""
    return Cache(is_limited=True)


@pytest.fixture
def selected() -> Cache:
    """A cache whose selector only the server can evaluate."""
    return Cache(is_limited=True, overlays_new=False)


def test_an_own_write_is_shown_until_its_event_is_received(cache: Cache) -> None:
    cache.receive(11)
    cache.record_write(12)

    assert cache.seen == ("a", "12")

    cache.receive(12)

    assert cache.seen == ("a", "12")
    assert len(cache.writes) == 0


def test_an_older_event_does_not_replace_an_own_write(cache: Cache) -> None:
    cache.record_write(13)

    cache.receive(11)
    cache.receive(12)

    assert cache.seen == ("a", "13")


def test_a_response_after_its_event_changes_nothing(cache: Cache) -> None:
    cache.receive(12)
    cache.receive(14)

    cache.record_write(12)

    assert cache.seen == ("a", "14")
    assert len(cache.writes) == 0


def test_the_newer_of_two_responses_is_shown_in_either_order(cache: Cache) -> None:
    cache.record_write(13)
    cache.record_write(12)

    assert cache.seen == ("a", "13")


def test_a_bookmark_ends_the_own_writes_before_it(limited: Cache) -> None:
    limited.receive(11)
    limited.record_write(12, belongs=False)
    assert limited.seen is None

    limited.writes.received_deletion(WEB, "a")
    limited.writes.advance_to("20")

    assert limited.seen is None
    assert len(limited.writes) == 0


def test_the_position_never_goes_back(cache: Cache) -> None:
    cache.receive(20)
    cache.writes.advance_to("15")

    cache.record_write(17)

    assert cache.seen == ("a", "20")


def test_an_own_deletion_hides_the_object_until_its_event_is_received(cache: Cache) -> None:
    cache.receive(11)
    cache.record_deletion()
    assert cache.seen is None

    cache.receive(12)
    assert cache.seen is None

    cache.receive_deletion(13)
    assert cache.seen is None
    assert len(cache.writes) == 0


def test_an_object_that_was_created_and_deleted_never_reappears(cache: Cache) -> None:
    cache.record_write(11)
    cache.record_deletion()

    cache.receive(11)

    assert cache.seen is None


def test_a_deletion_event_before_the_response_leaves_no_overlay(
    cache: Cache,
) -> None:
    cache.receive(11)
    token = cache.start_write()
    cache.receive_deletion(12)
    cache.receive(13, "b")

    cache.record_deletion(token=token)

    assert cache.seen == ("b", "13")
    assert len(cache.writes) == 0


def test_the_response_to_an_earlier_write_does_not_restore_a_deleted_object(cache: Cache) -> None:
    cache.receive(11)
    cache.record_deletion()

    cache.record_write(12)

    assert cache.seen is None


def test_a_recreated_object_is_shown(cache: Cache) -> None:
    cache.receive(11)
    cache.record_deletion()
    cache.record_write(13, "b")
    assert cache.seen == ("b", "13")

    cache.receive_deletion(12)
    cache.receive(13, "b")

    assert cache.seen == ("b", "13")
    assert len(cache.writes) == 0


@pytest.mark.parametrize("version", ["", "13"])
def test_a_predecessor_does_not_reappear_when_its_successor_is_deleted(
    cache: Cache, version: str
) -> None:
    cache.receive(11)
    cache.record_write(13, "b")

    cache.record_deletion("b", version)
    assert cache.seen is None

    cache.receive_deletion(12)
    cache.receive(13, "b")
    assert cache.seen is None

    cache.receive_deletion(14, "b")
    assert len(cache.writes) == 0


@pytest.mark.parametrize("version", ["", "13"])
def test_the_deletion_of_an_unknown_object_ends_its_predecessors(
    cache: Cache, version: str
) -> None:
    cache.receive(11)

    cache.record_deletion("b", version)

    assert cache.seen is None


@pytest.mark.parametrize("version", ["", "15"])
def test_the_deletion_of_an_unknown_object_ends_predecessors_that_are_received_later(
    cache: Cache, version: str
) -> None:
    cache.record_deletion("c", version)

    cache.receive(11, "a")
    assert cache.seen is None
    cache.receive_deletion(12, "a")
    cache.receive(13, "b")
    assert cache.seen is None
    cache.receive_deletion(14, "b")
    cache.receive(15, "c")
    assert cache.seen is None
    cache.receive_deletion(16, "c")
    cache.receive(17, "d")

    assert cache.seen == ("d", "17")


def test_the_deletion_of_an_unknown_object_ends_earlier_own_writes(cache: Cache) -> None:
    cache.record_write(11)

    cache.record_deletion("b")

    assert cache.seen is None


def test_a_late_deletion_event_does_not_hide_a_later_object(cache: Cache) -> None:
    token = cache.start_write()
    cache.record_write(14, "b")

    cache.record_deletion("a", token=token)

    assert cache.seen == ("b", "14")


def test_a_late_deletion_event_does_not_hide_a_listed_object(cache: Cache) -> None:
    token = cache.start_write()
    cache.receive(14, "b", in_list=True)
    cache.writes.finish_list("15", rewound=False)

    cache.record_deletion("a", token=token)
    cache.writes.finish_list("16", rewound=False)

    assert cache.seen == ("b", "14")


def test_a_deletion_that_a_list_may_have_skipped_does_not_hide_a_later_object(cache: Cache) -> None:
    token = cache.start_write()
    cache.writes.finish_list("15", rewound=False)

    cache.record_deletion("a", token=token)
    cache.receive(16, "b")

    assert cache.seen == ("b", "16")


def test_a_list_from_before_a_deletion_does_not_restore_the_object(cache: Cache) -> None:
    cache.receive(11)
    cache.record_deletion()

    cache.writes.finish_list("12", rewound=False)
    cache.writes.finish_list("13", rewound=False)

    assert cache.seen is None


def test_a_list_without_the_deleted_object_confirms_the_deletion(cache: Cache) -> None:
    cache.record_write(11)
    cache.record_deletion()

    cache.writes.finish_list("20", rewound=False)

    assert len(cache.writes) == 0


def test_a_list_from_before_the_creation_does_not_confirm_the_deletion(cache: Cache) -> None:
    cache.record_deletion()

    cache.writes.finish_list("11", rewound=False)
    cache.receive(12)
    assert cache.seen is None

    cache.receive_deletion(13)
    assert cache.seen is None


def test_the_second_list_confirms_a_deletion_without_an_event(cache: Cache) -> None:
    cache.record_deletion()

    cache.writes.finish_list("11", rewound=False)
    cache.writes.finish_list("12", rewound=False)

    assert len(cache.writes) == 0


def test_a_rewound_history_replaces_own_writes(cache: Cache) -> None:
    cache.receive(11)
    cache.record_write(15)
    token = cache.start_write()

    cache.receive(5, in_list=True)
    cache.writes.finish_list("6", rewound=True)
    assert cache.seen == ("a", "5")

    cache.record_write(16, token=token)
    assert cache.seen == ("a", "5")
    cache.record_write(7)
    assert cache.seen == ("a", "7")


def test_a_deletion_from_another_history_hides_nothing(cache: Cache) -> None:
    token = cache.start_write()
    cache.receive(5, in_list=True)
    cache.writes.finish_list("6", rewound=True)

    cache.record_deletion(token=token)

    assert cache.seen == ("a", "5")


def test_a_write_with_a_version_that_is_no_number_is_not_overlaid(cache: Cache) -> None:
    before_any_list = Cache()
    before_any_list.writes.position = "0"

    for each in (cache, before_any_list):
        each.record_write("opaque")

        assert each.seen is None
        assert len(each.writes) == 0


def test_with_selectors_an_object_that_a_write_deselects_disappears_immediately(
    limited: Cache,
) -> None:
    limited.receive(11)

    limited.record_write(12, belongs=False)
    assert limited.seen is None

    limited.record_write(13)
    assert limited.seen == ("a", "13")


def test_with_selectors_a_deselected_object_does_not_count_as_deleted(limited: Cache) -> None:
    limited.receive(11)
    limited.record_deletion()

    limited.receive_deletion(
        12
    )  # It was deselected, and selected again before the operator deleted it.
    limited.receive(13)

    assert limited.seen is None


def test_with_selectors_an_object_deselected_before_the_response_does_not_count_as_deleted(
    limited: Cache,
) -> None:
    limited.receive(11)
    token = limited.start_write()
    limited.receive_deletion(12)

    limited.record_deletion(token=token)
    limited.receive(13)

    assert limited.seen is None


def test_with_selectors_the_deletion_of_another_object_ends_its_predecessors(
    limited: Cache,
) -> None:
    limited.receive(11)

    limited.record_deletion("b")

    assert limited.seen is None


def test_with_selectors_the_last_own_write_need_not_be_the_last_state(
    limited: Cache,
) -> None:
    limited.record_write(11, belongs=True)
    limited.record_deletion()

    limited.writes.advance_to("12")
    limited.receive(13)  # Another client had changed it before the operator deleted it.

    assert limited.seen is None


def test_a_deletion_at_a_version_before_the_position_is_not_remembered(limited: Cache) -> None:
    limited.record_deletion(version="9")

    assert len(limited.writes) == 0


def test_a_deletion_at_a_version_after_the_position_is_remembered_until_then(
    limited: Cache,
) -> None:
    limited.record_deletion(version="15")
    assert len(limited.writes) == 1

    limited.writes.advance_to("16")

    assert len(limited.writes) == 0


def test_the_number_of_unconfirmed_deletions_is_bounded(limited: Cache) -> None:
    for number in range(UNCONFIRMED_LIMIT + 50):
        with WriteToken(limited.inflight) as token:
            limited.writes.add_deletion(
                ObjectKey("default", f"web-{number}"), f"uid-{number}", "", token
            )

    assert len(limited.writes) == UNCONFIRMED_LIMIT


def test_with_server_side_selectors_a_write_to_a_cached_object_is_overlaid(selected: Cache) -> None:
    selected.receive(11)

    selected.record_write(12)

    assert selected.seen == ("a", "12")


def test_with_server_side_selectors_a_new_object_waits_for_its_event(
    selected: Cache,
) -> None:
    selected.record_write(12)
    selected.record_write(14)
    assert selected.seen is None

    selected.receive(12)
    assert selected.seen is None

    selected.receive(14)
    assert selected.seen == ("a", "14")


@pytest.mark.parametrize("end", [Cache.record_deletion, lambda _: None])
def test_with_server_side_selectors_a_recreated_object_counts_as_new(
    selected: Cache, end: Callable[[Cache], None]
) -> None:
    selected.receive(11)
    end(selected)

    selected.record_write(13, "b")

    assert selected.seen is None


def test_an_own_write_stays_while_the_object_cannot_be_decoded(cache: Cache) -> None:
    cache.receive(11)
    cache.record_write(12)

    cache.writes.received_decode_failure(WEB, "a")
    cache.writes.advance_to("13")

    assert cache.seen == ("a", "12")
    assert len(cache.writes) == 0


def test_an_undecodable_successor_ends_an_own_write(cache: Cache) -> None:
    cache.record_write(12)
    cache.writes.received_decode_failure(WEB, "a")
    cache.writes.advance_to("13")

    cache.writes.received_decode_failure(WEB, "b")

    assert cache.seen is None


def test_an_undecodable_successor_replaces_a_received_object(cache: Cache) -> None:
    cache.receive(11)
    cache.record_write(12)

    cache.writes.received_decode_failure(WEB, "b")
    cache.writes.advance_to("14")

    assert cache.seen is None


def test_own_writes_before_the_first_list_are_kept() -> None:
    cache = Cache()
    cache.writes.position = "0"

    cache.record_write(12)
    cache.writes.finish_list("11", rewound=False)

    assert cache.seen == ("a", "12")


def test_no_write_token_is_left(cache: Cache) -> None:
    with WriteToken(cache.inflight):
        assert len(cache.inflight) == 1

    assert len(cache.inflight) == 0
