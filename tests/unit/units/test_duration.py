"""Durations are parsed and printed as in Go."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadValue
from steersman.units import format_duration, parse_duration
from tests.unit.units.facts import known

# A float of seconds has nanosecond precision up to eleven days.
ELEVEN_DAYS = 10**15


@pytest.mark.parametrize(("text", "nanos", "printed"), known("durations"))
def test_a_duration_is_parsed_and_printed_as_in_go(
    text: str, nanos: int | None, printed: str
) -> None:
    if nanos is None:
        with pytest.raises(BadValue):
            parse_duration(text)
        return

    seconds = parse_duration(text)

    assert seconds == nanos / 10**9
    assert abs(nanos) >= ELEVEN_DAYS or format_duration(seconds) == printed


@pytest.mark.parametrize(("nanos", "printed"), known("nanos"))
def test_seconds_are_printed_as_in_go(nanos: int, printed: str) -> None:
    assert format_duration(nanos / 10**9) == printed


@given(st.integers(-ELEVEN_DAYS + 1, ELEVEN_DAYS - 1))
def test_a_duration_round_trips_through_text(nanos: int) -> None:
    seconds = nanos / 10**9

    assert parse_duration(format_duration(seconds)) == seconds


@given(st.integers(-292 * 365 * 24, 292 * 365 * 24), st.integers(0, 59), st.integers(0, 59))
def test_whole_seconds_are_exact_over_the_range_of_292_years(
    hours: int, mins: int, secs: int
) -> None:
    seconds = hours * 3600 + mins * 60 + secs

    assert parse_duration(format_duration(seconds)) == seconds


def test_a_duration_is_printed_with_the_shortest_number() -> None:
    assert format_duration(1234567890.123) == "342935h31m30.123s"
    assert format_duration(0.1 + 0.2) == "300ms"
    assert format_duration(5400) == "1h30m0s"
    assert format_duration(-0.0) == "0s"
    assert format_duration(-1e-10) == "0s"


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf, 1e10, -1e300, 10**400])
def test_seconds_that_go_cannot_represent_are_rejected(seconds: float) -> None:
    with pytest.raises(BadValue):
        format_duration(seconds)


@pytest.mark.parametrize("value", [None, 30, 1.5, b"1s"])
def test_only_text_is_parsed_as_a_duration(value: object) -> None:
    with pytest.raises(BadValue, match="is not a duration"):
        parse_duration(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("value", [None, "30", True, b"1"])
def test_only_numbers_are_printed_as_durations(value: object) -> None:
    with pytest.raises(BadValue, match="it must be a finite number of seconds"):
        format_duration(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_the_error_for_an_invalid_duration_states_the_rule() -> None:
    with pytest.raises(BadValue) as caught:
        parse_duration("1 day")

    assert str(caught.value) == (
        "'1 day' is not a duration: it must consist of numbers, each with a unit, such as 300ms,"
        " 1.5h or 1h30m; the units are ns, us, µs, ms, s, m and h."
    )
