"""What is left to do, as those who do it tell."""

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


def test_who_has_listed_hears_nothing_until_a_watch_is_open() -> None:
    told = pending()

    told.note("operator", LISTED)
    assert told.deaf() == ["operator hears nothing of App default/*"]

    told.note("operator", STARTED)
    assert told.deaf() == []


def test_whose_watch_has_ended_hears_nothing_until_the_next_is_open() -> None:
    told = pending()
    told.note("operator", LISTED)
    told.note("operator", STARTED)

    told.note("operator", ENDED)
    assert told.deaf() == ["operator hears nothing of App default/*"]

    told.note("operator", STARTED)
    assert told.deaf() == []


def test_each_is_deaf_for_itself() -> None:
    told = pending()
    told.note("operator", LISTED)
    told.note("workloads", LISTED)

    told.note("workloads", STARTED)

    assert told.deaf() == ["operator hears nothing of App default/*"]


def test_nobody_waits_for_word_of_a_kind_that_is_gone() -> None:
    told = pending()
    told.note("operator", ENDED)

    told.note("operator", KindMissing(resource="apps", ref=APPS, error=Exception("gone")))

    assert told.deaf() == []


def test_nobody_waits_for_word_of_what_nobody_follows_any_more() -> None:
    told = pending()
    told.note("operator", ENDED)

    told.note("operator", ReflectorStopped(resource="apps", ref=APPS))

    assert told.deaf() == []


def test_nobody_waits_for_an_actor_that_is_gone() -> None:
    told = pending()
    told.note("operator", LISTED)

    told.forget("operator")

    assert told.deaf() == []
