"""Our own writes over what was heard: each way in which the past could come back, and does not."""

from collections.abc import Callable

import pytest

from steersman.cache import Indexer
from steersman.cache.flights import Flights, Ticket
from steersman.cache.own_writes import UNSURE_LIMIT, OwnWrites
from steersman.names import ObjectKey
from tests.unit.cache.things import Thing, thing

WEB = ObjectKey("default", "web")


class Cache:
    """One place where a story is told, as far as position 10."""

    def __init__(self, *, is_limited: bool = False, lays_new: bool = True) -> None:
        self.shown = Indexer[Thing](failed=lambda *_: None)
        self.flights = Flights()
        self.writes = OwnWrites[Thing](
            self.shown, is_limited=is_limited, lays_new=lays_new, flights=self.flights
        )
        self.writes.replaced("10", rewound=False)

    def hear(self, version: int, uid: str = "a", *, in_list: bool = False) -> None:
        obj = thing("web", version=version, uid=uid)
        if in_list:
            self.writes.heard_in_list([(WEB, obj)])
        else:
            self.writes.heard(obj, WEB, version=str(version))

    def hear_end(self, version: int, uid: str = "a") -> None:
        self.writes.heard_end(WEB, uid)
        self.writes.reached(str(version))

    def write(
        self,
        version: int | str,
        uid: str = "a",
        *,
        belongs: bool = True,
        ticket: Ticket | None = None,
    ) -> None:
        with ticket or Ticket(self.flights) as ticket:
            self.writes.wrote(thing("web", version=version, uid=uid), ticket, belongs=belongs)

    def end(self, uid: str = "a", version: str = "", *, ticket: Ticket | None = None) -> None:
        with ticket or Ticket(self.flights) as ticket:
            self.writes.ended(WEB, uid, version, ticket)

    def sent(self) -> Ticket:
        """A write that is not answered yet."""
        return Ticket(self.flights).__enter__()

    @property
    def seen(self) -> tuple[str, str] | None:
        """Uid and version of what is shown."""
        found = self.shown.get(WEB)
        return None if found is None else (found.uid, found.resource_version)


@pytest.fixture
def cache() -> Cache:
    """One that hears of everything."""
    return Cache()


@pytest.fixture
def limited() -> Cache:
    """One that hears of objects with some label."""
    return Cache(is_limited=True)


@pytest.fixture
def selected() -> Cache:
    """One that hears of objects of which only the server knows which they are."""
    return Cache(is_limited=True, lays_new=False)


def test_what_we_wrote_is_shown_until_it_is_heard(cache: Cache) -> None:
    cache.hear(11)
    cache.write(12)

    assert cache.seen == ("a", "12")

    cache.hear(12)

    assert cache.seen == ("a", "12")
    assert len(cache.writes) == 0


def test_an_older_event_does_not_cover_what_we_wrote(cache: Cache) -> None:
    cache.write(13)

    cache.hear(11)
    cache.hear(12)

    assert cache.seen == ("a", "13")


def test_an_answer_that_comes_after_its_event_changes_nothing(cache: Cache) -> None:
    cache.hear(12)
    cache.hear(14)

    cache.write(12)

    assert cache.seen == ("a", "14")
    assert len(cache.writes) == 0


def test_of_two_answers_the_newer_one_counts_whichever_comes_first(cache: Cache) -> None:
    cache.write(13)
    cache.write(12)

    assert cache.seen == ("a", "13")


def test_a_bookmark_ends_what_we_wrote_before_it(limited: Cache) -> None:
    limited.hear(11)
    limited.write(12, belongs=False)
    assert limited.seen is None

    limited.writes.heard_end(WEB, "a")
    limited.writes.reached("20")

    assert limited.seen is None
    assert len(limited.writes) == 0


def test_the_position_never_goes_back(cache: Cache) -> None:
    cache.hear(20)
    cache.writes.reached("15")

    cache.write(17)

    assert cache.seen == ("a", "20")


def test_what_we_deleted_is_hidden_until_its_end_is_heard(cache: Cache) -> None:
    cache.hear(11)
    cache.end()
    assert cache.seen is None

    cache.hear(12)
    assert cache.seen is None

    cache.hear_end(13)
    assert cache.seen is None
    assert len(cache.writes) == 0


def test_what_we_created_and_deleted_never_shows_again(cache: Cache) -> None:
    cache.write(11)
    cache.end()

    cache.hear(11)

    assert cache.seen is None


def test_an_end_that_was_heard_while_the_answer_was_on_its_way_leaves_nothing(cache: Cache) -> None:
    cache.hear(11)
    ticket = cache.sent()
    cache.hear_end(12)
    cache.hear(13, "b")

    cache.end(ticket=ticket)

    assert cache.seen == ("b", "13")
    assert len(cache.writes) == 0


