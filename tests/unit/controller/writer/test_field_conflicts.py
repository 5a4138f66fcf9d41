from hypothesis import given
from hypothesis import strategies as st

from steersman.controller.streaks import WINDOW_SECONDS
from steersman.controller.writer.field_conflicts import RepeatedApplies
from steersman.names import ObjectRef

CHILD = ObjectRef("Deployment", "here", "web")


def test_five_applies_of_the_same_body_within_a_minute_are_reported() -> None:
    repeated = RepeatedApplies()

    noted = [repeated.note(CHILD, b"wanted", 10.0 * number) for number in range(5)]

    assert [each.is_due for each in noted] == [False, False, False, False, True]
    assert (noted[-1].count, noted[-1].seconds) == (5, 40.0)


def test_an_occasional_repeated_apply_is_not_reported() -> None:
    repeated = RepeatedApplies()

    noted = [repeated.note(CHILD, b"wanted", 20.0 * number) for number in range(1000)]

    assert not any(each.is_due for each in noted)


def test_a_conflict_that_lasts_for_a_day_is_reported_a_dozen_times() -> None:
    repeated = RepeatedApplies()

    noted = [repeated.note(CHILD, b"wanted", float(second)) for second in range(24 * 3600)]

    reported = [each.count for each in noted if each.is_due]
    assert reported[:4] == [5, 10, 20, 40]
    assert 10 <= len(reported) <= 16


def test_another_body_does_not_count_as_a_repeated_apply() -> None:
    repeated = RepeatedApplies()

    noted = [repeated.note(CHILD, number % 2, float(number)) for number in range(100)]

    assert {each.count for each in noted} == {1}


def test_after_a_quiet_minute_the_count_starts_again() -> None:
    repeated = RepeatedApplies()
    for second in range(5):
        repeated.note(CHILD, b"wanted", float(second))

    again = repeated.note(CHILD, b"wanted", 4.0 + WINDOW_SECONDS + 1)

    assert (again.count, again.seconds, again.is_due) == (1, 0.0, False)


def test_each_object_is_counted_separately() -> None:
    repeated = RepeatedApplies()
    other = ObjectRef("Service", "here", "web")
    for second in range(4):
        repeated.note(CHILD, b"wanted", float(second))

    assert not repeated.note(other, b"wanted", 5.0).is_due
    assert repeated.note(CHILD, b"wanted", 5.0).is_due


@given(st.lists(st.floats(0, 30), max_size=60))
def test_reported_repetitions_are_within_the_window(waits: list[float]) -> None:
    repeated = RepeatedApplies()
    moments = [0.0]
    for wait in waits:
        moments.append(moments[-1] + wait)

    for number, moment in enumerate(moments):
        if repeated.note(CHILD, b"wanted", moment).is_due:
            assert moment - moments[number - 4] <= WINDOW_SECONDS
