"""Our own writes over watch events: each way in which an old state could come back."""

from collections.abc import Callable

import pytest

from steersman.cache import Indexer
from steersman.cache.inflight_writes import InflightWrites, WriteToken
from steersman.cache.own_writes import UNCONFIRMED_LIMIT, OwnWrites
from steersman.names import ObjectKey
from tests.unit.cache.things import Thing, thing

WEB = ObjectKey("default", "web")


class Cache:
    """One place whose watch has reached position 10."""

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

    def hear_end(self, version: int, uid: str = "a") -> None:
        self.writes.received_deletion(WEB, uid)
        self.writes.advance_to(str(version))

    def write(
        self,
        version: int | str,
        uid: str = "a",
        *,
        belongs: bool = True,
        token: WriteToken | None = None,
    ) -> None:
        with token or WriteToken(self.inflight) as token:
            self.writes.add_write(thing("web", version=version, uid=uid), token, belongs=belongs)

    def end(self, uid: str = "a", version: str = "", *, token: WriteToken | None = None) -> None:
        with token or WriteToken(self.inflight) as token:
            self.writes.add_deletion(WEB, uid, version, token)

    def sent(self) -> WriteToken:
        """A write that is not answered yet."""
        return WriteToken(self.inflight).__enter__()

    @property
    def seen(self) -> tuple[str, str] | None:
        """Uid and version of what is shown."""
        found = self.shown.get(WEB)
        return None if found is None else (found.uid, found.resource_version)


@pytest.fixture
def cache() -> Cache:
    """One that receives everything."""
    return Cache()


@pytest.fixture
def limited() -> Cache:
    """One that receives objects with some label."""
    return Cache(is_limited=True)


@pytest.fixture
def selected() -> Cache:
    """One that receives objects of which only the server knows which they are."""
    return Cache(is_limited=True, overlays_new=False)


def test_what_we_wrote_is_shown_until_it_is_received(cache: Cache) -> None:
    cache.receive(11)
    cache.write(12)

    assert cache.seen == ("a", "12")

    cache.receive(12)

    assert cache.seen == ("a", "12")
    assert len(cache.writes) == 0


def test_an_older_event_does_not_cover_what_we_wrote(cache: Cache) -> None:
    cache.write(13)

    cache.receive(11)
    cache.receive(12)

    assert cache.seen == ("a", "13")


def test_an_answer_that_comes_after_its_event_changes_nothing(cache: Cache) -> None:
    cache.receive(12)
    cache.receive(14)

    cache.write(12)

    assert cache.seen == ("a", "14")
    assert len(cache.writes) == 0


def test_of_two_answers_the_newer_one_counts_whichever_comes_first(cache: Cache) -> None:
    cache.write(13)
    cache.write(12)

    assert cache.seen == ("a", "13")


def test_a_bookmark_ends_what_we_wrote_before_it(limited: Cache) -> None:
    limited.receive(11)
    limited.write(12, belongs=False)
    assert limited.seen is None

    limited.writes.received_deletion(WEB, "a")
    limited.writes.advance_to("20")

    assert limited.seen is None
    assert len(limited.writes) == 0


def test_the_position_never_goes_back(cache: Cache) -> None:
    cache.receive(20)
    cache.writes.advance_to("15")

    cache.write(17)

    assert cache.seen == ("a", "20")


def test_what_we_deleted_is_hidden_until_its_end_is_received(cache: Cache) -> None:
    cache.receive(11)
    cache.end()
    assert cache.seen is None

    cache.receive(12)
    assert cache.seen is None

    cache.hear_end(13)
    assert cache.seen is None
    assert len(cache.writes) == 0


def test_what_we_created_and_deleted_never_shows_again(cache: Cache) -> None:
    cache.write(11)
    cache.end()

    cache.receive(11)

    assert cache.seen is None


def test_an_end_that_was_received_while_the_answer_was_on_its_way_leaves_nothing(
    cache: Cache,
) -> None:
    cache.receive(11)
    token = cache.sent()
    cache.hear_end(12)
    cache.receive(13, "b")

    cache.end(token=token)

    assert cache.seen == ("b", "13")
    assert len(cache.writes) == 0


def test_the_answer_to_an_earlier_write_does_not_bring_back_what_we_deleted(cache: Cache) -> None:
    cache.receive(11)
    cache.end()

    cache.write(12)

    assert cache.seen is None


