"""The action after a reconcile: requeue, event or nothing."""

import pytest

from steersman.controller import Done, Later
from steersman.controller.loop.retry import decide, fingerprint
from steersman.errors import (
    Conflict,
    Forbidden,
    NotLeading,
    Permanent,
    ReconcileTimedOut,
    Unavailable,
    Unreachable,
)
from steersman.kinds import Resource, Unstructured, core_v1, metadata_only, replace
from steersman.kinds.meta_v1 import ObjectMeta
from tests.real.definitions import WidgetStatus, widget

ANSWER = {"wanted": "apply X", "code": 409, "reason": "R", "message": "no"}


def test_done_requeues_nothing() -> None:
    decision = decide(Done(), None, failures=0)

    assert (decision.outcome, decision.is_failure, decision.is_final) == ("done", False, False)


def test_later_without_a_time_waits_for_a_change() -> None:
    assert decide(Later(), None, failures=0).after_seconds is None
    assert decide(Later(after_seconds=30), None, failures=0).after_seconds == 30


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_later_needs_a_positive_finite_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="after_seconds must be a positive number"):
        Later(after_seconds=seconds)


def test_a_permanent_failure_is_final_and_has_an_event() -> None:
    decision = decide(Done(), Permanent("no such image"), failures=0)

    assert decision.is_final
    assert not decision.is_failure
    assert decision.note == ("Permanent", "no such image")


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("gone"),
        Unavailable(**ANSWER),  # type: ignore[arg-type]
        Conflict(**ANSWER),  # type: ignore[arg-type]
        NotLeading(wanted="PATCH /x"),
    ],
)
def test_an_error_that_is_not_about_the_object_records_no_event(error: Exception) -> None:
    decision = decide(Done(), error, failures=0)

    assert decision.is_failure
    assert decision.note is None


def test_repeated_conflicts_record_an_event() -> None:
    decision = decide(Done(), Conflict(**ANSWER), failures=3)  # type: ignore[arg-type]

    assert decision.note is not None
    assert decision.note[0] == "Conflict"


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (Forbidden(**ANSWER), "failed", "Forbidden"),  # type: ignore[arg-type]
        (
            ReconcileTimedOut(controller="c", ref="r", timeout_seconds=1),
            "timed out",
            "ReconcileTimedOut",
        ),
        (KeyError("secret"), "failed", "ReconcileFailed"),
    ],
)
def test_an_error_about_the_object_records_an_event(
    error: Exception, outcome: str, reason: str
) -> None:
    decision = decide(Done(), error, failures=0)

    assert decision.outcome == outcome
    assert decision.note is not None
    assert decision.note[0] == reason
    assert "secret" not in decision.note[1]


def test_a_fingerprint_changes_with_a_label_and_not_with_the_status() -> None:
    before = widget("here", "one")
    with_status = replace(before, status=WidgetStatus(ready=1))
    labelled = replace(before, metadata=replace(before.metadata, labels={"a": "b"}))

    assert fingerprint(before) == fingerprint(with_status)
    assert fingerprint(before) != fingerprint(labelled)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (core_v1.ConfigMap(data={"a": "b"}), core_v1.ConfigMap(data={"a": "c"})),
        (core_v1.ConfigMap(data={"a": "b"}), core_v1.ConfigMap(binary_data={"a": b"b"})),
        (core_v1.Secret(data={"a": b"b"}), core_v1.Secret(data={"a": b"c"})),
        (core_v1.ServiceAccount(), core_v1.ServiceAccount(automount_service_account_token=False)),
        (
            Unstructured({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}),
            Unstructured({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "c"}}),
        ),
        (
            metadata_only(core_v1.Secret)(metadata=ObjectMeta(name="x", resource_version="1")),
            metadata_only(core_v1.Secret)(metadata=ObjectMeta(name="x", resource_version="2")),
        ),
    ],
)
def test_without_a_generation_the_content_is_compared(before: Resource, after: Resource) -> None:
    assert fingerprint(before) == fingerprint(before)
    assert fingerprint(before) != fingerprint(after)


def test_without_a_generation_status_and_other_metadata_do_not_count_as_changes() -> None:
    before = core_v1.Node(metadata=ObjectMeta(name="x", resource_version="1"))
    after = core_v1.Node(
        metadata=ObjectMeta(name="x", resource_version="2", finalizers=("example.com/x",)),
        status=core_v1.NodeStatus(phase="Running"),
    )
    bare = {"apiVersion": "v1", "kind": "Node"}

    assert fingerprint(before) == fingerprint(after)
    assert fingerprint(Unstructured(bare)) == fingerprint(
        Unstructured({**bare, "status": {"phase": "Running"}})
    )


def test_the_content_of_an_object_with_a_generation_is_not_compared() -> None:
    before = widget("here", "one")
    counted = replace(before, metadata=replace(before.metadata, generation=3))

    assert fingerprint(counted) == fingerprint(replace(counted, spec=replace(counted.spec, size=9)))


def test_an_error_without_a_readable_text_is_handled() -> None:
    class Unprintable(Permanent):
        def __str__(self) -> str:
            raise LookupError

    decision = decide(Done(), Unprintable("x"), failures=0)

    assert decision.note == ("Permanent", "Unprintable without a readable text")
