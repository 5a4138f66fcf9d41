"""Events, which two API groups serve; events.k8s.io requires more fields than v1.

The rules validate the stored form of an Event, which is that of v1. A field selector uses the field
names of the group in the request.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from steersman_cluster.apiserver.builtin.conversion import event_to_v1
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    immutable,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    label_key,
    path_segment_name,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, name_and_namespace

MAX_LENGTH = 128
MAX_MESSAGE_LENGTH = 1024
# The default of kube-apiserver's --event-ttl.
KEPT_SECONDS = 3600.0

_REFERENCE_FIELDS = (
    "kind",
    "namespace",
    "name",
    "uid",
    "apiVersion",
    "resourceVersion",
    "fieldPath",
)
_UNCHANGING = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",  # kube-apiserver reports it twice
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
_SOURCE_FIELDS = ("component", "host")
_INITIALS = {"uid": "UID", "apiVersion": "APIVersion"}


def _v1_errors(event: Object) -> list[FieldError]:
    return [*_legacy_errors(event, "reportingComponent")]


def _new_errors(event: Object) -> list[FieldError]:
    """Return the errors that every write of an Event to events.k8s.io can have."""
    return [*_legacy_errors(event, "reportingController")]


def _created_errors(event: Object) -> list[FieldError]:
    """Return the errors in a new Event that was sent to events.k8s.io."""
    errors = [*_series_errors(event)]
    if not event.get("eventTime"):
        errors.append(required("eventTime"))
    kind = event.get("type", "")
    if kind not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {kind}"))
    errors += [
        invalid(field, "", "needs to be unset")
        for field in ("firstTimestamp", "lastTimestamp", "count", "source")
        if event.get(field)
    ]
    return errors


def _changed_errors(event: Object, old: Object) -> list[FieldError]:
    """Return the errors for changed fields that are immutable in events.k8s.io."""
    errors = list(_series_errors(event)) if event.get("series") != old.get("series") else []
    for field in _UNCHANGING:
        if (event.get(field) or None) != (old.get(field) or None):
            shown = _internal_form(field, event.get(field))
            at = "reportingController" if field == "reportingComponent" else field
            errors.append(immutable(at, shown))
    return errors


def _legacy_errors(event: Object, controller_field: str) -> Iterator[FieldError]:
    namespace = event["metadata"].get("namespace", "")
    about = event.get("involvedObject", {}).get("namespace", "")
    if not event.get("eventTime"):
        matches = namespace == about if about else namespace in ("", "default")
    else:
        matches = bool(about) or namespace in ("default", "kube-system")
    if not matches:
        yield invalid("involvedObject.namespace", about, "does not match event.namespace")
    if event.get("eventTime"):
        yield from _complete_errors(event, controller_field)


def _complete_errors(event: Object, controller_field: str) -> Iterator[FieldError]:
    """Yield the errors about fields that an Event with an ``eventTime`` requires."""
    controller = event.get("reportingComponent", "")
    if not controller:
        yield required(controller_field)
    yield from all_invalid(controller_field, controller, label_key(controller))
    for field in ("reportingInstance", "action", "reason"):
        value = event.get(field, "")
        if not value:
            yield required(field)
        if len(value.encode()) > MAX_LENGTH:
            yield invalid(field, "", f"can have at most {MAX_LENGTH} characters")
    if len(event.get("message", "").encode()) > MAX_MESSAGE_LENGTH:
        yield invalid("message", "", f"can have at most {MAX_MESSAGE_LENGTH} characters")


def _series_errors(event: Object) -> Iterator[FieldError]:
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")


def _internal_form(field: str, value: Any) -> Any:
    # kube-apiserver prints its internal types: with capitalized names, and with empty fields.
    if field in ("involvedObject", "related") and value is not None:
        return _capitalized(value, _REFERENCE_FIELDS)
    if field == "source":
        return _capitalized(value or {}, _SOURCE_FIELDS)
    if field == "count":
        return value or 0
    if field in ("related", "firstTimestamp", "lastTimestamp", "eventTime"):
        return value
    return value or ""


def _capitalized(value: Object, names: tuple[str, ...]) -> msgspec.Raw:
    shown = {
        _INITIALS.get(name, name[:1].upper() + name[1:]): value.get(name, "") for name in names
    }
    return msgspec.Raw(msgspec.json.encode(shown))


def _selectable(event: Object) -> Mapping[str, str]:
    about, controller = event.get("involvedObject", {}), event.get("reportingComponent", "")
    return {
        **{f"involvedObject.{name}": about.get(name, "") for name in _REFERENCE_FIELDS},
        "reason": event.get("reason", ""),
        "reportingComponent": controller,
        "source": event.get("source", {}).get("component", "") or controller,
        "type": event.get("type", ""),
        **name_and_namespace(event),
    }


def _selectable_by_new_names(event: Object) -> Mapping[str, str]:
    found = dict(_selectable(event_to_v1(event)))
    del found["source"]
    found["reportingController"] = found.pop("reportingComponent")
    for name in _REFERENCE_FIELDS:
        found[f"regarding.{name}"] = found.pop(f"involvedObject.{name}")
    return found


EVENT = Strategy(
    validate=_v1_errors,
    name_errors=path_segment_name,
    selectable=_selectable,
    metadata_errors_order="last",
    allow_create_on_update=True,
    has_dependents=False,
    ttl_seconds=KEPT_SECONDS,
)
NEW_EVENT = Strategy(
    validate_create=_created_errors,
    validate=_new_errors,
    validate_update=_changed_errors,
    name_errors=subdomain_name,
    selectable=_selectable_by_new_names,
    metadata_errors_order="second",
    allow_create_on_update=True,
    has_dependents=False,
    ttl_seconds=KEPT_SECONDS,
)