def test_the_answer_to_an_earlier_write_does_not_bring_back_what_we_deleted(cache: Cache) -> None:
    cache.hear(11)
    cache.end()

    cache.write(12)

    assert cache.seen is None


def test_what_we_made_anew_under_the_name_is_shown(cache: Cache) -> None:
    cache.hear(11)
    cache.end()
    cache.write(13, "b")
    assert cache.seen == ("b", "13")

    cache.hear_end(12)
    cache.hear(13, "b")

    assert cache.seen == ("b", "13")
    assert len(cache.writes) == 0


@pytest.mark.parametrize("version", ["", "13"])
def test_what_had_the_name_before_does_not_come_back_when_its_successor_goes(
    cache: Cache, version: str
) -> None:
    cache.hear(11)
    cache.write(13, "b")

    cache.end("b", version)
    assert cache.seen is None

    cache.hear_end(12)
    cache.hear(13, "b")
    assert cache.seen is None

    cache.hear_end(14, "b")
    assert len(cache.writes) == 0


@pytest.mark.parametrize("version", ["", "13"])
def test_the_end_of_an_object_that_was_never_heard_of_ends_those_before_it(
    cache: Cache, version: str
) -> None:
    cache.hear(11)

    cache.end("b", version)

    assert cache.seen is None


@pytest.mark.parametrize("version", ["", "15"])
def test_even_those_that_are_heard_of_later(cache: Cache, version: str) -> None:
    cache.end("c", version)

    cache.hear(11, "a")
    assert cache.seen is None
    cache.hear_end(12, "a")
    cache.hear(13, "b")
    assert cache.seen is None
    cache.hear_end(14, "b")
    cache.hear(15, "c")
    assert cache.seen is None
    cache.hear_end(16, "c")
    cache.hear(17, "d")

    assert cache.seen == ("d", "17")


def test_the_end_of_one_that_was_never_heard_of_ends_what_we_wrote_before(cache: Cache) -> None:
    cache.write(11)

    cache.end("b")

    assert cache.seen is None


def test_an_end_that_is_told_late_does_not_hide_what_came_after(cache: Cache) -> None:
    ticket = cache.sent()
    cache.write(14, "b")

    cache.end("a", ticket=ticket)

    assert cache.seen == ("b", "14")


def test_nor_what_a_list_has_brought_meanwhile(cache: Cache) -> None:
    ticket = cache.sent()
    cache.hear(14, "b", in_list=True)
    cache.writes.replaced("15", rewound=False)

    cache.end("a", ticket=ticket)
    cache.writes.replaced("16", rewound=False)

    assert cache.seen == ("b", "14")


def test_an_end_that_a_list_may_have_left_out_does_not_hide_what_comes_after(cache: Cache) -> None:
    ticket = cache.sent()
    cache.writes.replaced("15", rewound=False)

    cache.end("a", ticket=ticket)
    cache.hear(16, "b")

    assert cache.seen == ("b", "16")


def test_a_list_from_before_the_end_does_not_bring_back_what_we_deleted(cache: Cache) -> None:
    cache.hear(11)
    cache.end()

    cache.writes.replaced("12", rewound=False)
    cache.writes.replaced("13", rewound=False)

    assert cache.seen is None


def test_a_list_without_what_we_deleted_settles_it(cache: Cache) -> None:
    cache.write(11)
    cache.end()

    cache.writes.replaced("20", rewound=False)

    assert len(cache.writes) == 0


def test_a_list_from_before_its_beginning_does_not_settle_what_we_deleted(cache: Cache) -> None:
    cache.end()

    cache.writes.replaced("11", rewound=False)
    cache.hear(12)
    assert cache.seen is None

    cache.hear_end(13)
    assert cache.seen is None


def test_the_second_list_settles_what_nobody_ever_hears_of(cache: Cache) -> None:
    cache.end()

    cache.writes.replaced("11", rewound=False)
    cache.writes.replaced("12", rewound=False)

    assert len(cache.writes) == 0


def test_a_rewound_history_is_shown_as_it_is(cache: Cache) -> None:
    cache.hear(11)
    cache.write(15)
    ticket = cache.sent()

    cache.hear(5, in_list=True)
    cache.writes.replaced("6", rewound=True)
    assert cache.seen == ("a", "5")

    cache.write(16, ticket=ticket)
    assert cache.seen == ("a", "5")
    cache.write(7)
    assert cache.seen == ("a", "7")


def test_a_deletion_from_another_history_hides_nothing(cache: Cache) -> None:
    ticket = cache.sent()
    cache.hear(5, in_list=True)
    cache.writes.replaced("6", rewound=True)

    cache.end(ticket=ticket)

    assert cache.seen == ("a", "5")


