"""Equality of JSON values."""

from typing import Any

import pytest

from steersman.units import same_json


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        (False, 0.0),
        ([1, 0], [1, False]),
        ({"a": {"b": [True]}}, {"a": {"b": [1]}}),
    ],
)
def test_a_boolean_never_equals_a_number(one: Any, other: Any) -> None:
    assert one == other  # unlike in Python

    assert not same_json(one, other)
    assert not same_json(other, one)


@pytest.mark.parametrize(
    "value", [None, True, 0, 1.5, "text", [], {}, [True, 1], {"a": [{"b": False}], "c": None}]
)
def test_a_value_equals_itself(value: Any) -> None:
    copy = {"value": value}

    assert same_json(copy, {"value": value})


@pytest.mark.parametrize(
    ("one", "other"), [(1, 2), ("a", "b"), ([1], [1, 1]), ({"a": 1}, {"b": 1}), (None, False)]
)
def test_values_that_differ_are_not_equal(one: Any, other: Any) -> None:
    assert not same_json(one, other)


def test_an_integer_equals_a_float_of_the_same_value() -> None:
    assert same_json({"a": 1}, {"a": 1.0})
