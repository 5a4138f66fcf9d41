"""Conversion of correlator entries to ``events.k8s.io/v1`` events and to core events. No I/O."""

from steersman.client import MergePatch
from steersman.controller.events.correlator import EventEntry
from steersman.kinds import core_v1, events_v1, meta_v1
from steersman.units import MicroTime, format_micro_time, format_time


def to_event(entry: EventEntry, reporting: str, instance: str) -> events_v1.Event:
    """Return ``entry`` as an ``events.k8s.io/v1`` event."""
    key, series = entry.key, None
    if entry.count > 1:
        series = events_v1.EventSeries(
            count=entry.count, last_observed_time=MicroTime.of(entry.last_time)
        )
    return events_v1.Event(
        metadata=meta_v1.ObjectMeta(name=entry.name, namespace=entry.namespace),
        event_time=MicroTime.of(entry.first_time),
        series=series,
        reporting_controller=reporting,
        reporting_instance=instance,
        type=key.type,
        reason=key.reason,
        action=key.action,
        note=key.note,
        regarding=entry.regarding,
        related=entry.related,
    )


def to_event_patch(entry: EventEntry) -> MergePatch:
    """Return the patch that updates the count of the series in an ``events.k8s.io/v1`` event."""
    last_time = format_micro_time(entry.last_time)
    return MergePatch({"series": {"count": entry.count, "lastObservedTime": last_time}})


def to_core_event(entry: EventEntry, component: str) -> core_v1.Event:
    """Return ``entry`` as a core event, in the form that Kubernetes' own components write."""
    key = entry.key
    return core_v1.Event(
        metadata=meta_v1.ObjectMeta(name=entry.name, namespace=entry.namespace),
        involved_object=entry.regarding,
        reason=key.reason,
        message=key.note,
        type=key.type,
        source=core_v1.EventSource(component=component),
        reporting_component=component,
        first_timestamp=entry.first_time,
        last_timestamp=entry.last_time,
        count=entry.count,
        related=entry.related,
    )


def to_core_event_patch(entry: EventEntry) -> MergePatch:
    """Return the patch that updates the count in a core event."""
    return MergePatch({"count": entry.count, "lastTimestamp": format_time(entry.last_time)})
