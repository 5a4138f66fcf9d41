"""Text of any length from an untrusted source cannot block the parser."""

from collections.abc import Callable

import pytest

from steersman.errors import BadValue
from steersman.units import Quantity, parse_duration, parse_time, scaled

LONG = 200_000


def percentage(text: str) -> int:
    return scaled(text, 10, round_up=True)


# A parser that tries every split of such text exceeds the time limit of the test.
@pytest.mark.parametrize(
    ("read", "text"),
    [
        (Quantity, "0" * LONG + "!"),
        (Quantity, "1" * LONG),
        (Quantity, "." + "0" * LONG),
        (Quantity, "1e" + "0" * LONG),
        (Quantity, "1" + "E" * LONG),
        (parse_duration, "0" * LONG + "!"),
        (parse_duration, "1" * LONG + "s"),
        (parse_duration, "1m" * LONG + "!"),
        (parse_duration, "1." + "0" * LONG),
        (parse_time, "2006-01-02T15:04:05." + "9" * LONG),
        (parse_time, "2" * LONG),
        (percentage, "0" * LONG + "%"),
    ],
    ids=lambda value: value[:8] + "…" + value[-3:] if isinstance(value, str) else value.__name__,
)
def test_text_of_any_length_is_parsed_or_rejected_in_time_proportional_to_its_length(
    read: Callable[[str], object], text: str
) -> None:
    with pytest.raises(BadValue) as caught:
        read(text)

    assert len(str(caught.value)) < 500


def test_well_formed_long_text_is_parsed() -> None:
    assert Quantity("0" * LONG + "1").as_int() == 1
    assert parse_duration("0" * LONG + "1s") == 1.0
    assert parse_duration("0." + "0" * LONG + "1h") == 0.0
    assert parse_duration("0." + "3" * LONG + "s") == 0.333333333
    assert parse_time("2006-01-02T15:04:05." + "9" * LONG + "Z").microsecond == 999999
