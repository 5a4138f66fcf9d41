"""Duration strings are parsed as in Go."""

import pytest

from steersman.units import duration_problem


@pytest.mark.parametrize("text", ["0", "-0", "5s", "1h30m", "1.5h", ".5s", "+3ms", "7µs", "7us"])
def test_a_number_with_a_unit_is_a_duration(text: str) -> None:
    assert duration_problem(text) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", 'invalid duration ""'),
        ("soon", 'invalid duration "soon"'),
        (".s", 'invalid duration ".s"'),
        ("5", 'missing unit in duration "5"'),
        ("5y", 'unknown unit "y" in duration "5y"'),
        ("1h2", 'missing unit in duration "1h2"'),
        ("9999999999h", 'invalid duration "9999999999h"'),
        (f"{'9' * 5000}h", f'invalid duration "{"9" * 5000}h"'),
    ],
)
def test_an_invalid_duration_has_the_error_of_go(text: str, problem: str) -> None:
    assert duration_problem(text) == f"time: {problem}"
