"""Where a reflector stands, for all that it can hear."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import SteersmanError
from steersman.watch.position import (
    Begun,
    Broke,
    Collecting,
    Confirmed,
    Ended,
    Gone,
    Heard,
    Listed,
    MayWatch,
    Missing,
    MustList,
    MustProbe,
    Position,
    Told,
    TooLarge,
    advance,
    follow,
    meaning_of,
)
from steersman.watch.versions import is_older
from tests.unit.watch.errors import DROPPED, EXPIRED, FORBIDDEN, MISSING, TOO_LARGE, UNAVAILABLE

LIMIT = 3

NEW = MustList()
KNOWN = MustList("7", why="expired")
MIDDLE = Collecting(KNOWN)
UNSURE = MustProbe("7")
FINE = MayWatch("7")

TABLE: list[tuple[Position, Heard, Position]] = [
    (NEW, Listed("5"), MayWatch("5")),
    (NEW, Begun(), Collecting(NEW)),
    (NEW, Told("5"), NEW),
    (NEW, Confirmed(), NEW),
    (NEW, Ended(), NEW),
    (NEW, Broke(), NEW),
    (NEW, Gone(), MustList(why="expired")),
    (NEW, TooLarge(), MustList(behind=1, why="behind")),
    (NEW, Missing(), MustList(missing=1, why="missing")),
    (KNOWN, Listed("8"), MayWatch("8")),
    (KNOWN, Listed("7"), MayWatch("7")),
    (KNOWN, Listed("6"), MustList("7", behind=1, why="behind")),
    (KNOWN, Listed("odd"), MayWatch("odd")),
    (KNOWN, Begun(), MIDDLE),
    (KNOWN, Told("9"), KNOWN),
    (KNOWN, Confirmed(), KNOWN),
    (KNOWN, Ended(), KNOWN),
    (KNOWN, Broke(), KNOWN),
    (KNOWN, Gone(), KNOWN),
    (KNOWN, TooLarge(), MustList("7", behind=1, why="behind")),
    (KNOWN, Missing(), MustList("7", missing=1, why="missing")),
    (MustList("7", behind=2), Listed("6"), MustList("7", behind=3, why="behind")),
    (MustList("7", behind=3), Listed("6"), MayWatch("6")),
    (MustList("7", behind=3), Broke(), MustList("7", behind=3)),
    (MustList("7", missing=2), Missing(), MustList("7", missing=3, why="missing")),
    (MustList("7", missing=2), Broke(), MustList("7")),
    (MIDDLE, Listed("8"), MayWatch("8")),
    (MIDDLE, Listed("6"), MustList("7", behind=1, why="behind")),
    (MIDDLE, Begun(), MIDDLE),
    (MIDDLE, Told("8"), MIDDLE),
    (MIDDLE, Confirmed(), MIDDLE),
    (MIDDLE, Ended(), KNOWN),
    (MIDDLE, Broke(), KNOWN),
    (MIDDLE, Gone(), KNOWN),
    (MIDDLE, TooLarge(), MustList("7", behind=1, why="behind")),
    (MIDDLE, Missing(), MustList("7", missing=1, why="missing")),
    (UNSURE, Listed("8"), MayWatch("8")),
    (UNSURE, Begun(), UNSURE),
    (UNSURE, Told("8"), UNSURE),
    (UNSURE, Confirmed(), FINE),
    (UNSURE, Ended(), UNSURE),
    (UNSURE, Broke(), UNSURE),
    (UNSURE, Gone(), KNOWN),
    (UNSURE, TooLarge(), MustProbe("7", behind=1)),
    (MustProbe("7", behind=1), Broke(), MustProbe("7", behind=1)),
    (MustProbe("7", behind=2), TooLarge(), MustList("7", behind=3, why="behind")),
    (UNSURE, Missing(), MustList("7", missing=1, why="missing")),
    (FINE, Listed("8"), MayWatch("8")),
    (FINE, Begun(), FINE),
    (FINE, Told("8"), MayWatch("8")),
    (FINE, Told("7"), FINE),
    (FINE, Told(""), FINE),
    (FINE, Told("10"), MayWatch("10")),
    (FINE, Told("6"), MustList("7", why="out of order")),
    (FINE, Confirmed(), FINE),
    (FINE, Ended(), UNSURE),
    (FINE, Broke(), UNSURE),
    (FINE, Gone(), KNOWN),
    (FINE, TooLarge(), MustProbe("7", behind=1)),
    (FINE, Missing(), MustList("7", missing=1, why="missing")),
]

# Every kind of position meets everything that can be heard.
assert {(type(position), type(heard)) for position, heard, _ in TABLE} == {
    (position, heard) for position in get_args(Position) for heard in get_args(Heard)
}


@pytest.mark.parametrize(("position", "heard", "after"), TABLE)
def test_what_is_heard_leads_from_one_position_to_the_next(
    position: Position, heard: Heard, after: Position
) -> None:
    assert advance(position, heard, too_large_limit=LIMIT) == after


VERSIONS = st.integers(min_value=1, max_value=30).map(str)
HEARD: st.SearchStrategy[Heard] = st.one_of(
    st.builds(Listed, VERSIONS),
    st.builds(Told, VERSIONS),
    *(st.builds(each) for each in (Begun, Confirmed, Ended, Broke, Gone, TooLarge, Missing)),
)
STORIES = st.lists(HEARD, max_size=40)


def reached(position: Position) -> str:
    """The version that the sink has been told of."""
    match position:
        case MayWatch(version) | MustProbe(version):
            return version
        case MustList(seen=seen) | Collecting(MustList(seen=seen)):
            return seen


def behind(position: Position) -> int:
    return position.behind if isinstance(position, MustList | MustProbe) else 0


def steps(story: list[Heard]) -> list[tuple[Position, Heard, Position]]:
    positions: list[Position] = [MustList()]
    for heard in story:
        positions.append(advance(positions[-1], heard, too_large_limit=LIMIT))
    return list(zip(positions, story, positions[1:], strict=False))


@given(STORIES)
def test_the_position_never_goes_back_within_one_history(story: list[Heard]) -> None:
    for before, _, after in steps(story):
        if is_older(reached(after), reached(before)):
            # Another history: the server had said often enough that it had not got so far.
            base = before.before if isinstance(before, Collecting) else before
            assert behind(base) >= LIMIT


@given(STORIES)
def test_nothing_that_is_told_among_initial_events_is_a_place_to_resume_from(
    story: list[Heard],
) -> None:
    for before, heard, after in steps(story):
        if isinstance(before, Collecting) and not isinstance(heard, Listed):
            assert not isinstance(after, MayWatch | MustProbe)


@given(STORIES)
def test_what_the_server_has_forgotten_is_always_listed_again(story: list[Heard]) -> None:
    (*_, (_, _, after)) = steps([*story, Gone()])

    assert isinstance(after, MustList)


@given(STORIES)
def test_a_watch_is_resumed_only_from_what_has_been_told(story: list[Heard]) -> None:
    told = {""}
    for _, heard, after in steps(story):
        if isinstance(heard, Listed | Told):
            told.add(heard.version)
        assert reached(after) in told


@given(STORIES, VERSIONS)
def test_lists_lead_to_a_watch_from_anywhere_however_old_they_are(
    story: list[Heard], version: str
) -> None:
    after = MustList() if not story else steps(story)[-1][2]
    for _ in range(LIMIT + 1):
        after = advance(after, Listed(version), too_large_limit=LIMIT)

    assert isinstance(after, MayWatch)


@given(STORIES)
def test_a_server_that_knows_our_version_is_watched_without_a_list(story: list[Heard]) -> None:
    for before, heard, after in steps([*story, Broke(), Confirmed()])[-1:]:
        if isinstance(before, MustProbe):
            assert (heard, after) == (Confirmed(), MayWatch(before.version))


@pytest.mark.parametrize(
    ("error", "heard"),
    [
        (EXPIRED, Gone()),
        (TOO_LARGE, TooLarge()),
        (MISSING, Missing()),
        (FORBIDDEN, Broke()),
        (UNAVAILABLE, Broke()),
        (DROPPED, Broke()),
    ],
)
def test_an_error_means_something_for_the_story(error: SteersmanError, heard: Heard) -> None:
    assert meaning_of(error) == heard


@pytest.mark.parametrize("version", [str(2**63 - 1), "9" * 400, "10000108"])
def test_a_version_from_the_far_future_is_not_gone_on_from(version: str) -> None:
    after = follow(MayWatch("107"), version)

    assert after == MustList("107", why="out of order")
    # If it is true, the list says so; and if it is not, what is known is gone on from.
    assert advance(after, Listed(version), too_large_limit=3) == MayWatch(version)
    assert advance(after, Listed("108"), too_large_limit=3) == MayWatch("108")
