import json
from typing import Any

import pytest

from steersman.controller.loop.hot_loop import (
    HotLoopFound,
    HotLoops,
)
from steersman.controller.streaks import WINDOW_SECONDS
from steersman.controller.writer.field_conflicts import RepeatedApplies
from steersman.controller.writer.reports import EffectiveWrite
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ReconcileReason

WEB = ObjectKey("here", "web")
CHILD = ObjectRef("Deployment", "here", "web")
ITSELF = ObjectRef("App", "here", "web")


class Operator:
    """Reconciles one object, and records each reconcile; each write has a new version."""

    def __init__(self) -> None:
        self.loops = HotLoops()
        self.version = 100
        self.now_at = 0.0
        self.found: list[HotLoopFound] = []

    def write(self, ref: ObjectRef = ITSELF, body: Any = None) -> EffectiveWrite:
        self.version += 1
        encoded = None if body is None else json.dumps(body).encode()
        return EffectiveWrite(ref, str(self.version), encoded)

    def reconcile(
        self, reasons: list[ReconcileReason], *wrote: EffectiveWrite, took_seconds: float = 1.0
    ) -> None:
        self.now_at += took_seconds
        found = self.loops.note(WEB, reasons=reasons, wrote=wrote, now_at=self.now_at)
        if found is not None:
            self.found.append(found)

    def loop(self, times: int, **rest: Any) -> None:
        reasons = [ReconcileReason(about=ITSELF, event="added", version="1")]
        for number in range(times):
            wrote = self.write(body={"status": {"checked": number, "same": 1}})
            self.reconcile(reasons, wrote, **rest)
            reasons = [echo(wrote)]


def echo(wrote: EffectiveWrite) -> ReconcileReason:
    return ReconcileReason(about=wrote.ref, event="updated", version=wrote.version)


def test_a_controller_that_triggers_itself_is_reported_with_the_field() -> None:
    operator = Operator()

    operator.loop(11)

    assert operator.found == [HotLoopFound(("status.checked",), 10, 9.0)]


def test_a_loop_of_hours_is_reported_ten_times() -> None:
    operator = Operator()

    operator.loop(10_000)

    counts = [each.count for each in operator.found]
    assert counts == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120]
    assert all(each.fields == ("status.checked",) for each in operator.found)


def test_a_slow_loop_is_not_reported() -> None:
    operator = Operator()

    operator.loop(100, took_seconds=10.0)

    assert operator.found == []


def test_a_rollout_is_not_a_loop() -> None:
    operator = Operator()
    wrote = operator.write(CHILD)
    operator.reconcile([ReconcileReason(about=ITSELF, event="added", version="1")], wrote)

    for ready in range(50):
        # Another controller writes the child's status, from which the owner's status is computed.
        foreign = operator.write(CHILD)
        reasons = [echo(wrote), echo(foreign)]
        wrote = operator.write(ITSELF, {"status": {"ready": ready}})
        operator.reconcile(reasons, wrote, took_seconds=0.1)

    assert operator.found == []


def test_a_change_by_another_client_resets_the_count() -> None:
    operator = Operator()

    operator.loop(10)
    operator.reconcile(
        [ReconcileReason(about=ITSELF, event="updated", version="9999")], operator.write()
    )
    operator.loop(10)

    assert operator.found == []


def test_a_reconcile_that_writes_nothing_ends_the_loop() -> None:
    operator = Operator()
    operator.loop(10)

    operator.reconcile(
        [ReconcileReason(about=ITSELF, event="updated", version=str(operator.version))]
    )
    operator.reconcile(
        [ReconcileReason(about=ITSELF, event="updated", version="101")], operator.write()
    )

    assert operator.found == []
    operator.reconcile([])
    assert len(operator.loops) == 0


