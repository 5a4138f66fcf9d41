"""IntOrString: a number, or a percentage of a total."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadValue
from steersman.units import scaled
from tests.unit.units.facts import known


@pytest.mark.parametrize(("value", "total", "round_up", "expected"), known("percents"))
def test_a_percentage_is_scaled_as_kubernetes_scales_it(
    value: str, total: int, round_up: bool, expected: int | None
) -> None:
    if expected is None:
        with pytest.raises(BadValue):
            scaled(value, total, round_up=round_up)
        return

    assert scaled(value, total, round_up=round_up) == expected


@given(st.integers(), st.integers(), st.booleans())
def test_a_number_is_not_scaled(number: int, total: int, round_up: bool) -> None:
    assert scaled(number, total, round_up=round_up) == number


@given(st.integers(0, 10**6), st.integers(0, 10**18))
def test_rounding_up_and_down_enclose_the_exact_value(percent: int, total: int) -> None:
    low = scaled(f"{percent}%", total, round_up=False)
    high = scaled(f"{percent}%", total, round_up=True)

    assert low * 100 <= percent * total <= high * 100
    assert high - low <= 1


@pytest.mark.parametrize("value", [None, True, 2.5, b"25%"])
def test_only_an_int_or_text_is_accepted(value: object) -> None:
    with pytest.raises(BadValue):
        scaled(value, 4, round_up=True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_the_error_for_an_invalid_percentage_states_the_rule() -> None:
    with pytest.raises(BadValue) as caught:
        scaled("25", 4, round_up=True)

    assert str(caught.value) == (
        "'25' is not a number or a percentage: it must be an int, or a string of digits"
        " and a percent sign, such as '25%'."
    )
