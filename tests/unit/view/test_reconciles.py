"""What a controller last did about an object, in words."""

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


def test_it_says_what_came_of_it_why_it_ran_and_what_it_did() -> None:
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


def test_it_says_what_went_wrong_on_one_line() -> None:
    failed = finished(outcome="failed", error=RuntimeError("no\nway"))

    assert str(failed) == "failed in 5 ms; RuntimeError: no way"


def test_many_reasons_are_counted() -> None:
    reasons = tuple(ReconcileReason(about=None, event=f"timer {number}") for number in range(5))

    record = finished(reasons=reasons, reasons_left_out=2)

    assert record.why == "timer 0, timer 1, timer 2 and 4 more"


@pytest.mark.parametrize("error", [None, ValueError("x" * 10_000)])
def test_it_can_be_sent_to_another_process(error: Exception | None) -> None:
    done = finished(error=error)

    assert msgspec.json.decode(msgspec.json.encode(done), type=Reconciled) == done


APPLIED = Write(verb="apply", ref=DEPLOYMENT, is_change=True)
STATUS = Write(verb="apply status", ref=WEB, is_change=True)
DELETED = ReconcileReason(about=DEPLOYMENT, event="deleted")


def test_one_that_found_nothing_to_do_leaves_the_one_before_it_to_be_seen() -> None:
    repaired = finished(reasons=(DELETED,), writes=(APPLIED,))
    idle = finished()

    once, twice = repaired.then(idle), repaired.then(idle).then(idle)

    said = (
        "done in 5 ms; because Deployment default/web was deleted; applied Deployment default/web"
    )
    assert str(once) == f"{said}; then there was nothing to do"
    assert str(twice) == f"{said}; then there was nothing to do, 2 times"


@pytest.mark.parametrize(
    "later",
    [
        finished(writes=(STATUS,)),
        finished(outcome="failed", error=RuntimeError("no way")),
        finished(outcome="later"),
    ],
    ids=["wrote", "failed", "waits"],
)
def test_one_that_did_something_is_seen_in_place_of_the_one_before_it(later: Reconciled) -> None:
    assert finished(writes=(APPLIED,)).then(later) is later
    assert finished().then(later) is later


def test_what_only_the_status_of_its_own_object_shows_is_no_news() -> None:
    assert not finished().is_news
    assert not finished(writes=(STATUS,)).is_news
    assert finished(writes=(STATUS, APPLIED)).is_news
    assert finished(outcome="failed", error=RuntimeError()).is_news


def test_in_brief_it_says_why_and_what_came_of_it() -> None:
    repaired = finished(reasons=(DELETED,), writes=(APPLIED,))
    failed = finished(outcome="failed", error=RuntimeError("no way"))

    assert repaired.in_brief == (
        "reconciled AppService default/web, because Deployment default/web was deleted:"
        " applied Deployment default/web"
    )
    assert failed.in_brief == "reconciled AppService default/web: RuntimeError: no way"


def test_what_happened_twice_is_listed_once() -> None:
    assert finished(reasons=(DELETED, DELETED)).why == "Deployment default/web was deleted"


def test_of_its_own_status_it_says_no_more_than_that() -> None:
    other = Write(verb="apply status", ref=DEPLOYMENT, is_change=True)

    assert finished(writes=(STATUS, other)).did == (
        "updated its status, updated the status of Deployment default/web"
    )
