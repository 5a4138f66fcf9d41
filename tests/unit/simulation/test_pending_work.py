"""Pending work, derived from the events of the actors."""

from steersman.clock import SystemClock
from steersman.names import ObjectRef
from steersman.observe import KindMissing, Listed, ReflectorStopped, WatchEnded, WatchStarted
from steersman_cluster.simulation import PendingWork

APPS = ObjectRef("App", "default", "*")
LISTED = Listed(resource="apps", ref=APPS, count=0, decode_failures=0, took_seconds=0.0, reason="")
STARTED = WatchStarted(resource="apps", ref=APPS, failures=0)
ENDED = WatchEnded(resource="apps", ref=APPS, took_seconds=1.0)


def pending() -> PendingWork:
    return PendingWork(clock=SystemClock())


def test_after_a_list_work_is_pending_until_a_watch_is_open() -> None:
    work = pending()

    work.note("operator", LISTED)
    assert work.unwatched() == ["operator does not watch App default/*"]

    work.note("operator", STARTED)
    assert work.unwatched() == []


def test_after_a_watch_has_ended_work_is_pending_until_the_next_is_open() -> None:
    work = pending()
    work.note("operator", LISTED)
    work.note("operator", STARTED)

    work.note("operator", ENDED)
    assert work.unwatched() == ["operator does not watch App default/*"]

    work.note("operator", STARTED)
    assert work.unwatched() == []


def test_each_actor_has_its_own_watches() -> None:
    work = pending()
    work.note("operator", LISTED)
    work.note("workloads", LISTED)

    work.note("workloads", STARTED)

    assert work.unwatched() == ["operator does not watch App default/*"]


def test_a_kind_that_is_not_served_is_not_pending() -> None:
    work = pending()
    work.note("operator", ENDED)

    work.note("operator", KindMissing(resource="apps", ref=APPS, error=Exception("gone")))

    assert work.unwatched() == []


def test_a_resource_without_a_reflector_is_not_pending() -> None:
    work = pending()
    work.note("operator", ENDED)

    work.note("operator", ReflectorStopped(resource="apps", ref=APPS))

    assert work.unwatched() == []


def test_an_ended_actor_is_not_pending() -> None:
    work = pending()
    work.note("operator", LISTED)

    work.forget("operator")

    assert work.unwatched() == []