def test_what_we_created_again_under_the_name_is_shown(cache: Cache) -> None:
    cache.receive(11)
    cache.end()
    cache.write(13, "b")
    assert cache.seen == ("b", "13")

    cache.hear_end(12)
    cache.receive(13, "b")

    assert cache.seen == ("b", "13")
    assert len(cache.writes) == 0


@pytest.mark.parametrize("version", ["", "13"])
def test_what_had_the_name_before_does_not_come_back_when_its_successor_goes(
    cache: Cache, version: str
) -> None:
    cache.receive(11)
    cache.write(13, "b")

    cache.end("b", version)
    assert cache.seen is None

    cache.hear_end(12)
    cache.receive(13, "b")
    assert cache.seen is None

    cache.hear_end(14, "b")
    assert len(cache.writes) == 0


@pytest.mark.parametrize("version", ["", "13"])
def test_the_end_of_an_object_that_was_never_received_ends_those_before_it(
    cache: Cache, version: str
) -> None:
    cache.receive(11)

    cache.end("b", version)

    assert cache.seen is None


@pytest.mark.parametrize("version", ["", "15"])
def test_even_those_that_are_received_later(cache: Cache, version: str) -> None:
    cache.end("c", version)

    cache.receive(11, "a")
    assert cache.seen is None
    cache.hear_end(12, "a")
    cache.receive(13, "b")
    assert cache.seen is None
    cache.hear_end(14, "b")
    cache.receive(15, "c")
    assert cache.seen is None
    cache.hear_end(16, "c")
    cache.receive(17, "d")

    assert cache.seen == ("d", "17")


def test_the_end_of_one_that_was_never_received_ends_what_we_wrote_before(cache: Cache) -> None:
    cache.write(11)

    cache.end("b")

    assert cache.seen is None


def test_an_end_that_is_received_late_does_not_hide_what_came_after(cache: Cache) -> None:
    token = cache.sent()
    cache.write(14, "b")

    cache.end("a", token=token)

    assert cache.seen == ("b", "14")


def test_nor_what_a_list_has_brought_meanwhile(cache: Cache) -> None:
    token = cache.sent()
    cache.receive(14, "b", in_list=True)
    cache.writes.finish_list("15", rewound=False)

    cache.end("a", token=token)
    cache.writes.finish_list("16", rewound=False)

    assert cache.seen == ("b", "14")


def test_an_end_that_a_list_may_have_left_out_does_not_hide_what_comes_after(cache: Cache) -> None:
    token = cache.sent()
    cache.writes.finish_list("15", rewound=False)

    cache.end("a", token=token)
    cache.receive(16, "b")

    assert cache.seen == ("b", "16")


def test_a_list_from_before_the_end_does_not_bring_back_what_we_deleted(cache: Cache) -> None:
    cache.receive(11)
    cache.end()

    cache.writes.finish_list("12", rewound=False)
    cache.writes.finish_list("13", rewound=False)

    assert cache.seen is None


def test_a_list_without_what_we_deleted_settles_it(cache: Cache) -> None:
    cache.write(11)
    cache.end()

    cache.writes.finish_list("20", rewound=False)

    assert len(cache.writes) == 0


def test_a_list_from_before_its_beginning_does_not_settle_what_we_deleted(cache: Cache) -> None:
    cache.end()

    cache.writes.finish_list("11", rewound=False)
    cache.receive(12)
    assert cache.seen is None

    cache.hear_end(13)
    assert cache.seen is None


def test_the_second_list_settles_what_is_never_received(cache: Cache) -> None:
    cache.end()

    cache.writes.finish_list("11", rewound=False)
    cache.writes.finish_list("12", rewound=False)

    assert len(cache.writes) == 0


def test_a_rewound_history_is_shown_as_it_is(cache: Cache) -> None:
    cache.receive(11)
    cache.write(15)
    token = cache.sent()

    cache.receive(5, in_list=True)
    cache.writes.finish_list("6", rewound=True)
    assert cache.seen == ("a", "5")

    cache.write(16, token=token)
    assert cache.seen == ("a", "5")
    cache.write(7)
    assert cache.seen == ("a", "7")


def test_a_deletion_from_another_history_hides_nothing(cache: Cache) -> None:
    token = cache.sent()
    cache.receive(5, in_list=True)
    cache.writes.finish_list("6", rewound=True)

    cache.end(token=token)

    assert cache.seen == ("a", "5")


