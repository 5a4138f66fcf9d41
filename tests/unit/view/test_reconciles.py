"""The text for the last reconcile of an object."""

from datetime import UTC, datetime

import msgspec
import pytest

from steersman.names import ObjectRef
from steersman.observe import ReconcileFinished, ReconcileReason, Write
from steersman.view import Reconciled, reconciled

WEB = ObjectRef("AppService", "default", "web")
DEPLOYMENT = ObjectRef("Deployment", "default", "web")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def finished(**more: object) -> Reconciled:
    made = {
        "controller": "appservice",
        "ref": WEB,
        "outcome": "done",
        "took_seconds": 0.005,
        "queued_seconds": 0.0,
        **more,
    }
    return reconciled(ReconcileFinished(**made), time=NOW)  # type: ignore[arg-type]


def test_a_reconcile_shows_its_outcome_reasons_and_writes() -> None:
    done = finished(
        outcome="later",
        after_seconds=30.0,
        reasons=(
            ReconcileReason(about=WEB, event="updated", find_changes=lambda: ("spec.size",)),
            ReconcileReason(about=DEPLOYMENT, event="deleted"),
        ),
        writes=(
            Write(verb="apply", ref=DEPLOYMENT, is_change=True),
            Write(verb="apply status", ref=WEB, is_change=False),
        ),
    )

    assert str(done) == (
        "returned Later in 5 ms, again in 30.0 s; because spec.size changed,"
        " Deployment default/web was deleted; applied Deployment default/web"
    )


def test_an_error_is_shown_on_one_line() -> None:
    failed = finished(outcome="failed", error=RuntimeError("no\nway"))

    assert str(failed) == "failed in 5 ms; RuntimeError: no way"


def test_more_reasons_are_shown_as_a_count() -> None:
    reasons = tuple(ReconcileReason(about=None, event=f"timer {number}") for number in range(5))

    record = finished(reasons=reasons, reasons_left_out=2)

    assert record.why == "timer 0, timer 1, timer 2 and 4 more"


@pytest.mark.parametrize("error", [None, ValueError("x" * 10_000)])
def test_a_reconcile_can_be_pickled(error: Exception | None) -> None:
    done = finished(error=error)

    assert msgspec.json.decode(msgspec.json.encode(done), type=Reconciled) == done


APPLIED = Write(verb="apply", ref=DEPLOYMENT, is_change=True)
STATUS = Write(verb="apply status", ref=WEB, is_change=True)
DELETED = ReconcileReason(about=DEPLOYMENT, event="deleted")


def test_a_reconcile_without_writes_keeps_the_previous_one_shown() -> None:
    repaired = finished(reasons=(DELETED,), writes=(APPLIED,))
    idle = finished()

    once, twice = repaired.merged_with(idle), repaired.merged_with(idle).merged_with(idle)

    said = (
        "done in 5 ms; because Deployment default/web was deleted; applied Deployment default/web"
    )
    assert str(once) == f"{said}; later reconciles changed nothing"
    assert str(twice) == f"{said}; later reconciles changed nothing, 2 times"


@pytest.mark.parametrize(
    "later",
    [
        finished(writes=(STATUS,)),
        finished(outcome="failed", error=RuntimeError("no way")),
        finished(outcome="later"),
    ],
    ids=["wrote", "failed", "waits"],
)
def test_a_reconcile_with_writes_replaces_the_previous_one(later: Reconciled) -> None:
    assert finished(writes=(APPLIED,)).merged_with(later) is later
    assert finished().merged_with(later) is later


def test_a_reconcile_that_only_writes_its_own_status_is_not_listed() -> None:
    assert not finished().is_news
    assert not finished(writes=(STATUS,)).is_news
    assert finished(writes=(STATUS, APPLIED)).is_news
    assert finished(outcome="failed", error=RuntimeError()).is_news


def test_the_brief_text_has_the_reason_and_the_outcome() -> None:
    repaired = finished(reasons=(DELETED,), writes=(APPLIED,))
    failed = finished(outcome="failed", error=RuntimeError("no way"))

    assert repaired.in_brief == (
        "reconciled AppService default/web, because Deployment default/web was deleted:"
        " applied Deployment default/web"
    )
    assert failed.in_brief == "reconciled AppService default/web: RuntimeError: no way"


def test_equal_writes_are_listed_once() -> None:
    assert finished(reasons=(DELETED, DELETED)).why == "Deployment default/web was deleted"


def test_a_write_of_the_own_status_is_shown_without_the_object() -> None:
    other = Write(verb="apply status", ref=DEPLOYMENT, is_change=True)

    assert finished(writes=(STATUS, other)).did == (
        "updated the AppService's status, updated the status of Deployment default/web"
    )
