"""Moments are parsed strictly, stored in UTC, and printed as in Kubernetes."""

import copy
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadValue
from steersman.units import MicroTime, format_micro_time, format_time, parse_time
from tests.unit.units.facts import known

REFERENCE = datetime(2006, 1, 2, 15, 4, 5, tzinfo=UTC)

zones = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)  # noqa: DTZ001


@pytest.mark.parametrize(("text", "printed"), known("times"))
def test_a_moment_is_parsed_as_in_kubernetes(text: str, printed: str | None) -> None:
    if printed is None:
        with pytest.raises(BadValue):
            parse_time(text)
        return

    assert format_time(parse_time(text)) == printed


@given(moments)
def test_a_moment_is_always_in_utc_and_a_naive_datetime_is_rejected(moment: datetime) -> None:
    naive = moment.replace(tzinfo=None)

    assert parse_time(moment.isoformat()).tzinfo is UTC
    assert MicroTime.of(moment).tzinfo is UTC
    for refuse in (format_time, format_micro_time, MicroTime.of):
        with pytest.raises(BadValue, match="it must be a datetime with a tzinfo"):
            refuse(naive)


@given(moments)
def test_a_moment_round_trips_through_text(moment: datetime) -> None:
    assert parse_time(format_micro_time(moment)) == moment
    assert parse_time(format_time(moment)) == moment.astimezone(UTC).replace(microsecond=0)


def test_a_time_is_printed_to_the_second_and_a_micro_time_to_six_digits() -> None:
    moment = REFERENCE + timedelta(microseconds=120000)

    assert format_time(moment) == "2006-01-02T15:04:05Z"
    assert format_micro_time(moment) == "2006-01-02T15:04:05.120000Z"
    assert format_micro_time(REFERENCE) == "2006-01-02T15:04:05.000000Z"
    assert format_time(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


def test_digits_beyond_the_microsecond_are_dropped() -> None:
    assert parse_time("2006-01-02T15:04:05.999999999Z").microsecond == 999999


@pytest.mark.parametrize("text", ["2006-01-02T15:04:05,5Z", "2006-01-02T5:04:05Z"])
def test_nonstandard_spellings_are_rejected_although_go_accepts_them(text: str) -> None:
    with pytest.raises(BadValue):
        parse_time(text)


@pytest.mark.parametrize(
    "text",
    ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"],
)
def test_moments_outside_the_years_1_to_9999_are_rejected(text: str) -> None:
    with pytest.raises(BadValue, match="in the years 1 to 9999"):
        parse_time(text)


def test_moments_whose_offset_leads_outside_the_years_1_to_9999_are_rejected() -> None:
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))

    with pytest.raises(BadValue):
        format_time(first)


@pytest.mark.parametrize("value", [None, 0, b"2006-01-02T15:04:05Z", REFERENCE])
def test_only_text_is_parsed_as_a_moment(value: object) -> None:
    with pytest.raises(BadValue, match="is not a time"):
        parse_time(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("value", [None, 0, "2006-01-02T15:04:05Z", REFERENCE.date()])
def test_only_a_datetime_is_printed_as_a_moment(value: object) -> None:
    with pytest.raises(BadValue, match="is not a time"):
        format_time(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@given(moments)
def test_a_micro_time_equals_its_datetime(moment: datetime) -> None:
    micro = MicroTime.of(moment)

    assert micro == moment
    assert hash(micro) == hash(moment)
    assert MicroTime.of(micro) == micro


def test_arithmetic_with_a_micro_time_returns_a_micro_time() -> None:
    micro = MicroTime.of(REFERENCE)
    later = micro + timedelta(seconds=15)

    assert type(later) is MicroTime
    assert later - micro == timedelta(seconds=15)
    assert later > REFERENCE
    assert type(copy.deepcopy(micro)) is MicroTime
    assert type(micro.replace(microsecond=5)) is MicroTime
    assert format_micro_time(later) == "2006-01-02T15:04:20.000000Z"
