"""Conditions: true, false or unknown, with a reason."""

import pytest

from steersman.kinds import Condition


def test_a_condition_is_created_from_a_boolean() -> None:
    yes = Condition.when(True, "Ready", yes="RolledOut", no="RollingOut", message="3 of 3")
    no = Condition.when(False, "Ready", yes="RolledOut", no="RollingOut")

    assert yes == Condition(type="Ready", status="True", reason="RolledOut", message="3 of 3")
    assert no == Condition(type="Ready", status="False", reason="RollingOut", message="")


@pytest.mark.parametrize(
    ("status", "is_true"), [("True", True), ("False", False), ("Unknown", False)]
)
def test_only_the_status_true_is_true(status: str, is_true: bool) -> None:
    assert Condition(type="Ready", status=status).is_true is is_true


def test_a_condition_is_true_false_or_unknown() -> None:
    made = (
        Condition.true("Ready", reason="Reachable", message="in 3 ms"),
        Condition.false("Ready", reason="Refused"),
        Condition.unknown("Ready", reason="NoAnswer"),
    )

    assert made == (
        Condition(type="Ready", status="True", reason="Reachable", message="in 3 ms"),
        Condition(type="Ready", status="False", reason="Refused", message=""),
        Condition(type="Ready", status="Unknown", reason="NoAnswer", message=""),
    )