def test_versions_that_are_no_numbers_are_never_laid_over(cache: Cache) -> None:
    before_any_list = Cache()
    before_any_list.writes.position = "0"

    for each in (cache, before_any_list):
        each.write("opaque")

        assert each.seen is None
        assert len(each.writes) == 0


def test_where_some_are_received_what_we_took_out_is_gone_at_once(limited: Cache) -> None:
    limited.receive(11)

    limited.write(12, belongs=False)
    assert limited.seen is None

    limited.write(13)
    assert limited.seen == ("a", "13")


def test_where_some_are_received_leaving_is_not_the_end(limited: Cache) -> None:
    limited.receive(11)
    limited.end()

    limited.hear_end(12)  # It left, and came back before we deleted it.
    limited.receive(13)

    assert limited.seen is None


def test_nor_is_having_left_while_the_answer_was_on_its_way(limited: Cache) -> None:
    limited.receive(11)
    token = limited.sent()
    limited.hear_end(12)

    limited.end(token=token)
    limited.receive(13)

    assert limited.seen is None


def test_where_some_are_received_the_end_of_another_ends_what_was_known_before(
    limited: Cache,
) -> None:
    limited.receive(11)

    limited.end("b")

    assert limited.seen is None


def test_where_some_are_received_what_we_wrote_last_may_not_be_the_last_state(
    limited: Cache,
) -> None:
    limited.write(11, belongs=True)
    limited.end()

    limited.writes.advance_to("12")
    limited.receive(13)  # A stranger had changed it before we deleted it.

    assert limited.seen is None


def test_an_object_whose_last_version_is_past_is_not_kept_in_mind(limited: Cache) -> None:
    limited.end(version="9")

    assert len(limited.writes) == 0


def test_an_object_whose_last_version_is_to_come_is_kept_in_mind_until_then(limited: Cache) -> None:
    limited.end(version="15")
    assert len(limited.writes) == 1

    limited.writes.advance_to("16")

    assert len(limited.writes) == 0


def test_of_what_is_never_received_only_so_much_is_kept_in_mind(limited: Cache) -> None:
    for number in range(UNCONFIRMED_LIMIT + 50):
        with WriteToken(limited.inflight) as token:
            limited.writes.add_deletion(
                ObjectKey("default", f"web-{number}"), f"uid-{number}", "", token
            )

    assert len(limited.writes) == UNCONFIRMED_LIMIT


def test_where_only_the_server_knows_what_is_there_already_is_laid_over(selected: Cache) -> None:
    selected.receive(11)

    selected.write(12)

    assert selected.seen == ("a", "12")


def test_where_only_the_server_knows_what_is_new_waits_and_its_past_is_not_shown(
    selected: Cache,
) -> None:
    selected.write(12)
    selected.write(14)
    assert selected.seen is None

    selected.receive(12)
    assert selected.seen is None

    selected.receive(14)
    assert selected.seen == ("a", "14")


@pytest.mark.parametrize("end", [Cache.end, lambda _: None])
def test_where_only_the_server_knows_another_of_the_name_is_new(
    selected: Cache, end: Callable[[Cache], None]
) -> None:
    selected.receive(11)
    end(selected)

    selected.write(13, "b")

    assert selected.seen is None


def test_what_cannot_be_decoded_any_more_stays_as_we_wrote_it(cache: Cache) -> None:
    cache.receive(11)
    cache.write(12)

    cache.writes.received_decode_failure(WEB, "a")
    cache.writes.advance_to("13")

    assert cache.seen == ("a", "12")
    assert len(cache.writes) == 0


def test_another_that_cannot_be_decoded_takes_the_place_of_what_we_wrote(cache: Cache) -> None:
    cache.write(12)
    cache.writes.received_decode_failure(WEB, "a")
    cache.writes.advance_to("13")

    cache.writes.received_decode_failure(WEB, "b")

    assert cache.seen is None


def test_another_that_cannot_be_decoded_takes_the_place_of_what_was_received(cache: Cache) -> None:
    cache.receive(11)
    cache.write(12)

    cache.writes.received_decode_failure(WEB, "b")
    cache.writes.advance_to("14")

    assert cache.seen is None


def test_before_the_first_list_our_writes_are_kept() -> None:
    cache = Cache()
    cache.writes.position = "0"

    cache.write(12)
    cache.writes.finish_list("11", rewound=False)

    assert cache.seen == ("a", "12")


def test_no_ticket_is_left(cache: Cache) -> None:
    with WriteToken(cache.inflight):
        assert len(cache.inflight) == 1

    assert len(cache.inflight) == 0