def test_versions_that_are_no_numbers_are_never_laid_over(cache: Cache) -> None:
    before_any_list = Cache()
    before_any_list.writes.position = "0"

    for each in (cache, before_any_list):
        each.write("opaque")

        assert each.seen is None
        assert len(each.writes) == 0


def test_where_some_are_heard_of_what_we_took_out_is_gone_at_once(limited: Cache) -> None:
    limited.hear(11)

    limited.write(12, belongs=False)
    assert limited.seen is None

    limited.write(13)
    assert limited.seen == ("a", "13")


def test_where_some_are_heard_of_leaving_is_not_the_end(limited: Cache) -> None:
    limited.hear(11)
    limited.end()

    limited.hear_end(12)  # It left, and came back before we deleted it.
    limited.hear(13)

    assert limited.seen is None


def test_nor_is_having_left_while_the_answer_was_on_its_way(limited: Cache) -> None:
    limited.hear(11)
    ticket = limited.sent()
    limited.hear_end(12)

    limited.end(ticket=ticket)
    limited.hear(13)

    assert limited.seen is None


def test_where_some_are_heard_of_the_end_of_another_ends_what_was_known_before(
    limited: Cache,
) -> None:
    limited.hear(11)

    limited.end("b")

    assert limited.seen is None


def test_where_some_are_heard_of_what_we_wrote_last_may_not_be_the_last_state(
    limited: Cache,
) -> None:
    limited.write(11, belongs=True)
    limited.end()

    limited.writes.reached("12")
    limited.hear(13)  # A stranger had changed it before we deleted it.

    assert limited.seen is None


def test_an_object_whose_last_version_is_past_is_not_kept_in_mind(limited: Cache) -> None:
    limited.end(version="9")

    assert len(limited.writes) == 0


def test_an_object_whose_last_version_is_to_come_is_kept_in_mind_until_then(limited: Cache) -> None:
    limited.end(version="15")
    assert len(limited.writes) == 1

    limited.writes.reached("16")

    assert len(limited.writes) == 0


def test_of_what_is_never_heard_of_only_so_much_is_kept_in_mind(limited: Cache) -> None:
    for number in range(UNSURE_LIMIT + 50):
        with Ticket(limited.flights) as ticket:
            limited.writes.ended(ObjectKey("default", f"web-{number}"), f"uid-{number}", "", ticket)

    assert len(limited.writes) == UNSURE_LIMIT


def test_where_only_the_server_knows_what_is_there_already_is_laid_over(selected: Cache) -> None:
    selected.hear(11)

    selected.write(12)

    assert selected.seen == ("a", "12")


def test_where_only_the_server_knows_what_is_new_waits_and_its_past_is_not_shown(
    selected: Cache,
) -> None:
    selected.write(12)
    selected.write(14)
    assert selected.seen is None

    selected.hear(12)
    assert selected.seen is None

    selected.hear(14)
    assert selected.seen == ("a", "14")


@pytest.mark.parametrize("end", [Cache.end, lambda _: None])
def test_where_only_the_server_knows_another_of_the_name_is_new(
    selected: Cache, end: Callable[[Cache], None]
) -> None:
    selected.hear(11)
    end(selected)

    selected.write(13, "b")

    assert selected.seen is None


def test_what_nobody_can_read_any_more_stays_as_we_wrote_it(cache: Cache) -> None:
    cache.hear(11)
    cache.write(12)

    cache.writes.heard_misfit(WEB, "a")
    cache.writes.reached("13")

    assert cache.seen == ("a", "12")
    assert len(cache.writes) == 0


def test_another_that_nobody_can_read_takes_the_place_of_what_we_wrote(cache: Cache) -> None:
    cache.write(12)
    cache.writes.heard_misfit(WEB, "a")
    cache.writes.reached("13")

    cache.writes.heard_misfit(WEB, "b")

    assert cache.seen is None


def test_another_that_nobody_can_read_takes_the_place_of_what_was_heard(cache: Cache) -> None:
    cache.hear(11)
    cache.write(12)

    cache.writes.heard_misfit(WEB, "b")
    cache.writes.reached("14")

    assert cache.seen is None


def test_before_the_first_list_our_writes_are_kept() -> None:
    cache = Cache()
    cache.writes.position = "0"

    cache.write(12)
    cache.writes.replaced("11", rewound=False)

    assert cache.seen == ("a", "12")


def test_no_ticket_is_left(cache: Cache) -> None:
    with Ticket(cache.flights):
        assert len(cache.flights) == 1

    assert len(cache.flights) == 0
