"""The position of a reflector after each input."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import SteersmanError
from steersman.watch.position import (
    Confirmed,
    Ended,
    EventReceived,
    Failed,
    Gone,
    Input,
    ListCompleted,
    MayWatch,
    Missing,
    MustList,
    MustProbe,
    Position,
    Streaming,
    StreamStarted,
    TooLarge,
    advance,
    advance_by_event,
    classify,
)
from steersman.watch.versions import is_older
from tests.unit.watch.errors import DROPPED, EXPIRED, FORBIDDEN, MISSING, TOO_LARGE, UNAVAILABLE

LIMIT = 3

NEW = MustList()
KNOWN = MustList("7", why="expired")
MIDDLE = Streaming(KNOWN)
UNSURE = MustProbe("7")
FINE = MayWatch("7")

TABLE: list[tuple[Position, Input, Position]] = [
    (NEW, ListCompleted("5"), MayWatch("5")),
    (NEW, StreamStarted(), Streaming(NEW)),
    (NEW, EventReceived("5"), NEW),
    (NEW, Confirmed(), NEW),
    (NEW, Ended(), NEW),
    (NEW, Failed(), NEW),
    (NEW, Gone(), MustList(why="expired")),
    (NEW, TooLarge(), MustList(behind=1, why="behind")),
    (NEW, Missing(), MustList(missing=1, why="missing")),
    (KNOWN, ListCompleted("8"), MayWatch("8")),
    (KNOWN, ListCompleted("7"), MayWatch("7")),
    (KNOWN, ListCompleted("6"), MustList("7", behind=1, why="behind")),
    (KNOWN, ListCompleted("odd"), MayWatch("odd")),
    (KNOWN, StreamStarted(), MIDDLE),
    (KNOWN, EventReceived("9"), KNOWN),
    (KNOWN, Confirmed(), KNOWN),
    (KNOWN, Ended(), KNOWN),
    (KNOWN, Failed(), KNOWN),
    (KNOWN, Gone(), KNOWN),
    (KNOWN, TooLarge(), MustList("7", behind=1, why="behind")),
    (KNOWN, Missing(), MustList("7", missing=1, why="missing")),
    (MustList("7", behind=2), ListCompleted("6"), MustList("7", behind=3, why="behind")),
    (MustList("7", behind=3), ListCompleted("6"), MayWatch("6")),
    (MustList("7", behind=3), Failed(), MustList("7", behind=3)),
    (MustList("7", missing=2), Missing(), MustList("7", missing=3, why="missing")),
    (MustList("7", missing=2), Failed(), MustList("7")),
    (MIDDLE, ListCompleted("8"), MayWatch("8")),
    (MIDDLE, ListCompleted("6"), MustList("7", behind=1, why="behind")),
    (MIDDLE, StreamStarted(), MIDDLE),
    (MIDDLE, EventReceived("8"), MIDDLE),
    (MIDDLE, Confirmed(), MIDDLE),
    (MIDDLE, Ended(), KNOWN),
    (MIDDLE, Failed(), KNOWN),
    (MIDDLE, Gone(), KNOWN),
    (MIDDLE, TooLarge(), MustList("7", behind=1, why="behind")),
    (MIDDLE, Missing(), MustList("7", missing=1, why="missing")),
    (UNSURE, ListCompleted("8"), MayWatch("8")),
    (UNSURE, StreamStarted(), UNSURE),
    (UNSURE, EventReceived("8"), UNSURE),
    (UNSURE, Confirmed(), FINE),
    (UNSURE, Ended(), UNSURE),
    (UNSURE, Failed(), UNSURE),
    (UNSURE, Gone(), KNOWN),
    (UNSURE, TooLarge(), MustProbe("7", behind=1)),
    (MustProbe("7", behind=1), Failed(), MustProbe("7", behind=1)),
    (MustProbe("7", behind=2), TooLarge(), MustList("7", behind=3, why="behind")),
    (UNSURE, Missing(), MustList("7", missing=1, why="missing")),
    (FINE, ListCompleted("8"), MayWatch("8")),
    (FINE, StreamStarted(), FINE),
    (FINE, EventReceived("8"), MayWatch("8")),
    (FINE, EventReceived("7"), FINE),
    (FINE, EventReceived(""), FINE),
    (FINE, EventReceived("10"), MayWatch("10")),
    (FINE, EventReceived("6"), MustList("7", why="out of order")),
    (FINE, Confirmed(), FINE),
    (FINE, Ended(), UNSURE),
    (FINE, Failed(), UNSURE),
    (FINE, Gone(), KNOWN),
    (FINE, TooLarge(), MustProbe("7", behind=1)),
    (FINE, Missing(), MustList("7", missing=1, why="missing")),
]

# The table covers every input in every kind of position.
assert {(type(position), type(received)) for position, received, _ in TABLE} == {
    (position, received) for position in get_args(Position) for received in get_args(Input)
}


@pytest.mark.parametrize(("position", "received", "after"), TABLE)
def test_an_input_leads_from_one_position_to_the_next(
    position: Position, received: Input, after: Position
) -> None:
    assert advance(position, received, too_large_limit=LIMIT) == after


VERSIONS = st.integers(min_value=1, max_value=30).map(str)
INPUTS: st.SearchStrategy[Input] = st.one_of(
    st.builds(ListCompleted, VERSIONS),
    st.builds(EventReceived, VERSIONS),
    *(
        st.builds(each)
        for each in (StreamStarted, Confirmed, Ended, Failed, Gone, TooLarge, Missing)
    ),
)
INPUT_LISTS = st.lists(INPUTS, max_size=40)


def reached(position: Position) -> str:
    """The version that a position has reached."""
    match position:
        case MayWatch(version) | MustProbe(version):
            return version
        case MustList(reached=reached) | Streaming(MustList(reached=reached)):
            return reached


def behind(position: Position) -> int:
    return position.behind if isinstance(position, MustList | MustProbe) else 0


def steps(inputs: list[Input]) -> list[tuple[Position, Input, Position]]:
    positions: list[Position] = [MustList()]
    for received in inputs:
        positions.append(advance(positions[-1], received, too_large_limit=LIMIT))
    return list(zip(positions, inputs, positions[1:], strict=False))


@given(INPUT_LISTS)
def test_the_position_never_goes_back_within_one_history(inputs: list[Input]) -> None:
    for before, _, after in steps(inputs):
        if is_older(reached(after), reached(before)):
            # Another history: the server has reported often enough that it is behind this version.
            base = before.before if isinstance(before, Streaming) else before
            assert behind(base) >= LIMIT


@given(INPUT_LISTS)
def test_no_initial_event_is_a_version_to_resume_from(
    inputs: list[Input],
) -> None:
    for before, received, after in steps(inputs):
        if isinstance(before, Streaming) and not isinstance(received, ListCompleted):
            assert not isinstance(after, MayWatch | MustProbe)


@given(INPUT_LISTS)
def test_an_expired_version_always_leads_to_a_list(inputs: list[Input]) -> None:
    (*_, (_, _, after)) = steps([*inputs, Gone()])

    assert isinstance(after, MustList)


@given(INPUT_LISTS)
def test_a_watch_is_resumed_only_from_a_received_version(inputs: list[Input]) -> None:
    known = {""}
    for _, received, after in steps(inputs):
        if isinstance(received, ListCompleted | EventReceived):
            known.add(received.version)
        assert reached(after) in known


@given(INPUT_LISTS, VERSIONS)
def test_lists_lead_to_a_watch_from_every_position_however_old_they_are(
    inputs: list[Input], version: str
) -> None:
    after = MustList() if not inputs else steps(inputs)[-1][2]
    for _ in range(LIMIT + 1):
        after = advance(after, ListCompleted(version), too_large_limit=LIMIT)

    assert isinstance(after, MayWatch)


@given(INPUT_LISTS)
def test_a_server_that_has_reached_the_version_is_watched_without_a_list(
    inputs: list[Input],
) -> None:
    for before, received, after in steps([*inputs, Failed(), Confirmed()])[-1:]:
        if isinstance(before, MustProbe):
            assert (received, after) == (Confirmed(), MayWatch(before.version))


@pytest.mark.parametrize(
    ("error", "received"),
    [
        (EXPIRED, Gone()),
        (TOO_LARGE, TooLarge()),
        (MISSING, Missing()),
        (FORBIDDEN, Failed()),
        (UNAVAILABLE, Failed()),
        (DROPPED, Failed()),
    ],
)
def test_every_error_is_classified_for_the_position(error: SteersmanError, received: Input) -> None:
    assert classify(error) == received


@pytest.mark.parametrize("version", [str(2**63 - 1), "9" * 400, "10000108"])
def test_a_watch_never_resumes_from_a_version_far_ahead(version: str) -> None:
    after = advance_by_event(MayWatch("107"), version)

    assert after == MustList("107", why="out of order")
    # If the version exists, the list returns it; otherwise the watch resumes from the known one.
    assert advance(after, ListCompleted(version), too_large_limit=3) == MayWatch(version)
    assert advance(after, ListCompleted("108"), too_large_limit=3) == MayWatch("108")
