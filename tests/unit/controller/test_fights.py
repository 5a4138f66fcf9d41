import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.controller.fights import (
    WINDOW_SECONDS,
    Corrections,
    HotLoopFound,
    HotLoops,
    Wrote,
)
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import Why

WEB = ObjectKey("here", "web")
CHILD = ObjectRef("Deployment", "here", "web")
ITSELF = ObjectRef("App", "here", "web")


# Corrections


def test_putting_the_same_back_five_times_within_a_minute_is_told() -> None:
    corrections = Corrections()

    noted = [corrections.note(CHILD, b"wanted", 10.0 * number) for number in range(5)]

    assert [each.is_due for each in noted] == [False, False, False, False, True]
    assert (noted[-1].count, noted[-1].seconds) == (5, 40.0)


def test_putting_it_back_now_and_then_is_not() -> None:
    corrections = Corrections()

    noted = [corrections.note(CHILD, b"wanted", 20.0 * number) for number in range(1000)]

    assert not any(each.is_due for each in noted)


def test_a_fight_that_lasts_for_a_day_is_told_a_dozen_times() -> None:
    corrections = Corrections()

    noted = [corrections.note(CHILD, b"wanted", float(second)) for second in range(24 * 3600)]

    told = [each.count for each in noted if each.is_due]
    assert told[:4] == [5, 10, 20, 40]
    assert 10 <= len(told) <= 16


def test_wanting_something_else_is_no_correction() -> None:
    corrections = Corrections()

    noted = [corrections.note(CHILD, number % 2, float(number)) for number in range(100)]

    assert {each.count for each in noted} == {1}


def test_after_a_minute_of_peace_the_next_fight_begins_from_the_start() -> None:
    corrections = Corrections()
    for second in range(5):
        corrections.note(CHILD, b"wanted", float(second))

    again = corrections.note(CHILD, b"wanted", 4.0 + WINDOW_SECONDS + 1)

    assert (again.count, again.seconds, again.is_due) == (1, 0.0, False)


def test_each_object_is_fought_over_apart() -> None:
    corrections = Corrections()
    other = ObjectRef("Service", "here", "web")
    for second in range(4):
        corrections.note(CHILD, b"wanted", float(second))

    assert not corrections.note(other, b"wanted", 5.0).is_due
    assert corrections.note(CHILD, b"wanted", 5.0).is_due


@given(st.lists(st.floats(0, 30), max_size=60))
def test_what_is_told_happened_within_the_window(waits: list[float]) -> None:
    corrections = Corrections()
    moments = [0.0]
    for wait in waits:
        moments.append(moments[-1] + wait)

    for number, moment in enumerate(moments):
        if corrections.note(CHILD, b"wanted", moment).is_due:
            assert moment - moments[number - 4] <= WINDOW_SECONDS


# Hot loops


class Operator:
    """Reconciles one object, and notes each reconcile; versions go on with each write."""

    def __init__(self) -> None:
        self.loops = HotLoops()
        self.version = 100
        self.now_at = 0.0
        self.found: list[HotLoopFound] = []

    def write(self, ref: ObjectRef = ITSELF, body: Any = None) -> Wrote:
        self.version += 1
        encoded = None if body is None else json.dumps(body).encode()
        return Wrote(ref, str(self.version), encoded)

    def reconcile(self, whys: list[Why], *wrote: Wrote, took_seconds: float = 1.0) -> None:
        self.now_at += took_seconds
        found = self.loops.note(WEB, whys=whys, wrote=wrote, now_at=self.now_at)
        if found is not None:
            self.found.append(found)

    def loop(self, times: int, **rest: Any) -> None:
        whys = [Why(about=ITSELF, event="added", version="1")]
        for number in range(times):
            wrote = self.write(body={"status": {"checked": number, "same": 1}})
            self.reconcile(whys, wrote, **rest)
            whys = [echo(wrote)]


def echo(wrote: Wrote) -> Why:
    return Why(about=wrote.ref, event="updated", version=wrote.version)


def test_an_operator_that_keeps_waking_itself_is_told_with_the_field() -> None:
    operator = Operator()

    operator.loop(11)

    assert operator.found == [HotLoopFound(("status.checked",), 10, 9.0)]


def test_a_loop_of_hours_is_told_ten_times() -> None:
    operator = Operator()

    operator.loop(10_000)

    counts = [each.count for each in operator.found]
    assert counts == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120]
    assert all(each.fields == ("status.checked",) for each in operator.found)


def test_a_slow_loop_is_not_told() -> None:
    operator = Operator()

    operator.loop(100, took_seconds=10.0)

    assert operator.found == []