@pytest.mark.parametrize("event", ["later", "retry", "timer", "stream"])
def test_a_reconcile_with_another_reason_is_not_a_loop(event: str) -> None:
    operator = Operator()
    wrote = operator.write()

    for _ in range(50):
        operator.reconcile(
            [echo(wrote), ReconcileReason(about=None, event=event)], wrote, took_seconds=0.1
        )
        wrote = operator.write()

    assert operator.found == []


def test_a_reconcile_without_a_reason_is_not_a_loop() -> None:
    operator = Operator()

    for _ in range(50):
        operator.reconcile([], operator.write())

    assert operator.found == []


def test_a_child_that_is_repeatedly_deleted_and_created_is_a_loop() -> None:
    operator = Operator()
    reasons = [ReconcileReason(about=ITSELF, event="added", version="1")]
    for _ in range(11):
        deleted, made = EffectiveWrite(CHILD, ""), operator.write(CHILD, {"spec": 1})
        operator.reconcile(reasons, deleted, made)
        # Only the watch has the version of a deletion.
        reasons = [ReconcileReason(about=CHILD, event="deleted", version="7777"), echo(made)]

    assert [each.count for each in operator.found] == [10]


def test_a_late_event_of_an_own_write_counts_as_own() -> None:
    operator = Operator()
    before = operator.write(CHILD, {"spec": 0})
    operator.reconcile([ReconcileReason(about=ITSELF, event="added", version="1")], before)
    wrote = operator.write(ITSELF, {"status": 0})
    operator.reconcile([ReconcileReason(about=ITSELF, event="updated", version="2")], wrote)

    for number in range(10):
        reasons = [echo(before), echo(wrote)]
        before, wrote = wrote, operator.write(ITSELF, {"status": number})
        operator.reconcile(reasons, wrote)

    assert [(each.fields, each.count) for each in operator.found] == [(("status",), 10)]


def test_fields_of_several_objects_are_named_together() -> None:
    operator = Operator()
    reasons = [ReconcileReason(about=ITSELF, event="added", version="1")]
    for number in range(11):
        wrote = [
            operator.write(CHILD, {"spec": {"at": number}}),
            operator.write(ITSELF, {"status": {"at": number}}),
        ]
        operator.reconcile(reasons, *wrote)
        reasons = [echo(each) for each in wrote]

    assert operator.found[0].fields == ("spec.at", "status.at")


def test_a_body_that_is_not_json_has_no_fields() -> None:
    operator = Operator()
    reasons = [ReconcileReason(about=ITSELF, event="added", version="1")]
    for number in range(11):
        wrote = EffectiveWrite(ITSELF, str(number), b"\xff%d" % number)
        operator.reconcile(reasons, wrote)
        reasons = [echo(wrote)]

    assert operator.found == [HotLoopFound((), 10, 9.0)]


def test_nothing_is_stored_for_quiet_keys() -> None:
    loops, repeated = HotLoops(), RepeatedApplies()
    for number in range(5000):
        key = ObjectKey("here", str(number))
        loops.note(key, reasons=(), wrote=[EffectiveWrite(ITSELF, str(number))], now_at=number / 10)
        repeated.note(key, b"wanted", number / 10)

    # One window, at ten writes a second.
    assert len(loops) <= WINDOW_SECONDS * 10 + 1
    assert len(repeated) <= WINDOW_SECONDS * 10 + 1
    loops.forget(ObjectKey("here", "4999"))
    repeated.forget(ObjectKey("here", "4999"))
    assert len(loops) == len(repeated) == WINDOW_SECONDS * 10


def test_only_the_last_writes_of_a_key_are_stored() -> None:
    operator = Operator()
    reasons: list[ReconcileReason] = []
    for number in range(15):
        children = [ObjectRef("Pod", "here", str(each)) for each in range(500)]
        wrote = [operator.write(child, {"spec": number}) for child in children]
        operator.reconcile(reasons, *wrote)
        reasons = [echo(each) for each in wrote[-8:]]

    assert operator.found[0].fields == ("spec",)
