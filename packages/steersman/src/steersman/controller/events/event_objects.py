"""Rows as the events that the server keeps, in the API of today and in the older one. Pure."""

from steersman.client import MergePatch
from steersman.controller.events.correlator import Row
from steersman.kinds import core_v1, events_v1, meta_v1
from steersman.units import MicroTime, format_micro_time, format_time


def event_of(row: Row, reporting: str, instance: str) -> events_v1.Event:
    """A row, as whoever reports it writes it."""
    said, series = row.said, None
    if row.count > 1:
        series = events_v1.EventSeries(
            count=row.count, last_observed_time=MicroTime.of(row.last_time)
        )
    return events_v1.Event(
        metadata=meta_v1.ObjectMeta(name=row.name, namespace=row.namespace),
        event_time=MicroTime.of(row.first_time),
        series=series,
        reporting_controller=reporting,
        reporting_instance=instance,
        type=said.type,
        reason=said.reason,
        action=said.action,
        note=said.note,
        regarding=row.regarding,
        related=row.related,
    )


def change_of(row: Row) -> MergePatch:
    """How often it came by now."""
    last_time = format_micro_time(row.last_time)
    return MergePatch({"series": {"count": row.count, "lastObservedTime": last_time}})


def component_event(row: Row, component: str) -> core_v1.Event:
    """The same as a part of Kubernetes writes it: ``kubectl describe`` sorts by its times."""
    said = row.said
    return core_v1.Event(
        metadata=meta_v1.ObjectMeta(name=row.name, namespace=row.namespace),
        involved_object=row.regarding,
        reason=said.reason,
        message=said.note,
        type=said.type,
        source=core_v1.EventSource(component=component),
        reporting_component=component,
        first_timestamp=row.first_time,
        last_timestamp=row.last_time,
        count=row.count,
        related=row.related,
    )


def component_change(row: Row) -> MergePatch:
    """How often it came by now."""
    return MergePatch({"count": row.count, "lastTimestamp": format_time(row.last_time)})
