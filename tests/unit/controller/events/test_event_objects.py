"""The events that a recorded event becomes."""

from datetime import UTC, datetime, timedelta

from steersman.controller.events.correlator import EventEntry, EventKey
from steersman.controller.events.event_objects import (
    to_core_event,
    to_core_event_patch,
    to_event,
    to_event_patch,
)
from steersman.kinds import core_v1, events_v1, meta_v1
from steersman.units import MicroTime

NOW = datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC)
LATER = NOW + timedelta(seconds=90)
WEB = core_v1.ObjectReference(kind="Pod", namespace="here", name="web")
NODE = core_v1.ObjectReference(kind="Node", name="one")


def entry(count: int) -> EventEntry:
    """The entry of an event that has occurred ``count`` times."""
    key = EventKey(
        about="a", type="Warning", reason="Failed", action="Start", note="no luck", related="b"
    )
    made = EventEntry(key, regarding=WEB, related=NODE, name="web.1", now_at=0, now_time=NOW)
    made.count, made.last_time = count, LATER
    return made


def test_an_event_has_what_was_recorded_and_who_reports_it() -> None:
    assert to_event(entry(1), "appservice", "pod-0") == events_v1.Event(
        metadata=meta_v1.ObjectMeta(name="web.1", namespace="here"),
        event_time=MicroTime.of(NOW),
        reporting_controller="appservice",
        reporting_instance="pod-0",
        type="Warning",
        reason="Failed",
        action="Start",
        note="no luck",
        regarding=WEB,
        related=NODE,
    )


def test_a_repeated_event_has_a_series() -> None:
    assert to_event(entry(2), "appservice", "pod-0").series == events_v1.EventSeries(
        count=2, last_observed_time=MicroTime.of(LATER)
    )
    assert to_event_patch(entry(3)).body == {
        "series": {"count": 3, "lastObservedTime": "2026-01-01T12:01:30.000005Z"}
    }


def test_a_core_event_has_the_first_and_the_last_time_and_the_count() -> None:
    assert to_core_event(entry(2), "scheduler") == core_v1.Event(
        metadata=meta_v1.ObjectMeta(name="web.1", namespace="here"),
        involved_object=WEB,
        reason="Failed",
        message="no luck",
        type="Warning",
        source=core_v1.EventSource(component="scheduler"),
        reporting_component="scheduler",
        first_timestamp=NOW,
        last_timestamp=LATER,
        count=2,
        related=NODE,
    )
    assert to_core_event_patch(entry(3)).body == {
        "count": 3,
        "lastTimestamp": "2026-01-01T12:01:30Z",
    }