def test_a_rollout_is_no_loop() -> None:
    operator = Operator()
    wrote = operator.write(CHILD)
    operator.reconcile([Why(about=ITSELF, event="added", version="1")], wrote)

    for ready in range(50):
        # The child's status is somebody else's write, and our own status follows it.
        foreign = operator.write(CHILD)
        whys = [echo(wrote), echo(foreign)]
        wrote = operator.write(ITSELF, {"status": {"ready": ready}})
        operator.reconcile(whys, wrote, took_seconds=0.1)

    assert operator.found == []


def test_a_change_from_outside_begins_the_count_anew() -> None:
    operator = Operator()

    operator.loop(10)
    operator.reconcile([Why(about=ITSELF, event="updated", version="9999")], operator.write())
    operator.loop(10)

    assert operator.found == []


def test_a_reconcile_that_writes_nothing_ends_the_loop() -> None:
    operator = Operator()
    operator.loop(10)

    operator.reconcile([Why(about=ITSELF, event="updated", version=str(operator.version))])
    operator.reconcile([Why(about=ITSELF, event="updated", version="101")], operator.write())

    assert operator.found == []
    operator.reconcile([])
    assert len(operator.loops) == 0


@pytest.mark.parametrize("event", ["later", "retry", "timer", "stream"])
def test_what_is_woken_by_anything_else_as_well_is_no_loop(event: str) -> None:
    operator = Operator()
    wrote = operator.write()

    for _ in range(50):
        operator.reconcile([echo(wrote), Why(about=None, event=event)], wrote, took_seconds=0.1)
        wrote = operator.write()

    assert operator.found == []


def test_a_reconcile_that_knows_no_reason_is_no_loop() -> None:
    operator = Operator()

    for _ in range(50):
        operator.reconcile([], operator.write())

    assert operator.found == []


def test_a_child_deleted_and_made_anew_over_and_over_is_a_loop() -> None:
    operator = Operator()
    whys = [Why(about=ITSELF, event="added", version="1")]
    for _ in range(11):
        deleted, made = Wrote(CHILD, ""), operator.write(CHILD, {"spec": 1})
        operator.reconcile(whys, deleted, made)
        # What the version of a deletion is, only the watch tells.
        whys = [Why(about=CHILD, event="deleted", version="7777"), echo(made)]

    assert [each.count for each in operator.found] == [10]


def test_an_echo_that_comes_late_is_still_our_own() -> None:
    operator = Operator()
    before = operator.write(CHILD, {"spec": 0})
    operator.reconcile([Why(about=ITSELF, event="added", version="1")], before)
    wrote = operator.write(ITSELF, {"status": 0})
    operator.reconcile([Why(about=ITSELF, event="updated", version="2")], wrote)

    for number in range(10):
        whys = [echo(before), echo(wrote)]
        before, wrote = wrote, operator.write(ITSELF, {"status": number})
        operator.reconcile(whys, wrote)

    assert [(each.fields, each.count) for each in operator.found] == [(("status",), 10)]


def test_fields_of_several_objects_are_named_together() -> None:
    operator = Operator()
    whys = [Why(about=ITSELF, event="added", version="1")]
    for number in range(11):
        wrote = [
            operator.write(CHILD, {"spec": {"at": number}}),
            operator.write(ITSELF, {"status": {"at": number}}),
        ]
        operator.reconcile(whys, *wrote)
        whys = [echo(each) for each in wrote]

    assert operator.found[0].fields == ("spec.at", "status.at")


def test_bodies_that_are_no_json_have_no_fields() -> None:
    operator = Operator()
    whys = [Why(about=ITSELF, event="added", version="1")]
    for number in range(11):
        wrote = Wrote(ITSELF, str(number), b"\xff%d" % number)
        operator.reconcile(whys, wrote)
        whys = [echo(wrote)]

    assert operator.found == [HotLoopFound((), 10, 9.0)]


def test_of_keys_that_are_quiet_nothing_is_kept() -> None:
    loops, corrections = HotLoops(), Corrections()
    for number in range(5000):
        key = ObjectKey("here", str(number))
        loops.note(key, whys=(), wrote=[Wrote(ITSELF, str(number))], now_at=number / 10)
        corrections.note(key, b"wanted", number / 10)

    # A window's worth, at ten a second.
    assert len(loops) <= WINDOW_SECONDS * 10 + 1
    assert len(corrections) <= WINDOW_SECONDS * 10 + 1
    loops.forget(ObjectKey("here", "4999"))
    corrections.forget(ObjectKey("here", "4999"))
    assert len(loops) == len(corrections) == WINDOW_SECONDS * 10


def test_one_who_writes_very_much_is_known_by_the_last_of_it() -> None:
    operator = Operator()
    whys: list[Why] = []
    for number in range(15):
        children = [ObjectRef("Pod", "here", str(each)) for each in range(500)]
        wrote = [operator.write(child, {"spec": number}) for child in children]
        operator.reconcile(whys, *wrote)
        whys = [echo(each) for each in wrote[-8:]]

    assert operator.found[0].fields == ("spec",)
